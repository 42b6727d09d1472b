package cpu_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/instance"
)

var layouts = map[string]groth16.Layout{
	"snarkjs": groth16.LayoutSnarkjs, "gnark": groth16.LayoutGnark, "coefficients": groth16.LayoutCoefficients,
}

// Random circuits of many shapes, keys made by the definition: the proof verifies, and it is the same, byte for byte,
// whatever form the assignment has.
func TestProvesRandomCircuits(t *testing.T) {
	shapes := map[string]instance.Shape{
		"no constraint":        {Public: 2, Private: 3},
		"no constraint, alone": {},
		"one constraint":       {Public: 1, Private: 2, Constraints: 1, Density: 100},
		"no public input":      {Private: 5, Constraints: 4, Density: 60},
		"every wire public":    {Public: 5, Constraints: 4, Density: 60},
		"the one alone":        {Constraints: 3, Density: 100},
		"full domain":          {Public: 1, Private: 9, Constraints: 8, Density: 30},
		"one over a power":     {Public: 3, Private: 9, Constraints: 9, Density: 30},
		"all small":            {Public: 2, Private: 80, Constraints: 20, Density: 10, Small: 100},
		"mostly small":         {Public: 3, Private: 130, Constraints: 40, Density: 5, Small: 90},
		"sparse":               {Public: 5, Private: 70, Constraints: 30, Density: 2, Small: 30},
		"dense":                {Public: 1, Private: 70, Constraints: 15, Density: 100},
		"word boundary":        {Public: 63, Private: 64, Constraints: 12, Density: 5, Small: 50},
	}
	for name, layout := range layouts {
		for _, id := range curve.All {
			for description, s := range shapes {
				t.Run(fmt.Sprintf("%s/%s/%s", name, id, description), func(t *testing.T) {
					t.Parallel()
					in := instance.New(t, id, layout, s, uint64(len(description)))
					l := in.Load(t, cpu.New(cpu.Config{Threads: 1 + len(description)%3}))
					r, q := random(t, id), random(t, id)
					first := l.Prove(t, groth16.Packed{Structure: l.Structure, Witness: in.Canonical()}, r, q)
					if err := groth16.Verify(in.VK, first, in.Public, ""); err != nil {
						t.Fatal(err)
					}
					forms := map[string]groth16.Assignment{
						"Montgomery":            groth16.Packed{Structure: l.Structure, Witness: in.Montgomery()},
						"bits":                  in.Bits(l.Structure),
						"evaluated, canonical":  in.Evaluated(groth16.Canonical),
						"evaluated, Montgomery": in.Evaluated(groth16.Montgomery),
					}
					if layout == groth16.LayoutSnarkjs {
						e := in.Evaluated(groth16.Canonical)
						e.C = nil
						forms["evaluated, without C"] = e
					}
					for form, a := range forms {
						if diff := cmp.Diff(first, l.Prove(t, a, r, q)); diff != "" {
							t.Errorf("%s: another proof:\n%s", form, diff)
						}
					}
					// Another statement is refused.
					if len(in.Public) > 0 {
						other := append([]curve.Scalar(nil), in.Public...)
						other[0][0] ^= 1
						if err := groth16.Verify(in.VK, first, other, ""); err == nil && !curve.IsInfinity(in.VK.IC[1]) {
							t.Error("the proof verifies for another public input")
						}
					}
				})
			}
		}
	}
}

// A wrong witness makes a proof that is refused; it must not make a valid one, nor an error that hides it.
func TestWrongWitnessMakesARefusedProof(t *testing.T) {
	for name, layout := range layouts {
		for _, id := range curve.All {
			t.Run(name+"/"+string(id), func(t *testing.T) {
				in := instance.New(t, id, layout, instance.Shape{Public: 1, Private: 6, Constraints: 5, Density: 100}, 3)
				l := in.Load(t, cpu.New(cpu.Config{}))
				w := in.Canonical()
				w.Elements[4][0] ^= 1
				proof := l.Prove(t, groth16.Packed{Structure: l.Structure, Witness: w}, random(t, id), random(t, id))
				if err := groth16.Verify(in.VK, proof, in.Public, ""); err == nil {
					t.Error("it verifies")
				}
			})
		}
	}
}
