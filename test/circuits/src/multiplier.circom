// A chain of multiplications, x := x·x + k: one constraint each. Its proof says that out was computed from some x.
pragma circom 2.0.0;

template MultiplierChain(N) {
    signal input x;
    signal input k;
    signal output out;
    signal s[N + 1];
    s[0] <== x;
    for (var i = 0; i < N; i++) {
        s[i + 1] <== s[i] * s[i] + k;
    }
    out <== s[N];
}

component main {public [k]} = MultiplierChain(100);
