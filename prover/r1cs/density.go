package r1cs

import "math/bits"

// Density is the set of wires that occur in a matrix, one bit a wire, least significant first. A wire outside it has the
// zero polynomial, so its points in a proving key are infinity and its value needs no part in an MSM.
type Density []uint64

// Density returns the wires that occur in x with a coefficient other than zero.
func (m *Matrices) Density(x *Matrix) Density {
	d := make(Density, (m.Wires+63)/64)
	for i, wire := range x.Wire {
		if m.Coefficients[x.Coefficient[i]] != [4]uint64{} {
			d[wire/64] |= 1 << (wire % 64)
		}
	}
	return d
}

// Has reports whether a wire is in the set.
func (d Density) Has(wire int) bool { return d[wire/64]>>(wire%64)&1 == 1 }

// Count is the number of wires in the set.
func (d Density) Count() int {
	n := 0
	for _, word := range d {
		n += bits.OnesCount64(word)
	}
	return n
}
