package cuda

import (
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/instance"
	"github.com/cuzk-dev/cuzk/prover/memory"
)

// What is streamed to a device lies on the host: it is bounded by what there is, and held until the key is closed.
func TestStreamedKeyHoldsHostMemory(t *testing.T) {
	budget, engine := memory.NewBudget(1000), &fakeEngine{hostBytes: 600}
	b := open(t, Config{library: &fakeLibrary{engines: []*fakeEngine{engine}}, Memory: budget})
	in := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
	key, err := b.LoadKey(t.Context(), in.Source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if engine.hostBudget != 1000 || budget.Room() != 400 {
		t.Errorf("a key was allowed %d bytes, and %d of 1000 are left", engine.hostBudget, budget.Room())
	}
	if _, err := b.LoadKey(t.Context(), in.Source, groth16.Budget{}); failure.ClassOf(err) != failure.Memory || engine.hostBudget != 400 || engine.keys != 1 {
		t.Errorf("a second key in 400 bytes, of which it was allowed %d: %v; there are %d", engine.hostBudget, err, engine.keys)
	}
	if err := key.Close(); err != nil || budget.Room() != 1000 {
		t.Errorf("%d of 1000 bytes are left in the end (%v)", budget.Room(), err)
	}
}
