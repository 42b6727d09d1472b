// Package r1cs holds constraint systems: sparse matrices A, B and C over the scalar field, with their coefficients in a
// dictionary, and what follows from them alone (evaluation, density, digest).
package r1cs

import "github.com/cuzk-dev/cuzk/prover/curve"

// Matrices is a circuit's constraint system, (A·w)∘(B·w) = C·w, as plain arrays that a device can take as they are.
type Matrices struct {
	Curve curve.ID
	// Wires counts all wires with the one (wire 0); Public counts the public inputs without it, wires 1..Public.
	Wires, Public int
	// Constraints is the number of rows.
	Constraints int
	// A, B and C; C is nil where the format does not hold it and c = a∘b (snarkjs's .zkey).
	A, B, C *Matrix
	// Coefficients is the dictionary, in Montgomery form.
	Coefficients []curve.Scalar
}

// Matrix is one sparse matrix in compressed rows: the entries of row i are Start[i]..Start[i+1]-1.
type Matrix struct {
	Start []uint32
	Wire  []uint32
	// Coefficient is an index into Matrices.Coefficients.
	Coefficient []uint32
}

// Entries is the number of entries that the matrix stores.
func (m *Matrix) Entries() int { return len(m.Wire) }

// Rows is the number of rows.
func (m *Matrix) Rows() int { return max(0, len(m.Start)-1) }

// Row returns the wires and the dictionary indices of a row's entries.
func (m *Matrix) Row(i int) (wires, coefficients []uint32) {
	start, end := m.Start[i], m.Start[i+1]
	return m.Wire[start:end], m.Coefficient[start:end]
}

// Bytes is the memory that the arrays occupy.
func (m *Matrices) Bytes() int64 {
	n := int64(len(m.Coefficients)) * curve.ScalarBytes
	for _, x := range []*Matrix{m.A, m.B, m.C} {
		if x != nil {
			n += 4 * int64(len(x.Start)+len(x.Wire)+len(x.Coefficient))
		}
	}
	return n
}
