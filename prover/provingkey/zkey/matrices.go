package zkey

import (
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Matrices builds the constraint matrices A and B from the key's coefficients. They have Rows rows: the circuit's
// constraints, then one for the one and for each public input. The key does not hold C: on the rows, c = a∘b.
//
// Memory is 8 bytes a coefficient and 8 bytes a row, where the file has 44 bytes a coefficient and at least 64 bytes a
// row.
func (k *Key) Matrices() (*r1cs.Matrices, error) {
	m := &r1cs.Matrices{Curve: k.header.curve, Wires: k.header.wires, Public: k.header.public, Constraints: k.rows}
	err := mapped.Guard(func() error {
		k.fill(m)
		return nil
	})
	if err != nil {
		return nil, failure.InFile(err, k.name)
	}
	return m, nil
}

// fill sorts the coefficients, which may be in any order, into compressed rows: it counts each row's entries, then puts
// each entry into its row's next place. Open has checked all indices.
func (k *Key) fill(m *r1cs.Matrices) {
	const entry = coefficientHead + curve.ScalarBytes
	body := k.coefficients.Bytes()[4:]
	matrices := [2]*r1cs.Matrix{}
	for i := range matrices {
		matrices[i] = &r1cs.Matrix{Start: make([]uint32, k.rows+1)}
	}
	for e := body; len(e) > 0; e = e[entry:] {
		matrices[binary.LittleEndian.Uint32(e)].Start[binary.LittleEndian.Uint32(e[4:])+1]++
	}
	var next [2][]uint32
	for i, x := range matrices {
		for row := range k.rows {
			x.Start[row+1] += x.Start[row]
		}
		n := x.Start[k.rows]
		x.Wire, x.Coefficient = make([]uint32, n), make([]uint32, n)
		next[i] = make([]uint32, k.rows)
		copy(next[i], x.Start)
	}
	var dictionary r1cs.Dictionary
	for e := body; len(e) > 0; e = e[entry:] {
		matrix, row := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:])
		at := next[matrix][row]
		next[matrix][row]++
		x := matrices[matrix]
		x.Wire[at] = binary.LittleEndian.Uint32(e[8:])
		x.Coefficient[at] = dictionary.Number(curve.Load[curve.Scalar](e[coefficientHead:]))
	}
	m.A, m.B = matrices[0], matrices[1]
	// The file holds coefficient·R²; dividing by R once leaves Montgomery form.
	m.Coefficients = dictionary.Values()
	m.Curve.FromMontgomery(m.Coefficients)
}
