package poseidon

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// linear is the linear layer as it is computed fastest. Entry (i, j) of the matrix is 1/(width+i+j), so over the common
// denominator of all entries it is a small integer: a product with one takes a fifth of the work of a product of elements,
// and a sum of products is reduced as a whole. So a product with all of the matrix costs about what one with a sparse matrix
// does in elements.
type linear struct {
	width int
	// integers has at n the denominator divided by width+n, and zeros behind them; it is nil where the width is not usual.
	integers []uint64
	// restore takes what sum returns to the product with the matrix.
	restore fr.Element
	// scale has at k what elements other than 0 have been multiplied by before partial round k, and last what they have
	// after all of them; unscale has the inverses. So a partial round restores element 0 alone.
	scale, unscale []fr.Element
}

// usualWidth is the largest width in Filecoin's circuits.
const usualWidth = 12

func newLinear(width, partial int) linear {
	if width > usualWidth {
		return linear{}
	}
	denominator := uint64(1) // below 2^48
	for n := uint64(width); n < uint64(3*width-1); n++ {
		denominator *= n / gcd(denominator, n)
	}
	l := linear{width: width}
	for n := width; n < 3*width-1; n++ {
		l.integers = append(l.integers, denominator/uint64(n))
	}
	l.integers = append(l.integers, make([]uint64, usualWidth)...)
	// sum divides by 2^64.
	var step, d fr.Element
	step.SetUint64(1 << 32)
	step.Square(&step)
	d.SetUint64(denominator)
	l.restore.Div(&step, &d)
	step.Inverse(&l.restore)
	scale, unscale := fr.One(), fr.One()
	for range partial + 1 {
		l.scale, l.unscale = append(l.scale, scale), append(l.unscale, unscale)
		scale.Mul(&scale, &step)
		unscale.Mul(&unscale, &l.restore)
	}
	return l
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// columns are the limbs of a state's elements: limb i of each in column i, then zeros.
type columns [4][usualWidth]uint64

func (c *columns) set(i int, e *fr.Element) {
	c[0][i], c[1][i], c[2][i], c[3][i] = e[0], e[1], e[2], e[3]
}

func (c *columns) get(i int) fr.Element { return fr.Element{c[0][i], c[1][i], c[2][i], c[3][i]} }

// sum is Σ state[i]·integers[i+j], divided by 2^64.
func (l *linear) sum(state *columns, j int) (out fr.Element) {
	integers := (*[usualWidth]uint64)(l.integers[j:])
	low0, high0 := l.dot(integers, &state[0])
	low1, high1 := l.dot(integers, &state[1])
	low2, high2 := l.dot(integers, &state[2])
	low3, high3 := l.dot(integers, &state[3])
	var carry uint64
	high0, carry = bits.Add64(high0, low1, 0)
	high1, carry = bits.Add64(high1, low2, carry)
	high2, carry = bits.Add64(high2, low3, carry)
	reduceLimb(&out, low0, high0, high1, high2, high3+carry)
	return out
}

// dot is Σ integers[i]·column[i] in 128 bits, which integers below 2^60 do not exceed. Written out, it stays in registers.
func (l *linear) dot(integers, column *[usualWidth]uint64) (low, high uint64) {
	low, high = addProduct(low, high, integers[0], column[0])
	low, high = addProduct(low, high, integers[1], column[1])
	low, high = addProduct(low, high, integers[2], column[2])
	if l.width <= 3 {
		return low, high
	}
	low, high = addProduct(low, high, integers[3], column[3])
	low, high = addProduct(low, high, integers[4], column[4])
	low, high = addProduct(low, high, integers[5], column[5])
	low, high = addProduct(low, high, integers[6], column[6])
	low, high = addProduct(low, high, integers[7], column[7])
	low, high = addProduct(low, high, integers[8], column[8])
	if l.width <= 9 {
		return low, high
	}
	low, high = addProduct(low, high, integers[9], column[9])
	low, high = addProduct(low, high, integers[10], column[10])
	return addProduct(low, high, integers[11], column[11])
}

func addProduct(low, high, x, y uint64) (uint64, uint64) {
	h, l := bits.Mul64(x, y)
	low, carry := bits.Add64(low, l, 0)
	high, _ = bits.Add64(high, h, carry)
	return low, high
}

// The modulus r of the field, and -1/r modulo 2^64.
const (
	r0, r1, r2, r3 = 0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
	rInvNeg        = 0xfffffffeffffffff
)

// reduceLimb writes the number of five limbs, divided by 2^64 modulo r, to z: one step of Montgomery's reduction. The number
// must be below r·2^64.
func reduceLimb(z *fr.Element, x0, x1, x2, x3, x4 uint64) {
	m := x0 * rInvNeg
	h0, w0 := bits.Mul64(m, r0)
	h1, w1 := bits.Mul64(m, r1)
	h2, w2 := bits.Mul64(m, r2)
	h3, w3 := bits.Mul64(m, r3)
	_, carry := bits.Add64(x0, w0, 0)
	x1, carry = bits.Add64(x1, w1, carry)
	x2, carry = bits.Add64(x2, w2, carry)
	x3, carry = bits.Add64(x3, w3, carry)
	x4 += carry
	x1, carry = bits.Add64(x1, h0, 0)
	x2, carry = bits.Add64(x2, h1, carry)
	x3, carry = bits.Add64(x3, h2, carry)
	x4, _ = bits.Add64(x4, h3, carry)
	y1, borrow := bits.Sub64(x1, r0, 0)
	y2, borrow := bits.Sub64(x2, r1, borrow)
	y3, borrow := bits.Sub64(x3, r2, borrow)
	y4, borrow := bits.Sub64(x4, r3, borrow)
	if borrow == 0 {
		x1, x2, x3, x4 = y1, y2, y3, y4
	}
	z[0], z[1], z[2], z[3] = x1, x2, x3, x4
}
