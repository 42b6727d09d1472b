package witness

import (
	"errors"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// Writer fills in one copy of a part, in the order of allocation. What there is no place for, because the part is another
// circuit's, goes nowhere; Check tells.
type Writer struct {
	bits         []uint64
	at           int // the number of variables written
	full, inputs []fr.Element
	aux          int
	overflow     bool
}

// Writer writes copy i of a part; different copies may be written at the same time.
func (w *Witness) Writer(part, i int) *Writer {
	a := &w.Parts[part]
	return &Writer{
		bits: a.Bits(i), full: a.Full(i), aux: a.Aux,
		inputs: w.Inputs[a.firstInput+i*a.Inputs:][:a.Inputs],
	}
}

// Check tells whether all was written that the part has.
func (w *Writer) Check() error {
	if w.overflow || w.at != w.aux || len(w.full) > 0 || len(w.inputs) > 0 {
		return errors.New("the witness is not that of this circuit: another number of bits, elements or inputs")
	}
	return nil
}

// Bits allocates n bits, at most 64, the least significant first. Those above must be zero.
func (w *Writer) Bits(value uint64, n int) {
	if w.at+n > w.aux {
		w.overflow = true
		return
	}
	word, shift := w.at/64, w.at%64
	w.bits[word] |= value << shift
	if shift+n > 64 {
		w.bits[word+1] |= value >> (64 - shift)
	}
	w.at += n
}

// Masked allocates the bits of a word that a mask selects.
func (w *Writer) Masked(value, mask uint32) {
	if mask == 1<<32-1 {
		w.Bits(uint64(value), 32)
		return
	}
	n, packed := 0, uint64(0)
	for ; mask != 0; mask, value = mask>>1, value>>1 {
		packed |= uint64(value&mask&1) << n
		n += int(mask & 1)
	}
	w.Bits(packed, n)
}

// Num allocates an element.
func (w *Writer) Num(e fr.Element) { w.Nums(1)[0] = e }

// Nums allocates n elements, for the caller to write.
func (w *Writer) Nums(n int) []fr.Element {
	if n > len(w.full) {
		w.overflow = true
		return make([]fr.Element, n)
	}
	out := w.full[:n:n]
	w.full = w.full[n:]
	w.at += n
	return out
}

// Input allocates a public input.
func (w *Writer) Input(e fr.Element) {
	if len(w.inputs) == 0 {
		w.overflow = true
		return
	}
	w.inputs[0] = e
	w.inputs = w.inputs[1:]
}
