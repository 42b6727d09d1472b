package structure

import (
	"fmt"
	"math"
	"slices"
)

// builder gathers the rows of one section. Columns of small rows are resolved at once, but for those from outside, whose
// slots follow the block's own variables; columns of long rows stay Vars until the section is complete.
type builder struct {
	recorder                       *Recorder
	firstInput, firstAux, firstRow int
	t                              Template
	bits, full                     externals
}

// externals are variables from outside, in order of first use.
type externals struct {
	vars   []Var
	number map[Var]int
	occurs []Occurrence
}

func (e *externals) find(v Var) int {
	n, ok := e.number[v]
	if !ok {
		if e.number == nil {
			e.number = make(map[Var]int)
		}
		n = len(e.vars)
		e.number[v] = n
		e.vars = append(e.vars, v)
		e.occurs = append(e.occurs, Occurrence{})
	}
	return n
}

func newBuilder(r *Recorder, firstInput, firstAux, firstRow int) *builder {
	b := &builder{recorder: r, firstInput: firstInput, firstAux: firstAux, firstRow: firstRow}
	for i := range b.t.Long {
		b.t.Long[i].Start = []uint32{0}
	}
	return b
}

func (b *builder) alloc(bit bool) Var {
	if !bit {
		b.t.Full = append(b.t.Full, uint32(b.t.Aux))
	}
	if b.t.Aux%64 == 0 {
		b.t.Occurs[0] = append(b.t.Occurs[0], 0)
		b.t.Occurs[1] = append(b.t.Occurs[1], 0)
	}
	b.t.Aux++
	return makeVar(aux, b.firstAux+b.t.Aux-1, bit)
}

func (b *builder) input() Var {
	b.t.Inputs++
	return makeVar(input, b.firstInput+b.t.Inputs-1, false)
}

// isLocal tells whether the variable is one of the section's own.
func (b *builder) isLocal(v Var) bool {
	switch v.kind() {
	case aux:
		return v.index() >= b.firstAux
	case input:
		return v.index() >= b.firstInput
	}
	return false
}

// row adds a row of sorted terms.
func (b *builder) row(x, y, z []Term) {
	if b.t.Rows == math.MaxUint32 {
		panic("too many constraints")
	}
	for m, terms := range [][]Term{x, y, z} {
		b.t.Entries[m] += len(terms)
	}
	b.occur(0, x)
	b.occur(1, y)
	var p Product
	var s Sum
	if !b.small(x, p.A[:]) {
		b.long(0, x)
	}
	if !b.smallFactor(y, &p.B) {
		b.long(1, y)
	}
	if !b.small(z, s[:]) {
		b.long(2, z)
	}
	b.t.Products = append(b.t.Products, p)
	b.t.Sums = append(b.t.Sums, s)
	b.t.Rows++
}

// occur marks the variables of a row of A or B.
func (b *builder) occur(matrix int, terms []Term) {
	for _, t := range terms {
		switch {
		case t.Var == One:
		case t.Var.kind() == aux && t.Var.index() >= b.firstAux:
			i := t.Var.index() - b.firstAux
			b.t.Occurs[matrix][i/64] |= 1 << (i % 64)
		case b.isLocal(t.Var):
			b.inputOccurs(matrix, t.Var)
		default:
			e := &b.full
			if t.Var.IsBit() {
				e = &b.bits
			}
			o := &e.occurs[e.find(t.Var)]
			o.A, o.B = o.A || matrix == 0, o.B || matrix == 1
		}
	}
}

// inputOccurs refuses what no circuit of Filecoin has, and what densities therefore need not tell: an input in B.
func (b *builder) inputOccurs(matrix int, v Var) {
	if matrix == 1 {
		panic(fmt.Sprintf("%s occurs in B", v))
	}
}

// smallCoefficients are those of terms of small rows, by number in the dictionary.
var smallCoefficients = [firstOther]int{Plus: 1, Minus: -1, Twice: 2}

// small writes terms of bits with small coefficients to out, unless there are others, or too many, or their sum can leave
// the range.
func (b *builder) small(terms []Term, out []Small) bool {
	if len(terms) > len(out) {
		return false
	}
	low, high := 0, 0
	for _, t := range terms {
		if !t.Var.IsBit() || t.Coefficient >= firstOther {
			return false
		}
		c := smallCoefficients[t.Coefficient]
		low, high = low+min(c, 0), high+max(c, 0)
	}
	if low < smallest || high > largest {
		return false
	}
	for i, t := range terms {
		out[i] = b.smallTerm(t)
	}
	return true
}

