package cpu_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
)

var layouts = map[string]groth16.Layout{
	"snarkjs": groth16.LayoutSnarkjs, "gnark": groth16.LayoutGnark, "coefficients": groth16.LayoutCoefficients,
}

// loaded is an instance made ready on a backend.
type loaded struct {
	*instance
	backend   *cpu.Backend
	key       groth16.Key
	structure groth16.Structure
}

func (in *instance) load(t testing.TB, b *cpu.Backend) *loaded {
	t.Helper()
	key, err := b.LoadKey(t.Context(), in.source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { key.Close() })
	structure, err := b.LoadStructure(t.Context(), in.matrices)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { structure.Close() })
	return &loaded{in, b, key, structure}
}

// canonical is the witness in canonical form.
func (in *instance) canonical() vector {
	v := vector{form: groth16.Canonical}
	for _, x := range in.witness {
		v.scalars = append(v.scalars, curve.ScalarFromBig(x))
	}
	return v
}

// montgomery is the witness in Montgomery form.
func (in *instance) montgomery() vector {
	v := in.canonical()
	in.matrices.Curve.ToMontgomery(v.scalars)
	v.form = groth16.Montgomery
	return v
}

// bits is the witness with its bits kept apart.
func (in *instance) bits(structure groth16.Structure) groth16.Packed {
	words := (len(in.witness) + 63) / 64
	p := groth16.Packed{Structure: structure, Bits: make([]uint64, words), Values: make([]uint64, words)}
	rest := vector{form: groth16.Canonical}
	for i, x := range in.witness {
		if x.BitLen() > 1 {
			rest.scalars = append(rest.scalars, curve.ScalarFromBig(x))
			continue
		}
		p.Bits[i/64] |= 1 << (i % 64)
		p.Values[i/64] |= x.Uint64() << (i % 64)
	}
	p.Witness = rest
	return p
}

// evaluated is the witness with the constraints evaluated on it, in plain integers, in a form.
func (in *instance) evaluated(form groth16.Form) groth16.Evaluated {
	m, f := in.matrices, field{in.matrices.Curve.ScalarModulus()}
	coefficients := append([]curve.Scalar(nil), m.Coefficients...)
	m.Curve.FromMontgomery(coefficients)
	convert := func(v vector) vector {
		if v.form = form; form == groth16.Montgomery {
			m.Curve.ToMontgomery(v.scalars)
		}
		return v
	}
	out := groth16.Evaluated{Witness: convert(in.canonical())}
	var a, b, c vector
	for i := range m.Constraints {
		product := func(start, wire, coefficient []uint32) *big.Int {
			sum := new(big.Int)
			for j := start[i]; j < start[i+1]; j++ {
				sum = f.add(sum, f.mul(curve.ScalarToBig(coefficients[coefficient[j]]), in.witness[wire[j]]))
			}
			return sum
		}
		x := product(m.A.Start, m.A.Wire, m.A.Coefficient)
		y := product(m.B.Start, m.B.Wire, m.B.Coefficient)
		a.scalars = append(a.scalars, curve.ScalarFromBig(x))
		b.scalars = append(b.scalars, curve.ScalarFromBig(y))
		c.scalars = append(c.scalars, curve.ScalarFromBig(f.mul(x, y)))
	}
	out.A, out.B, out.C = convert(a), convert(b), convert(c)
	return out
}

// Random circuits of many shapes, keys made by the definition: the proof verifies, and it is the same, byte for byte,
// whatever form the assignment has.
func TestProvesRandomCircuits(t *testing.T) {
	shapes := map[string]shape{
		"no constraint":        {public: 2, private: 3},
		"no constraint, alone": {},
		"one constraint":       {public: 1, private: 2, constraints: 1, density: 100},
		"no public input":      {private: 5, constraints: 4, density: 60},
		"every wire public":    {public: 5, constraints: 4, density: 60},
		"the one alone":        {constraints: 3, density: 100},
		"full domain":          {public: 1, private: 9, constraints: 8, density: 30},
		"one over a power":     {public: 3, private: 9, constraints: 9, density: 30},
		"all small":            {public: 2, private: 80, constraints: 20, density: 10, small: 100},
		"mostly small":         {public: 3, private: 130, constraints: 40, density: 5, small: 90},
		"sparse":               {public: 5, private: 70, constraints: 30, density: 2, small: 30},
		"dense":                {public: 1, private: 70, constraints: 15, density: 100},
		"word boundary":        {public: 63, private: 64, constraints: 12, density: 5, small: 50},
	}
	for name, layout := range layouts {
		for _, id := range curve.All {
			for description, s := range shapes {
				t.Run(fmt.Sprintf("%s/%s/%s", name, id, description), func(t *testing.T) {
					t.Parallel()
					in := newInstance(t, id, layout, s, uint64(len(description)))
					l := in.load(t, cpu.New(cpu.Config{Threads: 1 + len(description)%3}))
					r, q := random(t, id), random(t, id)
					first := submit(t, l.backend, l.key, groth16.Packed{Structure: l.structure, Witness: in.canonical()}, r, q)
					if err := groth16.Verify(in.vk, first, in.public, ""); err != nil {
						t.Fatal(err)
					}
					forms := map[string]groth16.Assignment{
						"Montgomery":            groth16.Packed{Structure: l.structure, Witness: in.montgomery()},
						"bits":                  in.bits(l.structure),
						"evaluated, canonical":  in.evaluated(groth16.Canonical),
						"evaluated, Montgomery": in.evaluated(groth16.Montgomery),
					}
					if layout == groth16.LayoutSnarkjs {
						e := in.evaluated(groth16.Canonical)
						e.C = nil
						forms["evaluated, without C"] = e
					}
					for form, a := range forms {
						if diff := cmp.Diff(first, submit(t, l.backend, l.key, a, r, q)); diff != "" {
							t.Errorf("%s: another proof:\n%s", form, diff)
						}
					}
					// Another statement is refused.
					if len(in.public) > 0 {
						other := append([]curve.Scalar(nil), in.public...)
						other[0][0] ^= 1
						if err := groth16.Verify(in.vk, first, other, ""); err == nil && !curve.IsInfinity(in.vk.IC[1]) {
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
				in := newInstance(t, id, layout, shape{public: 1, private: 6, constraints: 5, density: 100}, 3)
				l := in.load(t, cpu.New(cpu.Config{}))
				w := in.canonical()
				w.scalars[4][0] ^= 1
				proof := submit(t, l.backend, l.key, groth16.Packed{Structure: l.structure, Witness: w}, random(t, id), random(t, id))
				if err := groth16.Verify(in.vk, proof, in.public, ""); err == nil {
					t.Error("it verifies")
				}
			})
		}
	}
}
