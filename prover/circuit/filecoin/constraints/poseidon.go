package constraints

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/filecoin/poseidon"
)

// Poseidon hashes numbers under a domain tag.
func (g *Gadgets) Poseidon(tag fr.Element, inputs []Var) Var {
	c := poseidon.Of(len(inputs))
	p := permutation{Gadgets: g, Constants: c, round: c.Round}
	p.first(tag, inputs)
	p.mix(c.MDS)
	for i := range 3 {
		p.full(true)
		if i < 2 {
			p.mix(c.MDS)
		} else {
			p.mix(c.PreSparse)
		}
	}
	for i := range c.Sparse {
		p.set(0, p.sbox(p.allocate(0), p.constant()))
		p.mixSparse(&c.Sparse[i])
	}
	for i := range 4 {
		p.full(i < 3)
		p.mix(c.MDS)
	}
	return p.allocate(1)
}

// permutation keeps the state as linear combinations: state[j] is the sum of state[j][i] times basis[i].
type permutation struct {
	*Gadgets
	*poseidon.Constants
	round []fr.Element // the constants that are to come
	basis []Var
	state [][]fr.Element
}

func (p *permutation) constant() *fr.Element {
	c := &p.round[0]
	p.round = p.round[1:]
	return c
}

// set makes an element of the state a variable.
func (p *permutation) set(j int, v Var) {
	p.basis = append(p.basis, v)
	p.state[j] = make([]fr.Element, len(p.basis))
	p.state[j][len(p.basis)-1].SetOne()
}

// first is the first round. The S-box of the tag is computed.
func (p *permutation) first(tag fr.Element, inputs []Var) {
	p.state = make([][]fr.Element, p.Width)
	before := p.round[:p.Width]
	p.round = p.round[p.Width:]
	var x, fourth fr.Element
	x.Add(&tag, &before[0])
	fourth.Square(&x)
	fourth.Square(&fourth)
	x.Mul(&x, &fourth)
	x.Add(&x, p.constant())
	p.basis = []Var{one}
	p.state[0] = []fr.Element{x}
	for i, v := range inputs {
		x := []term{times(v, plus), times(one, p.Coefficient(before[i+1]))}
		p.set(i+1, p.power(x, p.constant()))
	}
}

// full is the S-boxes of a full round.
func (p *permutation) full(constants bool) {
	state := make([]Var, p.Width)
	for i := range state {
		v := p.allocate(i)
		var c *fr.Element
		if constants {
			c = p.constant()
		}
		state[i] = p.sbox(v, c)
	}
	p.basis = p.basis[:0]
	for i, v := range state {
		p.set(i, v)
	}
}

// allocate makes an element of the state a variable: combination·1 = v.
func (p *permutation) allocate(j int) Var {
	terms := make([]term, 0, len(p.state[j]))
	for i, c := range p.state[j] {
		if !c.IsZero() {
			terms = append(terms, times(p.basis[i], p.Coefficient(c)))
		}
	}
	v := p.Alloc()
	p.Enforce(terms, []term{times(one, plus)}, []term{times(v, plus)})
	return v
}

// sbox is v^5, plus a constant if there is one.
func (p *permutation) sbox(v Var, post *fr.Element) Var {
	return p.power([]term{times(v, plus)}, post)
}

// power is x^5, plus a constant: x·x = x2, x2·x2 = x4, x·x4 = x5 - constant.
func (p *permutation) power(x []term, post *fr.Element) Var {
	x2 := p.Alloc()
	p.Enforce(x, x, []term{times(x2, plus)})
	x4 := p.Alloc()
	p.Enforce([]term{times(x2, plus)}, []term{times(x2, plus)}, []term{times(x4, plus)})
	x5 := p.Alloc()
	result := []term{times(x5, plus)}
	if post != nil {
		var negative fr.Element
		negative.Neg(post)
		result = append(result, times(one, p.Coefficient(negative)))
	}
	p.Enforce(x, []term{times(x4, plus)}, result)
	return x5
}

// mix multiplies the state, as a row vector, by a matrix.
func (p *permutation) mix(m poseidon.Matrix) {
	out := make([][]fr.Element, len(p.state))
	for j := range out {
		out[j] = make([]fr.Element, len(p.basis))
		for i := range p.state {
			addScaled(out[j], p.state[i], &m[i][j])
		}
	}
	p.state = out
}

func (p *permutation) mixSparse(s *poseidon.Sparse) {
	first := make([]fr.Element, len(p.basis))
	for i := range p.state {
		addScaled(first, p.state[i], &s.Column[i])
	}
	for j := range s.Row {
		grown := make([]fr.Element, len(p.basis))
		copy(grown, p.state[j+1])
		addScaled(grown, p.state[0], &s.Row[j])
		p.state[j+1] = grown
	}
	p.state[0] = first
}

// addScaled adds a multiple of a combination, which may be shorter.
func addScaled(to, from []fr.Element, factor *fr.Element) {
	var t fr.Element
	for i := range from {
		if !from[i].IsZero() {
			to[i].Add(&to[i], t.Mul(&from[i], factor))
		}
	}
}
