package synthesis

import (
	"context"
	"sort"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// BitWires tells of each wire, inputs first, whether it is a bit; one bit a wire, least significant first.
func BitWires(s *structure.Structure) []uint64 {
	out := make([]uint64, (s.Inputs+s.Aux+63)/64)
	orBits(out, s.Inputs, s.BitVariables())
	return out
}

// Pack is a witness for a backend that evaluates constraints itself; bits is BitWires of the circuit. It shares the
// witness's elements, which must be freed later.
func Pack(s *structure.Structure, w *witness.Witness, bits []uint64) groth16.Packed {
	values := make([]uint64, len(bits))
	pieces := [][]fr.Element{w.Inputs}
	for i := range s.Sections {
		section := &s.Sections[i]
		for c := range section.Copies {
			orBits(values, s.Inputs+section.FirstAux+c*section.Template.Aux, w.Parts[i].Bits(c))
			pieces = append(pieces, w.Parts[i].Full(c))
		}
	}
	return groth16.Packed{Bits: bits, Values: values, Witness: newPieces(pieces)}
}

// orBits adds bits at an offset; those behind the end are zero.
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

// pieces are elements in Montgomery form that lie in several places, one after the other.
type pieces struct {
	all   [][]fr.Element
	start []int // of each, and the end
}

func newPieces(all [][]fr.Element) *pieces {
	p := &pieces{all: all, start: make([]int, 1, len(all)+1)}
	for _, piece := range all {
		p.start = append(p.start, p.Len()+len(piece))
	}
	return p
}

func (p *pieces) Len() int           { return p.start[len(p.start)-1] }
func (p *pieces) Form() groth16.Form { return groth16.Montgomery }

func (p *pieces) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	out := elements(dst)
	for i := p.find(offset); len(out) > 0; i++ {
		n := copy(out, p.all[i][offset-p.start[i]:])
		out, offset = out[n:], offset+n
	}
	return nil
}

// find is the piece that holds the element at an offset.
func (p *pieces) find(offset int) int {
	return sort.Search(len(p.all), func(i int) bool { return p.start[i+1] > offset })
}
