// Package poseidon is Filecoin's Poseidon hash over the scalar field of BLS12-381: the S-box x^5, a Cauchy matrix, 128
// bits of security, constants derived by the Grain register (neptune's "standard" strength).
package poseidon

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// MerkleTag is the domain tag of a node of a Merkle tree with this arity, and of a column: 2^arity - 1.
func MerkleTag(arity int) fr.Element { return fr.NewElement(1<<arity - 1) }

// CustomTag is the domain tag of neptune's custom hash types: id·2^40.
func CustomTag(id uint64) fr.Element { return fr.NewElement(id << 40) }

// Node is the hash of a Merkle node's children, or of a column: inputs' number is the arity.
func Node(inputs []fr.Element) fr.Element {
	return Of(len(inputs)).Hash(MerkleTag(len(inputs)), inputs)
}

// Pair is the hash of two elements under neptune's first custom tag, which SnapDeals uses for its challenges and its
// encoding.
func Pair(x, y fr.Element) fr.Element {
	return Of(2).Hash(CustomTag(1), []fr.Element{x, y})
}

// Hash permutes (tag, inputs) and returns element 1. There must be Arity inputs.
func (c *Constants) Hash(tag fr.Element, inputs []fr.Element) fr.Element {
	return c.Trace(tag, inputs, nil)
}

// TraceLen is the number of intermediate values that Trace tells.
func (c *Constants) TraceLen() int {
	return 3*c.Arity + 4*c.Width*(FullRounds-1) + 4*c.PartialRounds + 1
}

// Trace is Hash that also tells the values that an arithmetic circuit allocates, in its order: for each S-box in order
// its input (but not in the first round, where it is an input of the hash), then what enters the S-box squared, to the
// fourth, to the fifth with the next round constant added; then the hash. Of the first round's S-box of the tag it tells
// nothing, since that is constant. trace must have TraceLen elements, or be nil.
func (c *Constants) Trace(tag fr.Element, inputs, trace []fr.Element) fr.Element {
	if len(inputs) != c.Arity {
		panic(fmt.Sprintf("poseidon: %d inputs for arity %d", len(inputs), c.Arity))
	}
	buffer := make([]fr.Element, 2*c.Width)
	p := permutation{Constants: c, constant: c.Round, trace: trace, state: buffer[:c.Width], next: buffer[c.Width:]}
	p.state[0] = tag
	copy(p.state[1:], inputs)
	hash := p.run()
	if trace != nil {
		p.trace[0] = hash
	}
	return hash
}

// permutation is one run. Each step takes its constants, and the places of its intermediate values, from the front.
type permutation struct {
	*Constants
	state, next     []fr.Element
	constant, trace []fr.Element
}

func (p *permutation) run() fr.Element {
	p.firstRound()
	for range halfRounds - 2 {
		p.fullRound()
		p.mix(p.MDS)
	}
	p.fullRound()
	p.mix(p.PreSparse)
	for i := range p.Sparse {
		p.state[0] = p.sbox(p.state[0], true)
		p.mixSparse(&p.Sparse[i])
	}
	for range halfRounds - 1 {
		p.fullRound()
		p.mix(p.MDS)
	}
	for i := range p.state {
		p.state[i] = p.sbox(p.state[i], false)
	}
	p.mix(p.MDS)
	return p.state[1]
}

// firstRound adds two sets of constants: its own before the S-boxes, the second round's behind them.
func (p *permutation) firstRound() {
	for i := range p.state {
		p.state[i].Add(&p.state[i], &p.constant[i])
	}
	p.constant = p.constant[p.Width:]
	trace := p.trace
	p.trace = nil
	p.state[0] = p.sbox(p.state[0], true)
	p.trace = trace
	for i := 1; i < p.Width; i++ {
		p.state[i] = p.power(p.state[i], true)
	}
	p.mix(p.MDS)
}

func (p *permutation) fullRound() {
	for i := range p.state {
		p.state[i] = p.sbox(p.state[i], true)
	}
}

// sbox tells x and is power.
func (p *permutation) sbox(x fr.Element, constant bool) fr.Element {
	if p.trace != nil {
		p.trace[0] = x
		p.trace = p.trace[1:]
	}
	return p.power(x, constant)
}

// power is x^5, plus the next constant if there is one.
func (p *permutation) power(x fr.Element, constant bool) fr.Element {
	var x2, x4, x5 fr.Element
	x2.Square(&x)
	x4.Square(&x2)
	x5.Mul(&x4, &x)
	if constant {
		x5.Add(&x5, &p.constant[0])
		p.constant = p.constant[1:]
	}
	if p.trace != nil {
		p.trace[0], p.trace[1], p.trace[2] = x2, x4, x5
		p.trace = p.trace[3:]
	}
	return x5
}

func (p *permutation) mix(m Matrix) {
	m.row(p.state, p.next)
	p.state, p.next = p.next, p.state
}

func (p *permutation) mixSparse(s *Sparse) {
	var t, sum fr.Element
	first := p.state[0]
	for i := range p.state {
		sum.Add(&sum, t.Mul(&p.state[i], &s.Column[i]))
	}
	p.state[0] = sum
	for j := range s.Row {
		p.state[j+1].Add(&p.state[j+1], t.Mul(&first, &s.Row[j]))
	}
}
