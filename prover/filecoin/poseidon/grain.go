package poseidon

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// grain is the linear feedback shift register of 80 bits from which Poseidon's round constants are drawn.
type grain struct {
	state [80]byte // one bit each, a ring
	first int      // index of the oldest bit
}

// newGrain seeds the register with the description of the permutation, most significant bits first: prime field, x^5,
// 255 bits, width, full rounds, partial rounds, then ones.
func newGrain(width, fullRounds, partialRounds int) *grain {
	g := &grain{}
	at := 0
	put := func(bits, value int) {
		for i := bits - 1; i >= 0; i-- {
			g.state[at] = byte(value >> i & 1)
			at++
		}
	}
	put(2, 1)
	put(4, 1)
	put(12, fr.Bits)
	put(12, width)
	put(10, fullRounds)
	put(10, partialRounds)
	put(30, 1<<30-1)
	for range 160 {
		g.step()
	}
	return g
}

// step shifts in the next bit and returns it.
func (g *grain) step() byte {
	s := func(i int) byte { return g.state[(g.first+i)%len(g.state)] }
	next := s(62) ^ s(51) ^ s(38) ^ s(23) ^ s(13) ^ s(0)
	g.state[g.first] = next
	g.first = (g.first + 1) % len(g.state)
	return next
}

// bit draws pairs of bits until the first of a pair is one, and returns the second.
func (g *grain) bit() byte {
	for {
		keep, value := g.step(), g.step()
		if keep == 1 {
			return value
		}
	}
}

// element draws 255 bits, most significant first, until they are below r.
func (g *grain) element() fr.Element {
	for {
		var buf [fr.Bytes]byte
		for i := range fr.Bits {
			at := fr.Bytes*8 - fr.Bits + i
			buf[at/8] |= g.bit() << (7 - at%8)
		}
		if v := new(big.Int).SetBytes(buf[:]); v.Cmp(fr.Modulus()) < 0 {
			var e fr.Element
			e.SetBytes(buf[:])
			return e
		}
	}
}
