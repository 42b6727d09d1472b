package structure

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
)

// groupSize is how many copies of a block are evaluated together: the bits that one slot has in all of them are a word.
const groupSize = 32

// group is the values of some copies of a section, by slot.
type group struct {
	section *Section
	part    int // number of the section
	first   int // copy
	copies  int
	// slices has a word for each bit slot; bit q is the value in copy first+q. Bits beyond the copies are undefined.
	slices []uint32
	// full has the elements of each copy.
	full [][]fr.Element
}

// group gathers the values of copies first, first+1, … It reuses the memory of an earlier one.
func (s *Structure) group(w *witness.Witness, part, first int, reuse *group) *group {
	section := &s.Sections[part]
	t := section.Template
	g := &group{section: section, part: part, first: first, copies: min(groupSize, section.Copies-first)}
	if n := t.Aux + t.BitExternals + 1; reuse != nil && cap(reuse.slices) >= n {
		g.slices = reuse.slices[:n]
	} else {
		g.slices = make([]uint32, n)
	}
	g.sliceBits(&w.Parts[part])
	external := g.slices[t.Aux:]
	clear(external)
	for q := range g.copies {
		for e, v := range ofCopy(section.Bits, t.BitExternals, first+q) {
			external[e] |= s.bitValue(w, v) << q
		}
		g.full = append(g.full, s.fullValues(w, part, first+q))
	}
	external[t.BitExternals] = 1<<32 - 1
	return g
}

// sliceBits turns the bits of each copy into words of all copies.
func (g *group) sliceBits(a *witness.Assignment) {
	var rows [groupSize][]uint64
	for q := range g.copies {
		rows[q] = a.Bits(g.first + q)
	}
	aux := g.slices[:a.Aux]
	var square [32]uint32
	for start := 0; start < len(aux); start += 32 {
		clear(square[:])
		for q := range g.copies {
			square[q] = uint32(rows[q][start/64] >> (start % 64))
		}
		transpose(&square)
		copy(aux[start:], square[:])
	}
}

// transpose exchanges rows and columns of a matrix of bits (Warren, Hacker's Delight, 7-3).
func transpose(a *[32]uint32) {
	mask := uint32(0x0000ffff)
	for j := 16; j != 0; j >>= 1 {
		for k := 0; k < 32; k = (k + j + 1) &^ j {
			t := (a[k]>>j ^ a[k+j]) & mask
			a[k] ^= t << j
			a[k+j] ^= t
		}
		mask ^= mask << (j >> 1)
	}
}

// fullValues are the elements of one copy by slot: its variables, its inputs, what it takes from outside. Where it has no
// more than variables they are not copied.
func (s *Structure) fullValues(w *witness.Witness, part, i int) []fr.Element {
	section := &s.Sections[part]
	t := section.Template
	own := w.Parts[part].Full(i)
	if t.Inputs+t.FullExternals == 0 {
		return own
	}
	out := make([]fr.Element, 0, len(own)+t.Inputs+t.FullExternals)
	out = append(out, own...)
	out = append(out, w.Inputs[section.FirstInput+i*t.Inputs:][:t.Inputs]...)
	for _, v := range ofCopy(section.Full, t.FullExternals, i) {
		out = append(out, s.fullValue(w, v))
	}
	return out
}

// place is the section, the copy and the number in it of a variable.
func (s *Structure) place(variable int) (part, i, local int) {
	part = s.partOf(variable)
	section := &s.Sections[part]
	local = variable - section.FirstAux
	return part, local / section.Template.Aux, local % section.Template.Aux
}

func (s *Structure) bitValue(w *witness.Witness, v Var) uint32 {
	part, i, local := s.place(v.index())
	return uint32(w.Parts[part].Bits(i)[local/64]>>(local%64)) & 1
}

func (s *Structure) fullValue(w *witness.Witness, v Var) fr.Element {
	if v.kind() == input {
		return w.Inputs[v.index()]
	}
	part, i, local := s.place(v.index())
	return w.Parts[part].Full(i)[s.Sections[part].Template.fullRank(local)]
}
