package generate

import (
	"context"
	"math"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// coordinate is the arithmetic of gnark-crypto's fp.Element and E2.
type coordinate[E any] interface {
	*E
	Add(x, y *E) *E
	Sub(x, y *E) *E
	Mul(x, y *E) *E
	Square(x *E) *E
	Double(x *E) *E
	Neg(x *E) *E
	Inverse(x *E) *E
	Equal(x *E) bool
	IsZero() bool
	SetOne() *E
}

// affine is a point with the memory layout of gnark-crypto's G1Affine and G2Affine. Infinity is (0, 0).
type affine[E any] struct{ X, Y E }

// table holds small multiples of a base point, so that a multiple of it is a sum of one entry a window of the scalar.
type table[E any, P coordinate[E]] struct {
	bits int // of a window; digits are signed
	// windows hold the multiples 1 to 2^(bits-1) of the base times 2^(bits·window).
	windows [][]affine[E]
}

// batch is how many sums are computed side by side, so that they share one inversion: enough for it to cost nothing, few
// enough for all that belongs to them to stay in the second-level cache.
const batch = 512

// newTable makes the table that is best for so many multiples.
func newTable[E any, P coordinate[E]](base affine[E], multiples int) *table[E, P] {
	t := &table[E, P]{bits: windowBits(multiples)}
	for range windowsOf(t.bits) {
		window := multiplesOf[E, P](base, t.bits)
		t.windows = append(t.windows, window)
		base = window[len(window)-1]
		double[E, P](&base)
	}
	return t
}

// windowsOf is the number of windows of a scalar and the carry behind it.
func windowsOf(bits int) int { return fr.Bits/bits + 1 }

// windowBits minimises the number of additions: those that make the table, and one a window for each multiple. The
// largest table, of G2, has 100 MB.
func windowBits(multiples int) int {
	best, least := 1, math.Inf(1)
	for bits := 2; bits <= 16; bits++ {
		if cost := float64(windowsOf(bits)) * (float64(multiples) + float64(int(1)<<(bits-1))); cost < least {
			best, least = bits, cost
		}
	}
	return best
}

// multiplesOf lists the multiples 1 to 2^(bits-1) of a point: those up to a power of two, then these with that added.
func multiplesOf[E any, P coordinate[E]](base affine[E], bits int) []affine[E] {
	out := make([]affine[E], 1, 1<<(bits-1))
	out[0] = base
	adder := newAdder[E, P]()
	for len(out) < cap(out) {
		n := len(out)
		out = append(out, out...)
		power := out[n-1]
		for start := n; start < 2*n; start += batch {
			sums := out[start:min(start+batch, 2*n)]
			for i := range sums {
				adder.terms[i] = power
			}
			adder.add(sums)
		}
	}
	return out
}

func double[E any, P coordinate[E]](p *affine[E]) {
	adder := newAdder[E, P]()
	adder.terms[0] = *p
	sums := []affine[E]{*p}
	adder.add(sums)
	*p = sums[0]
}

// multiply computes scalars times the base.
func (t *table[E, P]) multiply(ctx context.Context, scalars []fr.Element, out []affine[E]) error {
	return parallel.Ranges(ctx, len(scalars), batch, func(start, end int) error {
		t.multiplyBatch(scalars[start:end], out[start:end])
		return nil
	})
}

func (t *table[E, P]) multiplyBatch(scalars []fr.Element, sums []affine[E]) {
	digits := make([]digitReader, len(scalars))
	for i := range scalars {
		digits[i] = digitReader{limbs: scalars[i].Bits(), bits: t.bits}
	}
	clear(sums)
	adder := newAdder[E, P]()
	for _, window := range t.windows {
		for i := range sums {
			adder.terms[i] = affine[E]{}
			switch d := digits[i].next(); {
			case d > 0:
				adder.terms[i] = window[d-1]
			case d < 0:
				adder.terms[i] = window[-d-1]
				P(&adder.terms[i].Y).Neg(&adder.terms[i].Y)
			}
		}
		adder.add(sums)
	}
}

// digitReader reads the signed digits of a scalar, the lowest first: from -2^(bits-1) to 2^(bits-1).
type digitReader struct {
	limbs    [4]uint64
	bits, at int
	carry    int
}

func (d *digitReader) next() int {
	digit := d.carry
	if limb, shift := d.at/64, d.at%64; limb < len(d.limbs) {
		v := d.limbs[limb] >> shift
		if shift+d.bits > 64 && limb+1 < len(d.limbs) {
			v |= d.limbs[limb+1] << (64 - shift)
		}
		digit += int(v & (1<<d.bits - 1))
	}
	d.at += d.bits
	d.carry = 0
	if digit > 1<<(d.bits-1) {
		digit -= 1 << d.bits
		d.carry = 1
	}
	return digit
}

// adder adds terms to sums, many at once with one inversion.
type adder[E any, P coordinate[E]] struct {
	terms [batch]affine[E]
	// denominators of the slopes, then their inverses; products of those before.
	denominators, products [batch]E
	// What a step computes with; as variables they would be allocated anew each time.
	slope, x, y, t E
}

func newAdder[E any, P coordinate[E]]() *adder[E, P] { return &adder[E, P]{} }

// add adds the first terms to as many sums.
func (a *adder[E, P]) add(sums []affine[E]) {
	for i := range sums {
		a.prepare(i, &sums[i])
	}
	a.invert(len(sums))
	for i := range sums {
		a.finish(i, &sums[i])
	}
}

func isInfinity[E any, P coordinate[E]](p *affine[E]) bool {
	return P(&p.X).IsZero() && P(&p.Y).IsZero()
}

// prepare finds the denominator of the slope: one where there is none.
func (a *adder[E, P]) prepare(i int, sum *affine[E]) {
	term, d := &a.terms[i], P(&a.denominators[i])
	switch {
	case isInfinity[E, P](term) || isInfinity[E, P](sum):
		d.SetOne()
	case !P(&term.X).Equal(&sum.X):
		d.Sub(&term.X, &sum.X)
	case P(&term.Y).Equal(&sum.Y):
		d.Double(&sum.Y)
	default:
		d.SetOne()
	}
}

// invert inverts all denominators with one inversion.
func (a *adder[E, P]) invert(n int) {
	product, t := P(&a.x), P(&a.t)
	product.SetOne()
	for i := range n {
		a.products[i] = a.x
		product.Mul(product, &a.denominators[i])
	}
	product.Inverse(product)
	for i := n - 1; i >= 0; i-- {
		t.Mul(product, &a.products[i])
		product.Mul(product, &a.denominators[i])
		a.denominators[i] = a.t
	}
}

// finish replaces a sum by itself and its term.
func (a *adder[E, P]) finish(i int, sum *affine[E]) {
	term, slope, x, y := &a.terms[i], P(&a.slope), P(&a.x), P(&a.y)
	switch {
	case isInfinity[E, P](term):
		return
	case isInfinity[E, P](sum):
		*sum = *term
		return
	case !P(&term.X).Equal(&sum.X):
		slope.Sub(&term.Y, &sum.Y)
	case P(&term.Y).Equal(&sum.Y):
		x.Square(&sum.X)
		slope.Double(x)
		slope.Add(slope, x)
	default: // a point and its negative
		*sum = affine[E]{}
		return
	}
	slope.Mul(slope, &a.denominators[i])
	x.Square(slope)
	x.Sub(x, &sum.X)
	x.Sub(x, &term.X)
	y.Sub(&sum.X, x)
	y.Mul(y, slope)
	y.Sub(y, &sum.Y)
	sum.X, sum.Y = a.x, a.y
}
