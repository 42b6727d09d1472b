package main

import "math/big"

// grain is the LFSR that the Poseidon paper (Grassi et al., USENIX Security 2021, appendix E) derives parameters from, so
// that nobody chooses them.
type grain struct{ bits [80]byte }

// newGrain initialises the register with the parameters: prime field, S-box x^5, n bits, t elements, full and partial
// rounds, then ones; and lets the first 160 bits go.
func newGrain(n, t, fullRounds, partialRounds int) *grain {
	var g grain
	at := 0
	put := func(value, width int) {
		for i := width - 1; i >= 0; i-- {
			g.bits[at] = byte(value >> i & 1)
			at++
		}
	}
	put(1, 2)
	put(0, 4)
	put(n, 12)
	put(t, 12)
	put(fullRounds, 10)
	put(partialRounds, 10)
	put(1<<30-1, 30)
	for range 160 {
		g.step()
	}
	return &g
}

func (g *grain) step() byte {
	b := g.bits[62] ^ g.bits[51] ^ g.bits[38] ^ g.bits[23] ^ g.bits[13] ^ g.bits[0]
	copy(g.bits[:], g.bits[1:])
	g.bits[79] = b
	return b
}

// bit is the shrinking generator's: of each pair, the second bit counts if the first is one.
func (g *grain) bit() byte {
	for g.step() == 0 {
		g.step()
	}
	return g.step()
}

// integer returns n bits, most significant first.
func (g *grain) integer(n int) *big.Int {
	x := new(big.Int)
	for range n {
		x.Lsh(x, 1)
		x.SetBit(x, 0, uint(g.bit()))
	}
	return x
}
