package groth16

import (
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// KeyShape is what is known of a proving key before its points are read, and what its need of memory follows from.
type KeyShape struct {
	Curve         curve.ID
	Wires, Domain int
	// Points are the numbers of points of the sections.
	Points [SectionH + 1]int
	// Resident is KeySource's: points that are mapped take no memory of their own.
	Resident bool
}

// ShapeOf is the shape of a key; nothing of its points is read.
func ShapeOf(src KeySource) KeyShape {
	s := KeyShape{Curve: src.Curve(), Wires: src.Wires(), Domain: src.Domain(), Resident: src.Resident()}
	for i := SectionA; i <= SectionB2; i++ {
		s.Points[i] = src.Wires() - countBits(src.Absent(i), src.Wires())
	}
	s.Points[SectionL] = src.Wires() - src.Public() - 1 - len(src.Committed())
	s.Points[SectionH] = src.Domain() - 1
	if src.Layout() == LayoutSnarkjs {
		s.Points[SectionH] = src.Domain()
	}
	return s
}

// PointBytes is the size of all points as raw limbs.
func (s KeyShape) PointBytes() int64 {
	var n int64
	for section := range s.Points {
		n += s.SectionBytes(Section(section))
	}
	return n
}

// SectionBytes is the size of a section's points as raw limbs.
func (s KeyShape) SectionBytes(section Section) int64 {
	return int64(s.Points[section]) * int64(s.PointSize(section))
}

// PointSize is the size of one point of a section.
func (s KeyShape) PointSize(section Section) int {
	if section == SectionB2 {
		return s.Curve.G2Bytes()
	}
	return s.Curve.G1Bytes()
}

// countBits counts the set bits among the first n.
func countBits(words []uint64, n int) int {
	count := 0
	for i, w := range words {
		if rest := n - 64*i; rest < 64 {
			w &= 1<<max(0, rest) - 1
		}
		count += bits.OnesCount64(w)
	}
	return count
}
