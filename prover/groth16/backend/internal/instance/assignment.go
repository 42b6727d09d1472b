package instance

import (
	"context"
	"math/big"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// Vector is scalars in memory.
type Vector struct {
	Elements []curve.Scalar
	Encoding groth16.Form
}

// Len is the number of elements.
func (v Vector) Len() int { return len(v.Elements) }

// Form is that of the elements.
func (v Vector) Form() groth16.Form { return v.Encoding }

// Read copies elements.
func (v Vector) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	copy(dst, v.Elements[offset:offset+len(dst)])
	return nil
}

// Canonical is the witness in canonical form.
func (in *Instance) Canonical() Vector {
	v := Vector{Encoding: groth16.Canonical}
	for _, x := range in.Witness {
		v.Elements = append(v.Elements, curve.ScalarFromBig(x))
	}
	return v
}

// Montgomery is the witness in Montgomery form.
func (in *Instance) Montgomery() Vector {
	v := in.Canonical()
	in.Matrices.Curve.ToMontgomery(v.Elements)
	v.Encoding = groth16.Montgomery
	return v
}

// Bits is the witness with its bits kept apart.
func (in *Instance) Bits(structure groth16.Structure) groth16.Packed {
	words := (len(in.Witness) + 63) / 64
	p := groth16.Packed{Structure: structure, Bits: make([]uint64, words), Values: make([]uint64, words)}
	rest := Vector{Encoding: groth16.Canonical}
	for i, x := range in.Witness {
		if x.BitLen() > 1 {
			rest.Elements = append(rest.Elements, curve.ScalarFromBig(x))
			continue
		}
		p.Bits[i/64] |= 1 << (i % 64)
		p.Values[i/64] |= x.Uint64() << (i % 64)
	}
	p.Witness = rest
	return p
}

// Evaluated is the witness with the constraints evaluated on it, in plain integers, in a form.
func (in *Instance) Evaluated(form groth16.Form) groth16.Evaluated {
	m, f := in.Matrices, field{in.Matrices.Curve.ScalarModulus()}
	coefficients := append([]curve.Scalar(nil), m.Coefficients...)
	m.Curve.FromMontgomery(coefficients)
	convert := func(v Vector) Vector {
		if v.Encoding = form; form == groth16.Montgomery {
			m.Curve.ToMontgomery(v.Elements)
		}
		return v
	}
	out := groth16.Evaluated{Witness: convert(in.Canonical())}
	var a, b, c Vector
	for i := range m.Constraints {
		product := func(start, wire, coefficient []uint32) *big.Int {
			sum := new(big.Int)
			for j := start[i]; j < start[i+1]; j++ {
				sum = f.add(sum, f.mul(curve.ScalarToBig(coefficients[coefficient[j]]), in.Witness[wire[j]]))
			}
			return sum
		}
		x := product(m.A.Start, m.A.Wire, m.A.Coefficient)
		y := product(m.B.Start, m.B.Wire, m.B.Coefficient)
		a.Elements = append(a.Elements, curve.ScalarFromBig(x))
		b.Elements = append(b.Elements, curve.ScalarFromBig(y))
		c.Elements = append(c.Elements, curve.ScalarFromBig(f.mul(x, y)))
	}
	out.A, out.B, out.C = convert(a), convert(b), convert(c)
	return out
}
