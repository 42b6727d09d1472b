package hints

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark/constraint/solver"
)

func double(_ *big.Int, inputs, outputs []*big.Int) error {
	outputs[0].Lsh(inputs[0], 1)
	return nil
}

func TestIDIsGnarks(t *testing.T) {
	if got, want := ID("github.com/cuzk-dev/cuzk/prover/circuit/gnark/hints.double"), solver.GetHintID(double); got != want {
		t.Errorf("id %d, want gnark's %d", got, want)
	}
}

func TestRegisterAs(t *testing.T) {
	if solver.GetRegisteredHint(ID("main.double")) != nil {
		t.Fatal("the hint is there already")
	}
	if err := RegisterAs("main.double", double); err != nil {
		t.Fatal(err)
	}
	out := []*big.Int{new(big.Int)}
	if err := solver.GetRegisteredHint(ID("main.double"))(nil, []*big.Int{big.NewInt(21)}, out); err != nil || out[0].Int64() != 42 {
		t.Errorf("the hint gave %v, %v", out[0], err)
	}
	if err := RegisterAs("main.double", double); err == nil {
		t.Error("a name was taken twice")
	}
}
