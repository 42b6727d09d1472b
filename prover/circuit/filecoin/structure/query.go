package structure

import (
	"context"
	"math/bits"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// Query is the scalars of the sum over a section of a proving key: of points whose scalar is one, the numbers; of the others
// the numbers and scalars, canonical. Points that are in neither have the scalar zero. Points are numbered as the key holds
// them, which leaves out variables that do not occur.
type Query struct {
	Ones   []uint32
	Points []uint32
	Values []curve.Scalar
}

// QueryL is the query of all variables but the inputs, QueryA that of inputs and variables that occur in A, QueryB that of
// the one and the variables that occur in B.
func (s *Structure) QueryL(ctx context.Context, w *witness.Witness) (*Query, error) {
	return s.query(ctx, w, nil, 0)
}
func (s *Structure) QueryA(ctx context.Context, w *witness.Witness) (*Query, error) {
	return s.query(ctx, w, s.DensityA(), s.Inputs)
}
func (s *Structure) QueryB(ctx context.Context, w *witness.Witness) (*Query, error) {
	return s.query(ctx, w, s.DensityB(), 1)
}

// query splits the values of some inputs, the one first, and of the variables of a density, or all.
func (s *Structure) query(ctx context.Context, w *witness.Witness, d *Density, inputs int) (*Query, error) {
	if err := s.checkWitness(w); err != nil {
		return nil, err
	}
	q := &Query{}
	for i, e := range w.Inputs[:inputs] {
		if i == 0 {
			q.Ones = append(q.Ones, 0)
			continue
		}
		q.Points = append(q.Points, uint32(i))
		q.Values = append(q.Values, e.Bits())
	}
	copies := s.queryCopies(w, d)
	point, ones, full := uint32(inputs), len(q.Ones), len(q.Points)
	for i := range copies {
		c := &copies[i]
		c.firstPoint, c.firstOne, c.firstFull = point, ones, full
		points, o, f := c.count()
		point, ones, full = point+points, ones+o, full+f
	}
	q.Ones = append(q.Ones, make([]uint32, ones-len(q.Ones))...)
	q.Points = append(q.Points, make([]uint32, full-len(q.Points))...)
	q.Values = append(q.Values, make([]curve.Scalar, full-len(q.Values))...)
	return q, parallel.Ranges(ctx, len(copies), 1, func(i, _ int) error {
		copies[i].split(q)
		return nil
	})
}

// queryCopy is a copy of a block in a query: which of its variables are in it and how many of them are before each word of
// these, their values, and where they begin in the query's lists.
type queryCopy struct {
	template            *Template
	occurs, bits        []uint64
	ranks               []uint32
	full                []fr.Element
	firstPoint          uint32
	firstOne, firstFull int
}

func (s *Structure) queryCopies(w *witness.Witness, d *Density) []queryCopy {
	var out []queryCopy
	for part := range s.Sections {
		section := &s.Sections[part]
		t := section.Template
		var all []uint64
		var ranks []uint32
		if d == nil {
			all = allOnes(t.Aux)
			ranks = ranksOf(all)
		}
		for i := range section.Copies {
			c := queryCopy{template: t, bits: w.Parts[part].Bits(i), full: w.Parts[part].Full(i), occurs: all, ranks: ranks}
			if d != nil {
				c.occurs, c.ranks = d.ofCopy(section, i)
			}
			out = append(out, c)
		}
	}
	return out
}

// allOnes has the first n bits set.
func allOnes(n int) []uint64 {
	out := make([]uint64, (n+63)/64)
	for i := range out {
		out[i] = 1<<min(64, n-64*i) - 1
	}
	return out
}

// ofCopy is the density of one copy's variables, with its ranks: the template's, unless some of them occur outside alone.
func (d *Density) ofCopy(section *Section, i int) ([]uint64, []uint32) {
	t := section.Template
	first := section.FirstAux + i*t.Aux
	from, _ := slices.BinarySearch(d.outside, first)
	to, _ := slices.BinarySearch(d.outside, first+t.Aux)
	if from == to {
		return t.Occurs[d.matrix], t.Ranks[d.matrix]
	}
	occurs := slices.Clone(t.Occurs[d.matrix])
	for _, v := range d.outside[from:to] {
		occurs[(v-first)/64] |= 1 << ((v - first) % 64)
	}
	return occurs, ranksOf(occurs)
}

// count is the number of points, of ones and of others.
func (c *queryCopy) count() (points uint32, ones, full int) {
	for i, occurs := range c.occurs {
		ones += bits.OnesCount64(occurs & c.bits[i])
	}
	for _, v := range c.template.Full {
		full += int(c.occurs[v/64] >> (v % 64) & 1)
	}
	if last := len(c.occurs) - 1; last >= 0 {
		points = c.ranks[last] + uint32(bits.OnesCount64(c.occurs[last]))
	}
	return points, ones, full
}

// point is the number of the point of a variable that occurs.
func (c *queryCopy) point(word int, bit uint64) uint32 {
	return c.firstPoint + c.ranks[word] + uint32(bits.OnesCount64(c.occurs[word]&(bit-1)))
}

// split fills in the copy's part of the lists.
func (c *queryCopy) split(q *Query) {
	ones, points, values := q.Ones[c.firstOne:], q.Points[c.firstFull:], q.Values[c.firstFull:]
	n := 0
	for i, occurs := range c.occurs {
		for set := occurs & c.bits[i]; set != 0; set &= set - 1 {
			ones[n] = c.point(i, set&-set)
			n++
		}
	}
	n = 0
	for i, v := range c.template.Full {
		word, bit := int(v/64), uint64(1)<<(v%64)
		if c.occurs[word]&bit != 0 {
			points[n] = c.point(word, bit)
			values[n] = c.full[i].Bits()
			n++
		}
	}
}
