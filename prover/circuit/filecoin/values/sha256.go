package values

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
)

// word is a word of a hash. The bits that are not free are constants of the circuit, for which it allocates nothing. Words of
// the state are free or constant as a whole. In a word of the message that is neither, the constant bits are zero: so no
// variable that an exclusive or allocates stands for the negation of its bit.
type word struct{ value, free uint32 }

const allFree = 1<<32 - 1

// Chunk is 32 bytes that are hashed.
type Chunk [8]word

func (w word) rotated(k int) word {
	return word{bits.RotateLeft32(w.value, -k), bits.RotateLeft32(w.free, -k)}
}
func (w word) shifted(k int) word { return word{w.value >> k, w.free >> k} }

// xor allocates the bits that are free in both.
func (v *values) xor(a, b word) word {
	out := word{a.value ^ b.value, a.free | b.free}
	v.Masked(out.value, a.free&b.free)
	return out
}

func (v *values) xor3(a, b, c word) word { return v.xor(v.xor(a, b), c) }

// choose allocates a bit where all three are free, and where of b and c one is constant and the other, with a, is free: then
// that of the conjunction into which the choice turns. It turns into a negated one where the constant is 1.
func (v *values) choose(a, b, c word) word {
	value := a.value&b.value | ^a.value&c.value
	chosen := a.value&b.free | ^a.value&c.free
	out := word{value, a.free&(b.free|c.free|b.value^c.value) | ^a.free&chosen}
	allocated := a.free&(b.free|c.free) | ^a.free&a.value&b.free&c.free
	v.Masked(value^(b.value&^b.free|c.value&^c.free), allocated)
	return out
}

// majority allocates the majority and b ∧ c where all three are free. Where one is constant, it allocates the conjunction of
// the others, or of their negations if the constant is 1.
func (v *values) majority(a, b, c word) word {
	value := a.value&b.value | a.value&c.value | b.value&c.value
	if a.free&b.free&c.free == allFree {
		v.Bits(interleave(value)|interleave(b.value&c.value)<<1, 64)
		return word{value, allFree}
	}
	two := a.free&b.free&^c.free | a.free&^b.free&c.free | ^a.free&b.free&c.free
	ones := a.value&^a.free | b.value&^b.free | c.value&^c.free
	v.Masked(value^ones, two)
	// With one free, the majority is constant where the other two agree.
	single := (a.free | b.free | c.free) &^ two
	agree := ^a.free&^b.free&^(a.value^b.value) | ^a.free&^c.free&^(a.value^c.value) | ^b.free&^c.free&^(b.value^c.value)
	return word{value, two | single&^agree}
}

// interleave spreads bits to the even positions.
func interleave(x uint32) uint64 {
	y := uint64(x)
	y = (y | y<<16) & 0x0000ffff0000ffff
	y = (y | y<<8) & 0x00ff00ff00ff00ff
	y = (y | y<<4) & 0x0f0f0f0f0f0f0f0f
	y = (y | y<<2) & 0x3333333333333333
	return (y | y<<1) & 0x5555555555555555
}

// add allocates the sum of numbers, unless all are constant, with its carries.
func (v *values) add(words ...word) word {
	total, free := uint64(0), uint32(0)
	for _, w := range words {
		total += uint64(w.value)
		free |= w.free
	}
	if free == 0 {
		return word{value: uint32(total)}
	}
	v.Bits(total, bits.Len64(uint64(len(words))*(1<<32-1)))
	return word{uint32(total), allFree}
}

// compress is SHA-256's compression. As in the circuit, a and e are added up when they are first used.
func (v *values) compress(message [16]word, state [8]word) [8]word {
	schedule := v.schedule(message)
	b, c, d := state[1], state[2], state[3]
	f, g, h := state[5], state[6], state[7]
	a, e := state[0], state[4]
	var s0, s1, choice, majority, constant, w, oldD, oldH word
	for i := range schedule {
		if i > 0 {
			e = v.add(oldH, s1, choice, constant, w, oldD)
		}
		s1Next := v.xor3(e.rotated(6), e.rotated(11), e.rotated(25))
		choiceNext := v.choose(e, f, g)
		if i > 0 {
			a = v.add(oldH, s1, choice, constant, w, s0, majority)
		}
		s0 = v.xor3(a.rotated(2), a.rotated(13), a.rotated(22))
		majority = v.majority(a, b, c)
		s1, choice, constant, w = s1Next, choiceNext, word{value: gadget.SHA256Round[i]}, schedule[i]
		oldD, oldH = d, h
		h, g, f = g, f, e
		d, c, b = c, b, a
	}
	return [8]word{
		v.add(oldH, s1, choice, constant, w, s0, majority, state[0]), v.add(state[1], b), v.add(state[2], c), v.add(state[3], d),
		v.add(oldH, s1, choice, constant, w, oldD, state[4]), v.add(state[5], f), v.add(state[6], g), v.add(state[7], h),
	}
}

func (v *values) schedule(message [16]word) (w [64]word) {
	copy(w[:], message[:])
	for i := 16; i < 64; i++ {
		x, y := w[i-15], w[i-2]
		s0 := v.xor3(x.rotated(7), x.rotated(18), x.shifted(3))
		s1 := v.xor3(y.rotated(17), y.rotated(19), y.shifted(10))
		w[i] = v.add(w[i-16], s0, w[i-7], s1)
	}
	return w
}

// SHA256 hashes chunks and allocates the number that the digest is without its two most significant bits.
func (v *values) SHA256(chunks []Chunk) fr.Element {
	var state [8]word
	for i, value := range gadget.SHA256Initial {
		state[i].value = value
	}
	var message [16]word
	for i := range chunks {
		copy(message[i%2*8:], chunks[i][:])
		if i%2 == 1 {
			state = v.compress(message, state)
			message = [16]word{}
		}
	}
	// A message of whole chunks leaves room for the padding, 65 bits at least, in the block that it does not fill.
	message[len(chunks)%2*8] = word{value: 1 << 31}
	message[15] = word{value: uint32(len(chunks)) * 256}
	state = v.compress(message, state)

	var limbs [4]uint64
	for i, w := range state {
		limbs[i/2] |= uint64(bits.ReverseBytes32(w.value)) << (32 * (i % 2))
	}
	limbs[3] &= 1<<62 - 1
	return v.Num(element(limbs))
}
