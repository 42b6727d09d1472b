// Membership in a Merkle tree: whoever proves knows a leaf below the public root.
pragma circom 2.0.0;

include "poseidon.circom";

template MerkleMembership(DEPTH) {
    signal input leaf;
    // The other child at each level, from the leaf up, and whether our node is the right one.
    signal input siblings[DEPTH];
    signal input right[DEPTH];
    // Public.
    signal input root;

    signal difference[DEPTH];
    component parent[DEPTH];
    var node = leaf;
    for (var level = 0; level < DEPTH; level++) {
        right[level] * (right[level] - 1) === 0;
        difference[level] <== right[level] * (siblings[level] - node);
        parent[level] = Poseidon();
        parent[level].left <== node + difference[level];
        parent[level].right <== siblings[level] - difference[level];
        node = parent[level].out;
    }
    root === node;
}
