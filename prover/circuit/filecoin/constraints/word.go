package constraints

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// word is a number of 32 bits, the least significant first.
type word [32]Boolean

func constantWord(value uint32) (w word) {
	for i := range w {
		w[i] = constant(value>>i&1 == 1)
	}
	return w
}

func (w *word) isConstant() bool {
	for _, b := range w {
		if !b.isConstant() {
			return false
		}
	}
	return true
}

// constantValue is the value of the bits that are the constant 1, and of the inverted ones.
func (w *word) constantValue() uint32 {
	var value uint32
	for i, b := range w {
		if b.inverted {
			value |= 1 << i
		}
	}
	return value
}

func (w *word) rotated(k int) (out word) {
	for i := range out {
		out[i] = w[(i+k)%32]
	}
	return out
}

func (w *word) shifted(k int) (out word) {
	copy(out[:], w[k:])
	return out
}

func (g *Gadgets) xorWords(a, b word) (out word) {
	for i := range out {
		out[i] = g.xor(a[i], b[i])
	}
	return out
}

// equalities gathers equations between sums of bits, at disjoint powers of two, into as few constraints as fit the field.
type equalities struct {
	g           *Gadgets
	left, right []term
	constant    fr.Element // of left
	used        int
}

// sumCapacity is the number of bits that a constraint can compare.
const sumCapacity = fr.Bits - 1

// add adds the equation Σ words = Σ 2^i·sum_i.
func (e *equalities) add(words []word, sum []Boolean) {
	if e.used+len(sum) >= sumCapacity {
		e.flush()
	}
	for i := range words {
		if value := words[i].constantValue(); value != 0 {
			var scaled fr.Element
			scaled.SetUint64(uint64(value))
			scaled.Mul(&scaled, &e.g.powers[e.used])
			e.constant.Add(&e.constant, &scaled)
		}
		for j, b := range words[i] {
			if !b.isConstant() {
				e.left = append(e.left, times(b.v, e.g.Power(e.used+j, b.inverted)))
			}
		}
	}
	for j, b := range sum {
		e.right = append(e.right, times(b.v, e.g.Power(e.used+j, false)))
	}
	e.used += len(sum)
}

// flush emits the constraint left·1 = right.
func (e *equalities) flush() {
	if e.used == 0 {
		return
	}
	e.left = append(e.left, times(one, e.g.Coefficient(e.constant)))
	e.g.Enforce(e.left, []term{times(one, plus)}, e.right)
	e.left, e.right, e.used = e.left[:0], e.right[:0], 0
	e.constant.SetZero()
}

// addMany adds numbers modulo 2^32; all bits of the sum are allocated.
func (e *equalities) addMany(words ...word) word {
	allConstant := true
	var total uint32
	for i := range words {
		allConstant = allConstant && words[i].isConstant()
		total += words[i].constantValue()
	}
	if allConstant {
		return constantWord(total)
	}
	sum := e.g.bits(bits.Len64(uint64(len(words)) * (1<<32 - 1)))
	e.add(words, sum)
	return word(sum[:32])
}
