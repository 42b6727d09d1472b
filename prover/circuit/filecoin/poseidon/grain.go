package poseidon

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// grain is the Grain LFSR in its self-shrinking mode, from which the round constants are drawn.
type grain struct {
	state [80]byte // one bit each
	next  int      // where the oldest bit is
}

func newGrain(width, partial int) *grain {
	g := &grain{}
	at := 0
	field := func(value uint64, bits int) {
		for i := bits - 1; i >= 0; i-- {
			g.state[at] = byte(value >> i & 1)
			at++
		}
	}
	field(1, 2) // a prime field
	field(1, 4) // the S-box x^5
	field(fr.Bits, 12)
	field(uint64(width), 12)
	field(fullRounds, 10)
	field(uint64(partial), 10)
	field(1<<30-1, 30)
	for range 160 {
		g.step()
	}
	return g
}

func (g *grain) step() byte {
	var bit byte
	for _, tap := range [...]int{62, 51, 38, 23, 13, 0} {
		bit ^= g.state[(g.next+tap)%80]
	}
	g.state[g.next] = bit
	g.next = (g.next + 1) % 80
	return bit
}

// bit draws pairs until the first of one is set, and returns the second.
func (g *grain) bit() byte {
	for g.step() == 0 {
		g.step()
	}
	return g.step()
}

// element draws integers of the field's length until one is below the modulus.
func (g *grain) element() fr.Element {
	for {
		x := new(big.Int)
		for range fr.Bits {
			x.Lsh(x, 1)
			x.SetBit(x, 0, uint(g.bit()))
		}
		if x.Cmp(fr.Modulus()) < 0 {
			return fromBig(x)
		}
	}
}

// roundConstants returns the constants of each round before they are compressed.
func roundConstants(width, partial int) [][]fr.Element {
	g := newGrain(width, partial)
	rounds := make([][]fr.Element, fullRounds+partial)
	for i := range rounds {
		rounds[i] = make([]fr.Element, width)
		for j := range rounds[i] {
			rounds[i][j] = g.element()
		}
	}
	return rounds
}
