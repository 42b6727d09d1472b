package setup_test

import (
	"context"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
	"github.com/cuzk-dev/cuzk/test/perf/setup"
)

// The key is one that the reader takes, points and all, and that belongs to the circuit. That proofs with it verify is
// shown where it is used: snarkjs checks one of each circuit.
func TestZkey(t *testing.T) {
	ctx := context.Background()
	c, err := circom.OpenConstraints(ctx, "../../circuits/bn128/multiplier/multiplier.r1cs")
	if err != nil {
		t.Fatal(err)
	}
	data, err := setup.Zkey(c.Matrices, "test")
	if err != nil {
		t.Fatal(err)
	}
	k, err := zkey.Parse(ctx, "test.zkey", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if err := k.Check(ctx, nil); err != nil {
		t.Error(err)
	}
	if err := circom.MatchConstraints(c.Matrices, "r1cs", k, k.Constraints(), "test.zkey"); err != nil {
		t.Error(err)
	}
	if len(k.Warnings()) > 0 {
		t.Errorf("warnings: %v", k.Warnings())
	}
}
