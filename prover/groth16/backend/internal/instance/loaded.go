package instance

import (
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// Loaded is an instance made ready on a backend.
type Loaded struct {
	*Instance
	Backend   groth16.Backend
	Key       groth16.Key
	Structure groth16.Structure
}

// Load makes an instance ready on a backend until the test ends.
func (in *Instance) Load(t testing.TB, b groth16.Backend) *Loaded {
	t.Helper()
	key, err := b.LoadKey(t.Context(), in.Source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { key.Close() })
	structure, err := b.LoadStructure(t.Context(), in.Matrices)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { structure.Close() })
	return &Loaded{in, b, key, structure}
}

// Packed is the assignment of the canonical witness.
func (l *Loaded) Packed() groth16.Packed {
	return groth16.Packed{Structure: l.Structure, Witness: l.Canonical()}
}

// Prove proves an assignment.
func (l *Loaded) Prove(t testing.TB, a groth16.Assignment, r, s curve.Scalar) *groth16.Proof {
	t.Helper()
	ticket, err := l.Backend.Submit(t.Context(), l.Key, a, r, s, groth16.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := ticket.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return proof
}
