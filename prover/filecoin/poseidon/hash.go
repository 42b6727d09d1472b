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
	p := permutation{Constants: c, constant: c.Round, trace: trace, state: make([]fr.Element, c.Width)}
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
	state           []fr.Element
	constant, trace []fr.Element
}

func (p *permutation) run() fr.Element {
	p.firstRound()
	for range halfRounds - 1 {
		p.fullRound()
		p.mix()
	}
	p.partialRounds()
	for range halfRounds - 1 {
		p.fullRound()
		p.mix()
	}
	for i := range p.state {
		p.state[i] = p.sbox(p.state[i], false)
	}
	p.mix()
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
	p.mix()
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

// mix is the linear layer.
func (p *permutation) mix() {
	if p.linear.integers == nil {
		next := make([]fr.Element, p.Width)
		p.MDS.row(p.state, next)
		p.state = next
		return
	}
	c := p.columns()
	for j := range p.state {
		x := p.linear.sum(&c, j)
		p.state[j].Mul(&x, &p.linear.restore)
	}
}

func (p *permutation) columns() (c columns) {
	for i := range p.state {
		c.set(i, &p.state[i])
	}
	return c
}

// partialRounds pass element 0 through the S-box. The others, which no S-box takes as they are, stay scaled.
func (p *permutation) partialRounds() {
	l := &p.linear
	if l.integers == nil {
		for range p.PartialRounds {
			p.state[0] = p.sbox(p.state[0], true)
			p.mix()
		}
		return
	}
	start := p.columns()
	state, next := &start, new(columns)
	x := p.state[0]
	for k := range p.PartialRounds {
		x = p.sbox(x, true)
		x.Mul(&x, &l.scale[k])
		state.set(0, &x)
		for j := range p.state {
			y := l.sum(state, j)
			next.set(j, &y)
		}
		state, next = next, state
		x = state.get(0)
		x.Mul(&x, &l.unscale[k+1])
	}
	p.state[0] = x
	for j := 1; j < p.Width; j++ {
		y := state.get(j)
		p.state[j].Mul(&y, &l.unscale[p.PartialRounds])
	}
}
