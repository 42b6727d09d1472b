package structure

import (
	"context"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
)

// Compressed is the evaluations a and b with a byte for each row: a modulo 8 in bits 0 to 2, from -4 to 3, and b in bit 3.
// Rows of A and B that are not small have their values apart, in Montgomery form.
type Compressed struct {
	Rows []byte
	A, B Exceptions
}

// Exceptions are rows, ascending, and their values.
type Exceptions struct {
	Row   []uint32
	Value []fr.Element
}

// Compress evaluates A and B on all cores, of a witness that satisfies the constraints.
func (s *Structure) Compress(ctx context.Context, w *witness.Witness) (*Compressed, error) {
	out := &Compressed{Rows: make([]byte, s.Constraints), A: s.exceptions(0), B: s.exceptions(1)}
	err := s.each(ctx, w, wanted{matrices: [3]bool{true, true, false}}, func(t *tile) error {
		for q := range t.copies {
			rows := out.Rows[t.firstRow(q):][:t.rows]
			for i := range rows {
				rows[i] = byte(digit(&t.a[i], q) | t.b[i]>>q&1<<3)
			}
			out.A.write(t, 0, q)
			out.B.write(t, 1, q)
		}
		return nil
	})
	return out, err
}

// exceptions lists the long rows of a matrix.
func (s *Structure) exceptions(matrix int) Exceptions {
	var e Exceptions
	for i := range s.Sections {
		section := &s.Sections[i]
		for c := range section.Copies {
			first := uint32(section.FirstRow + c*section.Template.Rows)
			for _, row := range section.Template.Long[matrix].Row {
				e.Row = append(e.Row, first+row)
			}
		}
	}
	e.Value = make([]fr.Element, len(e.Row))
	return e
}

// write writes the values of a tile's long rows in copy q.
func (e *Exceptions) write(t *tile, matrix, q int) {
	l := &t.long[matrix]
	if len(l.rows) == 0 {
		return
	}
	at := e.find(uint32(t.firstRow(q)) + l.rows[0] - uint32(t.start))
	for i := range l.rows {
		e.Value[at+i] = l.values[i*t.copies+q]
	}
}

// Expand writes a and b of rows first, first+1, … .
func (c *Compressed) Expand(first int, a, b []fr.Element) {
	for i := range a {
		a[i] = smallValues[c.Rows[first+i]&7]
	}
	for i := range b {
		b[i] = smallValues[c.Rows[first+i]>>3&1]
	}
	c.A.expand(first, a)
	c.B.expand(first, b)
}

func (e *Exceptions) expand(first int, out []fr.Element) {
	for i := e.find(uint32(first)); i < len(e.Row) && int(e.Row[i]) < first+len(out); i++ {
		out[int(e.Row[i])-first] = e.Value[i]
	}
}

// find is the position of the first exception that is not before a row.
func (e *Exceptions) find(row uint32) int {
	i, _ := slices.BinarySearch(e.Row, row)
	return i
}
