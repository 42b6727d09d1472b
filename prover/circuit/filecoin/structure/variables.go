package structure

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
)

// Variables writes the values of variables first, first+1, …, inputs aside, to dst, in Montgomery form.
func (s *Structure) Variables(w *witness.Witness, first int, dst []fr.Element) {
	for len(dst) > 0 {
		part, i, local := s.place(first)
		t := s.Sections[part].Template
		n := min(len(dst), t.Aux-local)
		t.expand(w.Parts[part].Bits(i), w.Parts[part].Full(i), local, dst[:n])
		dst = dst[n:]
		first += n
	}
}

// expand writes the values of a copy's variables from local on.
func (t *Template) expand(bits []uint64, full []fr.Element, local int, dst []fr.Element) {
	for k := range dst {
		i := local + k
		dst[k] = smallValues[bits[i/64]>>(i%64)&1]
	}
	for rank := t.fullRank(local); rank < len(t.Full) && int(t.Full[rank]) < local+len(dst); rank++ {
		dst[int(t.Full[rank])-local] = full[rank]
	}
}
