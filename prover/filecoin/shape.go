package filecoin

import "math/bits"

// PoRepShape is what the circuit of a PoRep depends on, with the number of partitions of a proof.
type PoRepShape struct {
	Sector SectorSize
	Layers int
	// Partitions of one proof, each with so many Challenges.
	Partitions, Challenges int
}

// DRGParents and ExpanderParents are the numbers of a node's parents in its own layer and in the layer before.
const (
	DRGParents      = 6
	ExpanderParents = 8
)

// LabelParents is the number of parents that a label hashes; the node's own parents are repeated up to it.
const LabelParents = 37

// PoRepShapeOf is the shape of a size's registered proofs; the non-interactive ones have more partitions.
func PoRepShapeOf(size SectorSize) PoRepShape {
	if size >= Sector32GiB {
		return PoRepShape{Sector: size, Layers: 11, Partitions: 10, Challenges: 18}
	}
	return PoRepShape{Sector: size, Layers: 2, Partitions: 1, Challenges: 2}
}

// PoRepTestShape is registered nowhere: the smallest in which partitions have an order.
var PoRepTestShape = PoRepShape{Sector: Sector2KiB, Layers: 2, Partitions: 2, Challenges: 2}

// PublicInputs of one partition, without the one.
func (s PoRepShape) PublicInputs() int { return 3 + s.Challenges*(4+DRGParents+ExpanderParents) }

// PoStShape is what the circuit of a PoSt partition depends on.
type PoStShape struct {
	Sector SectorSize
	// Slots for sectors in a partition, each with so many Challenges.
	Slots, Challenges int
}

// WinningChallenges is the number of challenges of a winning PoSt, each in a slot of its own.
const WinningChallenges = 66

// WindowPoStShape is the shape of a size's registered window PoSt.
func WindowPoStShape(size SectorSize) PoStShape {
	slots := 2
	switch size {
	case Sector32GiB:
		slots = 2349
	case Sector64GiB:
		slots = 2300
	}
	return PoStShape{Sector: size, Slots: slots, Challenges: 10}
}

// WinningPoStShape is the shape of a size's registered winning PoSt.
func WinningPoStShape(size SectorSize) PoStShape {
	return PoStShape{Sector: size, Slots: WinningChallenges, Challenges: 1}
}

// PublicInputs of one partition, without the one.
func (s PoStShape) PublicInputs() int { return s.Slots * (1 + s.Challenges) }

// SnapShape is what the circuit of a SnapDeals partition depends on, with the number of partitions of a proof.
type SnapShape struct {
	Sector SectorSize
	// Poseidon is the variant whose data tree is hashed with Poseidon; it has one partition and no apex.
	Poseidon bool
	// Partitions of one proof, each with so many Challenges.
	Partitions, Challenges int
	// ApexLeaves is the number of nodes of the data tree that a partition carries, none in the Poseidon variant.
	ApexLeaves int
}

// SnapPublicInputs of one partition, without the one.
const SnapPublicInputs = 4

// SnapShapeOf is the shape of a size's registered SnapDeals proof.
func SnapShapeOf(size SectorSize, poseidon bool) SnapShape {
	s := SnapShape{Sector: size, Poseidon: poseidon, Partitions: 16, Challenges: 86, ApexLeaves: 128}
	switch n := size.Nodes(); {
	case n <= 1<<8:
		s.Partitions, s.Challenges, s.ApexLeaves = 1, 10, 8
	case n <= 1<<10:
		s.Partitions, s.Challenges = 2, 10
	case n < 1<<24:
		s.Partitions, s.Challenges = 4, 10
	}
	if poseidon {
		s.Partitions, s.Challenges, s.ApexLeaves = 1, s.Partitions*s.Challenges, 0
	}
	return s
}

// SnapTestShape is registered nowhere: the smallest update of two partitions.
var SnapTestShape = SnapShapeOf(16<<10, false)

// PartitionBits is the number of bits of a partition's number.
func (s SnapShape) PartitionBits() int { return bits.Len(uint(s.Partitions)) - 1 }

// ApexBits is the number of levels of the data tree within a partition's apex.
func (s SnapShape) ApexBits() int {
	if s.ApexLeaves == 0 {
		return 0
	}
	return bits.Len(uint(s.ApexLeaves)) - 1
}

// hSelections are the lengths, in bits, of the block number from which a node's encoding takes its randomness, that a
// proof can choose among; small sectors have only one.
const hSelections = 6

// H lists the choices of h.
func (s SnapShape) H() []int {
	h := make([]int, hSelections)
	for i := range h {
		h[i] = 1
		if s.Sector.Nodes() > 1<<10 {
			h[i] = 7 + i
		}
	}
	return h
}

// hDefault is the choice that production makes.
const hDefault = 3

// SelectedH is the position among H of the h that proofs choose: the first that has the default's value.
func (s SnapShape) SelectedH() int {
	h := s.H()
	for i := range h {
		if h[i] == h[hDefault] {
			return i
		}
	}
	return hDefault
}
