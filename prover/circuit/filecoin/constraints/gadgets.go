package constraints

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
)

// Gadgets records what a circuit's description does. It is the gadget.System of structures: numbers are variables, values
// are ignored.
type Gadgets struct {
	*structure.Recorder
	equalities equalities
	powers     [fr.Bits]fr.Element
}

// System is the form of gadget.System that Gadgets has.
type System = gadget.System[structure.Var, Boolean, []Boolean]

var _ System = (*Gadgets)(nil)

// New records on a recorder.
func New(r *structure.Recorder) *Gadgets {
	g := &Gadgets{Recorder: r}
	g.equalities.g = g
	g.powers[0].SetOne()
	for i := range g.powers[1:] {
		g.powers[i+1].Double(&g.powers[i])
	}
	return g
}

// Record runs a circuit's description and returns its structure.
func Record(describe func(System)) *structure.Structure {
	r := structure.NewRecorder()
	describe(New(r))
	return r.Structure()
}

// Num allocates a number.
func (g *Gadgets) Num(fr.Element) Var { return g.Alloc() }

// Input makes a number a public input: input·1 = n.
func (g *Gadgets) Input(n Var) {
	g.Enforce([]term{times(g.Recorder.Input(), plus)}, []term{times(one, plus)}, []term{times(n, plus)})
}

// Equal: a·1 = b.
func (g *Gadgets) Equal(a, b Var) {
	g.Enforce([]term{times(a, plus)}, []term{times(one, plus)}, []term{times(b, plus)})
}

// Product: a·b = c.
func (g *Gadgets) Product(a, b Var) Var {
	c := g.Alloc()
	g.Enforce([]term{times(a, plus)}, []term{times(b, plus)}, []term{times(c, plus)})
	return c
}

// Gate: n·bit = c.
func (g *Gadgets) Gate(n Var, bit Boolean) Var {
	c := g.Alloc()
	g.Enforce([]term{times(n, plus)}, bit.terms(nil, false), []term{times(c, plus)})
	return c
}

// Sum: (Σ numbers)·1 = c.
func (g *Gadgets) Sum(numbers ...Var) Var {
	c := g.Alloc()
	terms := make([]term, 0, len(numbers))
	for _, n := range numbers {
		terms = append(terms, times(n, plus))
	}
	g.Enforce(terms, []term{times(one, plus)}, []term{times(c, plus)})
	return c
}

// Affine: (factor·n + constant)·1 = c.
func (g *Gadgets) Affine(n Var, factor, constant uint64) Var {
	c := g.Alloc()
	a := []term{times(n, g.small(factor)), times(one, g.small(constant))}
	g.Enforce(a, []term{times(one, plus)}, []term{times(c, plus)})
	return c
}

func (g *Gadgets) small(value uint64) structure.Coefficient {
	return g.Coefficient(fr.NewElement(value))
}

// Bit allocates a bit.
func (g *Gadgets) Bit(bool) Boolean { return g.bit() }

// Neither allocates ¬a ∧ ¬b, Both a ∧ b.
func (g *Gadgets) Neither(a, b Boolean) Boolean { return g.and(a.not(), b.not()) }
func (g *Gadgets) Both(a, b Boolean) Boolean    { return g.and(a, b) }

// Pick is cond ? a : b: (b - a)·cond = b - c.
func (g *Gadgets) Pick(cond Boolean, a, b Var) Var {
	c := g.Alloc()
	g.Enforce([]term{times(b, plus), times(a, minus)}, cond.terms(nil, false), []term{times(b, plus), times(c, minus)})
	return c
}

// binary allocates the bits of a number: 0·0 = Σ 2^i·b_i - n.
func (g *Gadgets) binary(n Var) []Boolean {
	bits := g.bits(fr.Bits)
	g.Enforce(nil, nil, append(g.weighted(bits), times(n, minus)))
	return bits
}

// Binary: (Σ 2^i·b_i)·1 = n.
func (g *Gadgets) Binary(n Var) []Boolean {
	bits := g.bits(fr.Bits)
	g.Enforce(g.weighted(bits), []term{times(one, plus)}, []term{times(n, plus)})
	return bits
}

// weighted is Σ 2^i·b_i.
func (g *Gadgets) weighted(bits []Boolean) []term {
	terms := make([]term, 0, len(bits)+1)
	var constant fr.Element
	for i, b := range bits {
		if b.inverted {
			constant.Add(&constant, &g.powers[i])
		}
		if !b.isConstant() {
			terms = append(terms, times(b.v, g.Power(i, b.inverted)))
		}
	}
	return append(terms, times(one, g.Coefficient(constant)))
}

// Pack allocates the number that at most 254 bits are: (Σ 2^i·b_i)·1 = n.
func (g *Gadgets) Pack(bits []Boolean) Var {
	n := g.Alloc()
	g.Enforce(g.weighted(bits[:min(len(bits), sumCapacity)]), []term{times(one, plus)}, []term{times(n, plus)})
	return n
}

// PackInput makes at most 254 bits a public input: (Σ 2^i·b_i)·1 = input.
func (g *Gadgets) PackInput(bits []Boolean) {
	n := g.Recorder.Input()
	g.Enforce(g.weighted(bits), []term{times(one, plus)}, []term{times(n, plus)})
}

// CheckPacked: (Σ 2^i·b_i)·1 = n.
func (g *Gadgets) CheckPacked(bits []Boolean, n Var) {
	g.Enforce(g.weighted(bits), []term{times(one, plus)}, []term{times(n, plus)})
}

// Bytes allocates the bits of a number and returns them as a hash takes them: bytes in little-endian order, the most
// significant bit of each first.
func (g *Gadgets) Bytes(n Var) []Boolean { return reverseBytes(append(g.binary(n), False)) }

// reverseBytes reverses each group of eight bits.
func reverseBytes(bits []Boolean) []Boolean {
	out := make([]Boolean, len(bits))
	for i := range bits {
		out[i] = bits[i^7]
	}
	return out
}

// LabelHeader is the layer and node that a label hashes, in 32 bytes.
func (g *Gadgets) LabelHeader(layer uint32, node []Boolean) []Boolean {
	out := make([]Boolean, 0, 256)
	for i := 31; i >= 0; i-- {
		out = append(out, constant(layer>>i&1 == 1))
	}
	for i := len(node) - 1; i >= 0; i-- {
		out = append(out, node[i])
	}
	return append(out, make([]Boolean, 256-len(out))...)
}

// SHA256 hashes chunks of 32 bytes and packs the digest's first 254 bits.
func (g *Gadgets) SHA256(chunks [][]Boolean) Var {
	var message []Boolean
	for _, c := range chunks {
		message = append(message, c...)
	}
	return g.Pack(reverseBytes(g.sha256(message)))
}

// Blocks records the first of the copies.
func (g *Gadgets) Blocks(copies int, arguments func(int) gadget.Arguments[Var, Boolean],
	body func(s System, i int, a gadget.Arguments[Var, Boolean]) []Var) [][]Var {
	given := arguments(0)
	return g.Block(copies, func(i int) []Var {
		a := arguments(i)
		vars := append([]Var(nil), a.Numbers...)
		for _, b := range a.Bits {
			if b.isConstant() || b.inverted {
				panic("a block takes bits that are allocated only")
			}
			vars = append(vars, b.v)
		}
		return vars
	}, func(vars []Var) []Var {
		a := gadget.Arguments[Var, Boolean]{Numbers: vars[:len(given.Numbers)]}
		for _, v := range vars[len(given.Numbers):] {
			a.Bits = append(a.Bits, is(v))
		}
		return body(g, 0, a)
	})
}
