// The Poseidon hash (Grassi et al., USENIX Security 2021) of two field elements: three elements of state, S-box x^5,
// 8 full and 57 partial rounds. The constants are those of the field: compile with -l <prime>.
pragma circom 2.0.0;

include "poseidon_constants.circom";

// hash(left, right): the permutation's first element, from the state 0, left, right.
template Poseidon() {
    signal input left;
    signal input right;
    signal output out;

    var c[65][3] = poseidonConstants();
    var m[3][3] = poseidonMatrix();
    var WIDTH = 3;
    var PARTIAL = 57;
    var ROUNDS = 65;
    var FIRST_PARTIAL = 4;
    // In partial rounds two elements pass the S-box by, so they are sums that grow with every round. Now and then they
    // get a signal of their own: a linear constraint each, and short sums again.
    var ROUNDS_PER_SUM = 10;

    // The S-box costs three constraints. Partial rounds use the first element's only.
    signal square[ROUNDS][WIDTH];
    signal fourth[ROUNDS][WIDTH];
    signal fifth[ROUNDS][WIDTH];
    signal sums[PARTIAL \ ROUNDS_PER_SUM][2];

    // The state is kept as linear expressions, so that mixing costs no constraint.
    var state[3] = [0, left, right];
    for (var r = 0; r < ROUNDS; r++) {
        var partial = r >= FIRST_PARTIAL && r < FIRST_PARTIAL + PARTIAL;
        var boxed[3];
        for (var i = 0; i < WIDTH; i++) {
            boxed[i] = state[i] + c[r][i];
            if (!partial || i == 0) {
                if (r == 0 && i == 0) {
                    // The first element is a constant here.
                    boxed[i] = c[0][0] ** 5;
                } else {
                    square[r][i] <== boxed[i] * boxed[i];
                    fourth[r][i] <== square[r][i] * square[r][i];
                    fifth[r][i] <== fourth[r][i] * boxed[i];
                    boxed[i] = fifth[r][i];
                }
            }
        }
        for (var i = 0; i < WIDTH; i++) {
            state[i] = m[i][0] * boxed[0] + m[i][1] * boxed[1] + m[i][2] * boxed[2];
        }
        var since = r - FIRST_PARTIAL + 1;
        if (partial && since % ROUNDS_PER_SUM == 0) {
            for (var i = 1; i < WIDTH; i++) {
                sums[since \ ROUNDS_PER_SUM - 1][i - 1] <== state[i];
                state[i] = sums[since \ ROUNDS_PER_SUM - 1][i - 1];
            }
        }
    }
    out <== state[0];
}
