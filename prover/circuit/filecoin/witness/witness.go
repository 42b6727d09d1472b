// Package witness holds the witnesses of Filecoin's circuits as they are made: bits as bits, field elements apart. Almost
// all variables are bits, so a partition takes some 70 MB where elements for all would take 4 GB.
package witness

import (
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/internal/buffer"
)

// Part is a section of a circuit: how many copies of a block it has, and how many inputs and variables each copy allocates,
// Full of which are no bits.
type Part struct{ Copies, Inputs, Aux, Full int }

// words is the number of words that a copy's bits take.
func (p Part) words() int { return (p.Aux + 63) / 64 }

// Witness is the assignment of a circuit, in Montgomery form.
type Witness struct {
	// Inputs are the public inputs of all parts, after the one.
	Inputs []fr.Element
	Parts  []Assignment
	memory *buffer.Buffer
}

// Assignment is the part of a witness that belongs to a section.
type Assignment struct {
	Part
	firstInput int
	bits       []uint64
	full       []fr.Element
}

// Bits has one bit for each variable that a copy allocates, the first in the least significant bit of the first word. That of
// a variable that is no bit is zero.
func (a *Assignment) Bits(i int) []uint64 { return a.bits[i*a.words():][:a.words()] }

// Full are the values of the variables of a copy that are no bits, in order.
func (a *Assignment) Full(i int) []fr.Element { return a.full[i*a.Part.Full:][:a.Part.Full] }

// New allocates a witness; it must be freed.
func New(layout []Part) (*Witness, error) {
	inputs, words, full := 1, 0, 0
	for _, p := range layout {
		inputs += p.Copies * p.Inputs
		words += p.Copies * p.words()
		full += p.Copies * p.Full
	}
	const wordsPerScalar = curve.ScalarBytes / 8
	memory, err := buffer.New(inputs + full + (words+wordsPerScalar-1)/wordsPerScalar)
	if err != nil {
		return nil, err
	}
	scalars := memory.Scalars()
	elements := unsafe.Slice((*fr.Element)(unsafe.Pointer(unsafe.SliceData(scalars))), inputs+full)
	allBits := unsafe.Slice((*uint64)(unsafe.Pointer(&scalars[:inputs+full+1][inputs+full])), words)
	w := &Witness{Inputs: elements[:inputs], memory: memory}
	w.Inputs[0].SetOne()
	elements = elements[inputs:]
	first := 1
	for _, p := range layout {
		a := Assignment{Part: p, firstInput: first, bits: allBits[:p.Copies*p.words()], full: elements[:p.Copies*p.Full]}
		allBits, elements = allBits[len(a.bits):], elements[len(a.full):]
		first += p.Copies * p.Inputs
		w.Parts = append(w.Parts, a)
	}
	return w, nil
}

// Free clears the witness and gives its memory back.
func (w *Witness) Free() {
	if w != nil {
		w.memory.Free()
		w.Inputs, w.Parts = nil, nil
	}
}

// Bytes is the memory that the witness occupies.
func (w *Witness) Bytes() int64 { return int64(len(w.memory.Scalars())) * curve.ScalarBytes }
