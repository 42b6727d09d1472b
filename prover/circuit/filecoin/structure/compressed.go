package structure

import (
	"context"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/internal/buffer"
)

// Compressed is the evaluations a and b with a byte for each row: a modulo 8 in bits 0 to 2, from -4 to 3, and b in bit 3.
// Rows of A and B that are not small have their values apart.
type Compressed struct {
	Rows []byte
	A, B Exceptions
}

// Exceptions are the values of a matrix's rows that are not small, in their order and in Montgomery form. They are kept
// outside of the garbage collected heap: in a WindowPoSt, nearly all rows are among them.
type Exceptions struct {
	Value     []fr.Element
	matrix    int
	structure *Structure
	first     []int // of each section
	memory    *buffer.Buffer
}

// Compress evaluates A and B on all cores, of a witness that satisfies the constraints. The evaluations must be freed.
func (s *Structure) Compress(ctx context.Context, w *witness.Witness) (*Compressed, error) {
	out := &Compressed{Rows: make([]byte, s.Constraints)}
	var err error
	if out.A, err = s.exceptions(0); err != nil {
		return nil, err
	}
	if out.B, err = s.exceptions(1); err != nil {
		out.Free()
		return nil, err
	}
	err = s.each(ctx, w, wanted{matrices: [3]bool{true, true, false}}, func(t *tile) error {
		for q := range t.copies {
			rows := out.Rows[t.firstRow(q):][:t.rows]
			for i := range rows {
				rows[i] = byte(digit(&t.a[i], q) | t.b[i]>>q&1<<3)
			}
			out.A.write(t, q)
			out.B.write(t, q)
		}
		return nil
	})
	if err != nil {
		out.Free()
		return nil, err
	}
	return out, nil
}

// Free clears the evaluations and gives their memory back.
func (c *Compressed) Free() {
	clear(c.Rows)
	c.Rows = nil
	for _, e := range []*Exceptions{&c.A, &c.B} {
		e.memory.Free()
		e.Value = nil
	}
}

func (s *Structure) exceptions(matrix int) (Exceptions, error) {
	e := Exceptions{matrix: matrix, structure: s}
	n := 0
	for i := range s.Sections {
		section := &s.Sections[i]
		e.first = append(e.first, n)
		n += section.Copies * len(section.Template.Long[matrix].Row)
	}
	var err error
	if e.memory, err = buffer.New(n); err != nil {
		return e, err
	}
	scalars := e.memory.Scalars()
	e.Value = unsafe.Slice((*fr.Element)(unsafe.Pointer(unsafe.SliceData(scalars))), n)
	return e, nil
}

// ofCopy is the values of a copy of a section.
func (e *Exceptions) ofCopy(section, copy int) []fr.Element {
	n := len(e.structure.Sections[section].Template.Long[e.matrix].Row)
	return e.Value[e.first[section]+copy*n:][:n]
}

// write writes the values of a tile's long rows in copy q.
func (e *Exceptions) write(t *tile, q int) {
	l := &t.long[e.matrix]
	if len(l.rows) == 0 {
		return
	}
	at := t.section.Template.Long[e.matrix].find(int(l.rows[0]))
	values := e.ofCopy(t.part, t.first+q)[at:]
	for i := range l.rows {
		values[i] = l.values[i*t.copies+q]
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

// expand writes the values that are among rows first, first+1, …, copy by copy.
func (e *Exceptions) expand(first int, out []fr.Element) {
	for len(out) > 0 {
		part := e.structure.partOfRow(first)
		section := &e.structure.Sections[part]
		copy, local := (first-section.FirstRow)/section.Template.Rows, (first-section.FirstRow)%section.Template.Rows
		n := min(len(out), section.Template.Rows-local)
		rows, values := &section.Template.Long[e.matrix], e.ofCopy(part, copy)
		for i := rows.find(local); i < len(rows.Row) && int(rows.Row[i]) < local+n; i++ {
			out[int(rows.Row[i])-local] = values[i]
		}
		out = out[n:]
		first += n
	}
}

// partOfRow is the number of the section that a row is in.
func (s *Structure) partOfRow(row int) int {
	return s.partAt(row, func(section *Section) (first, count int) {
		return section.FirstRow, section.Copies * section.Template.Rows
	})
}