// smallFactor writes B where it is nothing, a bit or the complement of one.
func (b *builder) smallFactor(terms []Term, out *Small) bool {
	switch {
	case len(terms) == 0:
		return true
	case len(terms) == 1 && terms[0].Var.IsBit() && terms[0].Coefficient == Plus:
		*out = b.smallTerm(terms[0])
		return true
	case len(terms) == 2 && terms[0] == Term{One, Plus} && terms[1].Var.IsBit() && terms[1].Coefficient == Minus:
		*out = b.smallTerm(terms[1])
		return true
	}
	return false
}

// While a section is recorded, slots from externalSlot on stand for the externals, the last for the one.
const (
	externalSlot = 1 << 28
	pendingOne   = 1<<29 - 1
)

func (b *builder) smallTerm(t Term) Small {
	var slot int
	switch {
	case t.Var == One:
		slot = pendingOne
	case t.Var.kind() == aux && t.Var.index() >= b.firstAux:
		slot = t.Var.index() - b.firstAux
	default:
		slot = externalSlot + b.bits.find(t.Var)
	}
	return Small(slot)<<3 | Small(smallCoefficients[t.Coefficient]&7)
}

// long adds a row to the long ones of a matrix, bits first.
func (b *builder) long(matrix int, terms []Term) {
	l := &b.t.Long[matrix]
	l.Row = append(l.Row, uint32(b.t.Rows))
	add := func(t Term) {
		if t.Coefficient > math.MaxUint16 {
			panic("too many different coefficients")
		}
		if !b.isLocal(t.Var) && t.Var != One {
			if t.Var.IsBit() {
				b.bits.find(t.Var)
			} else {
				b.full.find(t.Var)
			}
		}
		l.Slot = append(l.Slot, uint32(t.Var))
		l.Coefficient = append(l.Coefficient, uint16(t.Coefficient))
	}
	for _, t := range terms {
		if t.Var.IsBit() {
			add(t)
		}
	}
	l.Split = append(l.Split, uint32(len(l.Slot)))
	for _, t := range terms {
		if !t.Var.IsBit() {
			add(t)
		}
	}
	l.Start = append(l.Start, uint32(len(l.Slot)))
}

// template resolves what is left and returns the section's rows.
func (b *builder) template() *Template {
	t := &b.t
	t.BitExternals, t.FullExternals = len(b.bits.vars), len(b.full.vars)
	t.ExternalBits, t.ExternalFull = b.bits.occurs, b.full.occurs
	for i := range t.Products {
		p := &t.Products[i]
		for j := range p.A {
			p.A[j] = t.resolve(p.A[j])
		}
		p.B = t.resolve(p.B)
		for j := range t.Sums[i] {
			t.Sums[i][j] = t.resolve(t.Sums[i][j])
		}
	}
	for m := range t.Long {
		for i, v := range t.Long[m].Slot {
			t.Long[m].Slot[i] = b.slot(Var(v))
		}
	}
	t.rank()
	return t
}

// resolve replaces the slot that stands for an external, or for the one, while a section is recorded.
func (t *Template) resolve(s Small) Small {
	slot := s.slot()
	switch {
	case slot < externalSlot:
		return s
	case slot == pendingOne:
		slot = t.oneSlot()
	default:
		slot += uint32(t.Aux) - externalSlot
	}
	return Small(slot)<<3 | s&7
}

// slot is where a term of a long row finds its value.
func (b *builder) slot(v Var) uint32 {
	t := &b.t
	switch {
	case v == One:
		return t.oneSlot()
	case v.kind() == aux && b.isLocal(v):
		local := uint32(v.index() - b.firstAux)
		if v.IsBit() {
			return local
		}
		rank, _ := slices.BinarySearch(t.Full, local)
		return uint32(rank)
	case b.isLocal(v):
		return uint32(len(t.Full) + v.index() - b.firstInput)
	case v.IsBit():
		return uint32(t.Aux + b.bits.number[v])
	}
	return uint32(len(t.Full) + t.Inputs + b.full.number[v])
}

// section puts a template in its place. Where copies have arguments, each has its own externals.
func (b *builder) section(t *Template, copies int, arguments [][]Var) Section {
	s := Section{Template: t, Copies: copies, FirstInput: b.firstInput, FirstAux: b.firstAux, FirstRow: b.firstRow}
	s.Bits = sources(b.bits.vars, arguments)
	s.Full = sources(b.full.vars, arguments)
	return s
}

// sources lists the externals of one copy, if they are the same in all, else of each copy after the other.
func sources(vars []Var, arguments [][]Var) []Var {
	if !slices.ContainsFunc(vars, func(v Var) bool { return v.kind() == argument }) {
		return vars
	}
	out := make([]Var, 0, len(vars)*len(arguments))
	for _, given := range arguments {
		for _, v := range vars {
			if v.kind() == argument {
				v = given[v.index()]
			}
			out = append(out, v)
		}
	}
	return out
}
