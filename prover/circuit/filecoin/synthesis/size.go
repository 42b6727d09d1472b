package synthesis

import (
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/curve"
)

// WitnessBytes is the memory that a witness takes.
func WitnessBytes(s *structure.Structure) int64 {
	n := int64(s.Inputs) * curve.ScalarBytes
	for _, p := range s.Layout() {
		n += int64(p.Copies) * (int64((p.Aux+63)/64)*8 + int64(p.Full)*curve.ScalarBytes)
	}
	return n
}

// CompressedBytes is the memory that Compress takes.
func CompressedBytes(s *structure.Structure) int64 {
	n := int64(s.Constraints)
	for i := range s.Sections {
		section := &s.Sections[i]
		for _, l := range section.Template.Long[:2] {
			n += int64(section.Copies) * int64(len(l.Row)) * curve.ScalarBytes
		}
	}
	return n
}
