// Package post draws what a proof of spacetime is about: the challenges of each sector, and from them the public inputs of
// each partition.
package post

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Sector is a sector that is proved to be stored.
type Sector struct {
	ID    uint64
	CommR filecoin.Node
}

// Statement is what a proof of spacetime claims: that these sectors are stored.
type Statement struct {
	Shape filecoin.PoStShape
	// Winning proofs are about one sector, which fills all slots.
	Winning    bool
	Version    filecoin.APIVersion
	Randomness filecoin.Node
	// Sectors in ascending order of their numbers: see Sort.
	Sectors []Sector
}

// Register gives the statement shape and version of a registered proof.
func (s *Statement) Register(p filecoin.PoStProof) error {
	if !p.Valid() {
		return fmt.Errorf("there is no registered PoSt proof %d: they are numbered 0 to %d", uint8(p), filecoin.PoStProofs-1)
	}
	s.Shape, s.Winning, s.Version = p.Shape(), p.Winning(), p.Version()
	return nil
}

// Sort brings the sectors into the order in which they fill the slots.
func (s *Statement) Sort() {
	slices.SortFunc(s.Sectors, func(a, b Sector) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
}

// Check refuses statements that no proof is about.
func (s *Statement) Check() error {
	if !s.Randomness.IsCanonical() {
		return errors.New("the randomness is not below the modulus of BLS12-381's scalar field: clear the two top bits of its last byte")
	}
	if len(s.Sectors) == 0 {
		return errors.New("there are no sectors")
	}
	if s.Winning && len(s.Sectors) != 1 {
		return fmt.Errorf("a winning PoSt is about one sector, not %d", len(s.Sectors))
	}
	for i, sector := range s.Sectors {
		if i > 0 && sector.ID <= s.Sectors[i-1].ID {
			return fmt.Errorf("sector %d follows sector %d: each is there once, in ascending order", sector.ID, s.Sectors[i-1].ID)
		}
		switch {
		case sector.CommR == filecoin.Node{}:
			return fmt.Errorf("comm_r of sector %d is zero", sector.ID)
		case !sector.CommR.IsCanonical():
			return fmt.Errorf("comm_r %s of sector %d is not below the modulus of BLS12-381's scalar field", sector.CommR, sector.ID)
		}
	}
	return nil
}

// Partitions is the number of partitions of the proof.
func (s *Statement) Partitions() int {
	if s.Winning {
		return 1
	}
	return (len(s.Sectors) + s.Shape.Slots - 1) / s.Shape.Slots
}

// Slot is the part of a circuit that a sector fills.
type Slot struct {
	Sector
	// Position of the sector in the statement.
	Position   int
	Challenges []uint64
}

// Slots are those of one partition. A last partition that has too few sectors repeats its last slot.
func (s *Statement) Slots(partition int) ([]Slot, error) {
	if partition < 0 || partition >= s.Partitions() {
		return nil, fmt.Errorf("partition %d of %d", partition, s.Partitions())
	}
	slots := make([]Slot, s.Shape.Slots)
	first := partition * s.Shape.Slots
	for i := range slots {
		position := first + i
		if s.Winning {
			slots[i] = s.slot(0, i)
			continue
		}
		if position >= len(s.Sectors) {
			slots[i] = slots[i-1]
			continue
		}
		slots[i] = s.slot(position, position)
	}
	return slots, nil
}

// slot draws a sector's challenges; older versions count them over all slots of the proof.
func (s *Statement) slot(position, number int) Slot {
	slot := Slot{Sector: s.Sectors[position], Position: position, Challenges: make([]uint64, s.Shape.Challenges)}
	first := 0
	if s.Version < filecoin.V1_2 {
		first = number * s.Shape.Challenges
	}
	for i := range slot.Challenges {
		slot.Challenges[i] = Challenge(s.Randomness, slot.ID, uint64(first+i), s.Shape.Sector.Nodes())
	}
	return slot
}

// Leaves are all leaves that the sector at a position opens, in all slots that it fills.
func (s *Statement) Leaves(position int) []uint64 {
	if !s.Winning {
		return s.slot(position, position).Challenges
	}
	var leaves []uint64
	for i := range s.Shape.Slots {
		leaves = append(leaves, s.slot(position, i).Challenges...)
	}
	return leaves
}

// Challenge is the leaf of a sector that is to be opened.
func Challenge(randomness filecoin.Node, sector, number, leaves uint64) uint64 {
	h := sha256.New()
	h.Write(randomness[:])
	h.Write(binary.LittleEndian.AppendUint64(nil, sector))
	h.Write(binary.LittleEndian.AppendUint64(nil, number))
	return binary.LittleEndian.Uint64(h.Sum(nil)) % leaves
}

// WinningSector is which of a set of sectors a winning PoSt is about: choice number n.
func WinningSector(prover, randomness filecoin.Node, n, sectors uint64) uint64 {
	h := sha256.New()
	h.Write(prover[:])
	h.Write(randomness[:])
	h.Write(binary.LittleEndian.AppendUint64(nil, n))
	return binary.LittleEndian.Uint64(h.Sum(nil)) % sectors
}

// PublicInputs are those of one partition, without the one, canonical: for each slot comm_r, then the challenges.
func (s *Statement) PublicInputs(partition int) ([]curve.Scalar, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	slots, err := s.Slots(partition)
	if err != nil {
		return nil, err
	}
	inputs := make([]curve.Scalar, 0, s.Shape.PublicInputs())
	for _, slot := range slots {
		inputs = append(inputs, slot.CommR.Scalar())
		for _, c := range slot.Challenges {
			inputs = append(inputs, curve.Scalar{c})
		}
	}
	return inputs, nil
}
