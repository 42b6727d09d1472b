// Package constraints records the gadgets of Filecoin's circuits, with the variables and constraints that the reference
// implementation (bellperson, neptune, storage-proofs) gives them, in its order.
package constraints

import "github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"

// Boolean is a constant, a bit, or the negation of one. The zero value is false.
type Boolean struct {
	v        structure.Var // 0 for a constant
	inverted bool
}

// The constants.
var (
	False = Boolean{}
	True  = Boolean{inverted: true}
)

func is(v structure.Var) Boolean       { return Boolean{v: v} }
func (b Boolean) not() Boolean         { return Boolean{b.v, !b.inverted} }
func (b Boolean) notIf(c bool) Boolean { return Boolean{b.v, b.inverted != c} }
func (b Boolean) isConstant() bool     { return b.v == 0 }
func constant(value bool) Boolean      { return Boolean{inverted: value} }

// Var is a variable.
type Var = structure.Var

type term = structure.Term

const (
	one   = structure.One
	plus  = structure.Plus
	minus = structure.Minus
	twice = structure.Twice
)

// times is a term.
func times(v Var, c structure.Coefficient) term { return term{Var: v, Coefficient: c} }

// terms appends a Boolean, or its negative.
func (b Boolean) terms(to []term, negative bool) []term {
	coefficient, opposite := plus, minus
	if negative {
		coefficient, opposite = minus, plus
	}
	if b.inverted {
		to = append(to, times(one, coefficient))
		coefficient = opposite
	}
	if !b.isConstant() {
		to = append(to, times(b.v, coefficient))
	}
	return to
}

// bit allocates a bit: (1 - v)·v = 0.
func (g *Gadgets) bit() Boolean {
	v := g.AllocBit()
	g.Enforce([]term{times(one, plus), times(v, minus)}, []term{times(v, plus)}, nil)
	return is(v)
}

func (g *Gadgets) bits(n int) []Boolean {
	out := make([]Boolean, n)
	for i := range out {
		out[i] = g.bit()
	}
	return out
}

// xor: 2a·b = a + b - c. Of two operands of which one is inverted, the plain one is a.
func (g *Gadgets) xor(a, b Boolean) Boolean {
	switch {
	case a.isConstant():
		return b.notIf(a.inverted)
	case b.isConstant():
		return a.notIf(b.inverted)
	case a.inverted && !b.inverted:
		a, b = b, a
	}
	c := g.AllocBit()
	g.Enforce([]term{times(a.v, twice)}, []term{times(b.v, plus)}, []term{times(a.v, plus), times(b.v, plus), times(c, minus)})
	return is(c).notIf(a.inverted != b.inverted)
}

// and: a·b = c, with a and b as they are, plain or inverted; the plain one of two is a.
func (g *Gadgets) and(a, b Boolean) Boolean {
	switch {
	case a == False || b == False:
		return False
	case a == True:
		return b
	case b == True:
		return a
	case a.inverted && !b.inverted:
		a, b = b, a
	}
	c := g.AllocBit()
	var x, y [2]term
	g.Enforce(a.terms(x[:0], false), b.terms(y[:0], false), []term{times(c, plus)})
	return is(c)
}

// choose is (a ∧ b) ⊕ (¬a ∧ c): (b - c)·a = ch - c.
func (g *Gadgets) choose(a, b, c Boolean) Boolean {
	switch {
	case a.isConstant() && b.isConstant() && c.isConstant():
		if a == True {
			return b
		}
		return c
	case a == False:
		return c
	case b == False:
		return g.and(a.not(), c)
	case c == False:
		return g.and(a, b)
	case c == True:
		return g.and(a, b.not()).not()
	case b == True:
		return g.and(a.not(), c.not()).not()
	}
	ch := g.AllocBit()
	var x, y, z [4]term
	g.Enforce(c.terms(b.terms(x[:0], false), true), a.terms(y[:0], false), c.terms(append(z[:0], times(ch, plus)), true))
	return is(ch)
}

// majority has its result allocated before b ∧ c: (2bc - b - c)·a = bc - maj.
func (g *Gadgets) majority(a, b, c Boolean) Boolean {
	switch {
	case a.isConstant() && b.isConstant() && c.isConstant():
		return constant(a == b && a == True || b == c && b == True || a == c && a == True)
	case a == False:
		return g.and(b, c)
	case b == False:
		return g.and(a, c)
	case c == False:
		return g.and(a, b)
	case c == True:
		return g.and(a.not(), b.not()).not()
	case b == True:
		return g.and(a.not(), c.not()).not()
	case a == True:
		return g.and(b.not(), c.not()).not()
	}
	maj := g.AllocBit()
	bc := g.and(b, c)
	var x [6]term
	g.Enforce(c.terms(b.terms(append(x[:0], times(bc.v, twice)), true), true),
		a.terms(nil, false), []term{times(bc.v, plus), times(maj, minus)})
	return is(maj)
}
