// Sums the bits of numbers below 2^32: nearly all of its witness is zeros and ones.
pragma circom 2.0.0;

template Bits(N) {
    signal input x[N];
    signal output ones;
    signal bit[N][32];
    var sum = 0;
    for (var i = 0; i < N; i++) {
        var value = 0;
        for (var j = 0; j < 32; j++) {
            bit[i][j] <-- (x[i] >> j) & 1;
            bit[i][j] * (bit[i][j] - 1) === 0;
            value += bit[i][j] * (1 << j);
            sum += bit[i][j];
        }
        value === x[i];
    }
    ones <== sum;
}

component main = Bits(4);
