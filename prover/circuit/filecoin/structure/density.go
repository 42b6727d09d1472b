package structure

import (
	"math/bits"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Density tells which variables, inputs aside, occur in A or in B with a coefficient other than zero, without listing
// them: those of a template are the same in each copy, and few occur only in other sections.
type Density struct {
	matrix    int
	structure *Structure
	// outside lists, ascending, the variables that occur only outside of the section that allocates them.
	outside []int
}

// DensityA and DensityB are those of the two matrices. Of the inputs, all count in A, since bellman adds a row for each,
// and the one alone in B.
func (s *Structure) DensityA() *Density { return s.density(0) }
func (s *Structure) DensityB() *Density { return s.density(1) }

func (s *Structure) density(matrix int) *Density {
	d := &Density{matrix: matrix, structure: s}
	for i := range s.Sections {
		section := &s.Sections[i]
		t := section.Template
		d.mark(section.Bits, t.ExternalBits)
		d.mark(section.Full, t.ExternalFull)
	}
	slices.Sort(d.outside)
	d.outside = slices.Compact(d.outside)
	return d
}

func (d *Density) mark(sources []Var, occurs []Occurrence) {
	for i, v := range sources {
		o := occurs[i%len(occurs)]
		if occurs := [...]bool{o.A, o.B}[d.matrix]; occurs && v.kind() == aux && !d.inOwnSection(v.index()) {
			d.outside = append(d.outside, v.index())
		}
	}
}

// inOwnSection tells whether the section that allocates a variable has it in the matrix.
func (d *Density) inOwnSection(variable int) bool {
	part, _, local := d.structure.place(variable)
	return d.structure.Sections[part].Template.Occurs[d.matrix][local/64]>>(local%64)&1 == 1
}

// partOf is the number of the section that allocates a variable.
func (s *Structure) partOf(variable int) int {
	return s.partAt(variable, func(section *Section) (first, count int) {
		return section.FirstAux, section.Copies * section.Template.Aux
	})
}

// partAt is the number of the section within whose range a number lies. Ranges follow one another.
func (s *Structure) partAt(number int, of func(*Section) (first, count int)) int {
	i, _ := slices.BinarySearchFunc(s.Sections, number, func(section Section, number int) int {
		first, count := of(&section)
		switch {
		case number < first:
			return 1
		case number >= first+count:
			return -1
		}
		return 0
	})
	return i
}

// Count is the number of variables that occur.
func (d *Density) Count() int {
	n := len(d.outside)
	for i := range d.structure.Sections {
		section := &d.structure.Sections[i]
		ones := 0
		for _, word := range section.Template.Occurs[d.matrix] {
			ones += bits.OnesCount64(word)
		}
		n += section.Copies * ones
	}
	return n
}

// Bits is one bit a variable, least significant first.
func (d *Density) Bits() r1cs.Density {
	out := make(r1cs.Density, (d.structure.Aux+63)/64)
	for i := range d.structure.Sections {
		section := &d.structure.Sections[i]
		for c := range section.Copies {
			orBits(out, section.FirstAux+c*section.Template.Aux, section.Template.Occurs[d.matrix])
		}
	}
	for _, v := range d.outside {
		out[v/64] |= 1 << (v % 64)
	}
	return out
}

// orBits adds bits at an offset; those behind its end are zero.
func orBits(out []uint64, offset int, in []uint64) {
	word, shift := offset/64, offset%64
	for i, x := range in {
		if x == 0 {
			continue
		}
		out[word+i] |= x << shift
		if high := x >> (64 - shift); high != 0 {
			out[word+i+1] |= high
		}
	}
}

// Bits tells of each variable, inputs aside, whether it is a bit; one bit a variable, least significant first.
func (s *Structure) BitVariables() []uint64 {
	out := make([]uint64, (s.Aux+63)/64)
	for i := range s.Sections {
		section := &s.Sections[i]
		local := section.Template.bitVariables()
		for c := range section.Copies {
			orBits(out, section.FirstAux+c*section.Template.Aux, local)
		}
	}
	return out
}

func (t *Template) bitVariables() []uint64 {
	out := make([]uint64, (t.Aux+63)/64)
	for i := range t.Aux {
		out[i/64] |= 1 << (i % 64)
	}
	for _, i := range t.Full {
		out[i/64] &^= 1 << (i % 64)
	}
	return out
}
