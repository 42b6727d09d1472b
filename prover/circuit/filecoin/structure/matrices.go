package structure

import (
	"context"
	"fmt"
	"math"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Matrices writes the system out, every copy of every block, with the rows input·0 = 0 that bellman adds for the inputs at
// the end. It is for circuits of small sectors: an entry takes 8 bytes, and there can be 2^32 of them in a matrix.
func (s *Structure) Matrices(ctx context.Context) (*r1cs.Matrices, error) {
	entries := s.Entries()
	entries[0] += s.Inputs
	rows := s.Constraints + s.Inputs
	m := &r1cs.Matrices{
		Curve: curve.BLS12381, Wires: s.Inputs + s.Aux, Public: s.Inputs - 1, Constraints: rows, Coefficients: s.Coefficients,
	}
	for i, out := range []**r1cs.Matrix{&m.A, &m.B, &m.C} {
		if entries[i] > math.MaxUint32 {
			return nil, fmt.Errorf("the circuit is too large to be written out: %d entries in one matrix", entries[i])
		}
		*out = &r1cs.Matrix{Start: make([]uint32, rows+1), Wire: make([]uint32, entries[i]), Coefficient: make([]uint32, entries[i])}
	}
	w := matrixWriter{structure: s, out: [3]*r1cs.Matrix{m.A, m.B, m.C}}
	for i := range s.Sections {
		if err := w.section(ctx, &s.Sections[i]); err != nil {
			return nil, err
		}
	}
	for i := range s.Inputs {
		row, at := s.Constraints+i, w.entries[0]+i
		m.A.Wire[at], m.A.Coefficient[at] = uint32(i), uint32(Plus)
		m.A.Start[row+1] = uint32(at + 1)
		m.B.Start[row+1], m.C.Start[row+1] = uint32(w.entries[1]), uint32(w.entries[2])
	}
	return m, nil
}

// matrixWriter counts the entries that it has written.
type matrixWriter struct {
	structure *Structure
	out       [3]*r1cs.Matrix
	entries   [3]int
}

// section writes the copies of a section on all cores.
func (w *matrixWriter) section(ctx context.Context, section *Section) error {
	t := section.Template
	err := parallel.Ranges(ctx, section.Copies, 1, func(i, _ int) error {
		rows := w.structure.reader(section, i)
		var at [3]int
		for m := range at {
			at[m] = w.entries[m] + i*t.Entries[m]
		}
		first := section.FirstRow + i*t.Rows
		for row := range t.Rows {
			for m, out := range w.out {
				for _, e := range rows.row(m, row) {
					out.Wire[at[m]], out.Coefficient[at[m]] = e.Wire, e.Coefficient
					at[m]++
				}
				out.Start[first+row+1] = uint32(at[m])
			}
		}
		return nil
	})
	for m := range w.entries {
		w.entries[m] += section.Copies * t.Entries[m]
	}
	return err
}
