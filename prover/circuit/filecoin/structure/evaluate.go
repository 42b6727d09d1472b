package structure

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// rowsPerTile is how many rows of a group are evaluated at a time: what a core keeps near.
const rowsPerTile = 2048

// tile is the values of consecutive rows of a group's copies. Small values are bit planes: bit q of planes 0, 1 and 2 are
// the value in copy q, modulo 8.
type tile struct {
	*group
	start, rows int
	a, c        [rowsPerTile][3]uint32
	b           [rowsPerTile]uint32
	long        [3]longValues
}

// longValues are those of long rows: row i of them has the copies' values one after the other.
type longValues struct {
	rows   []uint32
	values []fr.Element
}

// smallValues are the elements of small values modulo 8.
var smallValues = func() (out [8]fr.Element) {
	for i := range out {
		out[i].SetInt64(int64(Small(i).coefficient()))
	}
	return out
}()

// wanted tells which of A, B and C are evaluated. Unless it is exact, the witness is taken to satisfy the constraints: where
// b is the one, c is as good as a, and has fewer terms.
type wanted struct {
	matrices [3]bool
	exact    bool
}

// each evaluates what is wanted and calls fn with each tile, on all cores.
func (s *Structure) each(ctx context.Context, w *witness.Witness, want wanted, fn func(*tile) error) error {
	if err := s.checkWitness(w); err != nil {
		return err
	}
	var g *group
	tiles := sync.Pool{New: func() any { return new(tile) }}
	for part := range s.Sections {
		section := &s.Sections[part]
		for first := 0; first < section.Copies; first += groupSize {
			g = s.group(w, part, first, g)
			err := parallel.Ranges(ctx, section.Template.Rows, rowsPerTile, func(start, end int) error {
				t := tiles.Get().(*tile)
				defer tiles.Put(t)
				t.group, t.start, t.rows = g, start, end-start
				t.evaluate(want, s.Coefficients)
				return fn(t)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Structure) checkWitness(w *witness.Witness) error {
	layout := s.Layout()
	if len(layout) != len(w.Parts) {
		return fmt.Errorf("a witness of %d parts for a circuit of %d", len(w.Parts), len(layout))
	}
	for i, p := range layout {
		if w.Parts[i].Part != p {
			return fmt.Errorf("part %d of the witness has the layout %+v, that of the circuit %+v", i, w.Parts[i].Part, p)
		}
	}
	return nil
}

func (t *tile) evaluate(want wanted, coefficients []curve.Scalar) {
	template := t.section.Template
	products, sums := template.Products[t.start:][:t.rows], template.Sums[t.start:][:t.rows]
	if want.matrices[0] {
		for i := range products {
			t.a[i] = t.sum(products[i].A[:])
		}
	}
	if want.matrices[1] {
		for i := range products {
			t.b[i] = t.factor(products[i].B)
		}
	}
	if want.matrices[2] {
		for i := range sums {
			t.c[i] = t.sum(sums[i][:])
		}
	}
	for m := range t.long {
		if want.matrices[m] {
			t.evaluateLong(m, want.exact, coefficients)
		}
	}
}

// factor is the value of a B.
func (t *tile) factor(b Small) uint32 {
	switch b.coefficient() {
	case 0:
		return 0
	case 1:
		return t.slices[b.slot()]
	}
	return ^t.slices[b.slot()]
}

// sum adds up small terms, in all copies at once.
func (t *tile) sum(terms []Small) (p [3]uint32) {
	for _, s := range terms {
		if s == 0 {
			break
		}
		bits := t.slices[s.slot()]
		x0, x1, x2 := bits&-uint32(s&1), bits&-uint32(s>>1&1), bits&-uint32(s>>2&1)
		carry0 := p[0] & x0
		carry1 := p[1]&x1 | (p[1]^x1)&carry0
		p = [3]uint32{p[0] ^ x0, p[1] ^ x1 ^ carry0, p[2] ^ x2 ^ carry1}
	}
	return p
}

// digit is the value modulo 8 in copy q.
func digit(p *[3]uint32, q int) uint32 {
	return p[0]>>q&1 | p[1]>>q&1<<1 | p[2]>>q&1<<2
}

// Vectors are the evaluations of a circuit's constraints, or nil where they are not wanted: Constraints elements each, in
// Montgomery form.
type Vectors struct{ A, B, C []fr.Element }

// Evaluate computes a = A·w, b = B·w and c = C·w on all cores, of a witness that satisfies the constraints, as those that
// package values makes do; of another, a may be wrong.
func (s *Structure) Evaluate(ctx context.Context, w *witness.Witness, out Vectors) error {
	for _, v := range [][]fr.Element{out.A, out.B, out.C} {
		if v != nil && len(v) != s.Constraints {
			return fmt.Errorf("%d elements for the evaluation of %d constraints", len(v), s.Constraints)
		}
	}
	return s.each(ctx, w, wanted{matrices: [3]bool{out.A != nil, out.B != nil, out.C != nil}}, func(t *tile) error {
		for q := range t.copies {
			first := t.firstRow(q)
			if out.A != nil {
				t.writeDigits(0, q, &t.a, out.A[first:][:t.rows])
			}
			if out.B != nil {
				t.writeBits(q, out.B[first:][:t.rows])
			}
			if out.C != nil {
				t.writeDigits(2, q, &t.c, out.C[first:][:t.rows])
			}
		}
		return nil
	})
}

// firstRow is the number in the circuit of the tile's first row in copy q.
func (t *tile) firstRow(q int) int {
	return t.section.FirstRow + (t.first+q)*t.section.Template.Rows + t.start
}

// writeDigits writes the values of A or C in copy q.
func (t *tile) writeDigits(matrix, q int, digits *[rowsPerTile][3]uint32, out []fr.Element) {
	for i := range out {
		out[i] = smallValues[digit(&digits[i], q)]
	}
	t.writeLong(matrix, q, out)
}

// writeBits writes the values of B in copy q.
func (t *tile) writeBits(q int, out []fr.Element) {
	for i := range out {
		out[i] = smallValues[t.b[i]>>q&1]
	}
	t.writeLong(1, q, out)
}

// writeLong overwrites what the small rows left where a row is long.
func (t *tile) writeLong(matrix, q int, out []fr.Element) {
	l := &t.long[matrix]
	for i, row := range l.rows {
		out[int(row)-t.start] = l.values[i*t.copies+q]
	}
}

// UnsatisfiedError is a constraint that a witness does not satisfy.
type UnsatisfiedError struct{ Constraint int }

func (e *UnsatisfiedError) Error() string {
	return fmt.Sprintf("the witness does not satisfy constraint %d", e.Constraint)
}

// Check tells whether a witness satisfies all constraints: its error is an *UnsatisfiedError where it does not.
func (s *Structure) Check(ctx context.Context, w *witness.Witness) error {
	return s.each(ctx, w, wanted{[3]bool{true, true, true}, true}, func(t *tile) error {
		if row, q := t.unsatisfied(); row >= 0 {
			return &UnsatisfiedError{t.firstRow(q) + row}
		}
		return nil
	})
}

// unsatisfied finds a row of the tile and a copy for which a·b is not c.
func (t *tile) unsatisfied() (row, copy int) {
	var long []uint32
	for m := range t.long {
		long = append(long, t.long[m].rows...)
	}
	slices.Sort(long)
	long = slices.Compact(long)
	valid := uint32(1<<t.copies - 1)
	next := 0
	for i := range t.rows {
		if next < len(long) && int(long[next]) == t.start+i {
			if q := t.unsatisfiedLong(i); q >= 0 {
				return i, q
			}
			next++
			continue
		}
		a, b, c := &t.a[i], t.b[i], &t.c[i]
		if wrong := ((a[0]&b ^ c[0]) | (a[1]&b ^ c[1]) | (a[2]&b ^ c[2])) & valid; wrong != 0 {
			return i, firstBit(wrong)
		}
	}
	return -1, -1
}

// unsatisfiedLong finds a copy for which row i of the tile, which is long in some matrix, is not satisfied.
func (t *tile) unsatisfiedLong(i int) (copy int) {
	var long [3][]fr.Element
	for m := range long {
		l := &t.long[m]
		if at, ok := slices.BinarySearch(l.rows, uint32(t.start+i)); ok {
			long[m] = l.values[at*t.copies:][:t.copies]
		}
	}
	value := func(m, q int, small uint32) fr.Element {
		if long[m] != nil {
			return long[m][q]
		}
		return smallValues[small]
	}
	for q := range t.copies {
		a, b, c := value(0, q, digit(&t.a[i], q)), value(1, q, t.b[i]>>q&1), value(2, q, digit(&t.c[i], q))
		if *a.Mul(&a, &b) != c {
			return q
		}
	}
	return -1
}
