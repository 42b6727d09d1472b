// Package snap draws what a proof of a sector's update (SnapDeals) is about: its challenges, the encoding of new data, and
// the public inputs of each partition.
package snap

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/poseidon"
)

// Statement is what a proof of an update claims: that the new replica is the old one with the new data encoded into it.
type Statement struct {
	Shape              filecoin.SnapShape
	CommROld, CommRNew filecoin.Node
	CommDNew           filecoin.Node
}

// Register gives the statement the shape of a registered proof.
func (s *Statement) Register(p filecoin.UpdateProof) error {
	if !p.Valid() {
		return fmt.Errorf("there is no registered update proof %d: they are numbered 0 to %d", uint8(p), filecoin.UpdateProofs-1)
	}
	s.Shape = p.Shape()
	return nil
}

// Check refuses commitments that no sector has.
func (s *Statement) Check() error {
	for _, c := range []struct {
		name string
		node filecoin.Node
	}{{"the old comm_r", s.CommROld}, {"the new comm_r", s.CommRNew}, {"the new comm_d", s.CommDNew}} {
		switch {
		case c.node == filecoin.Node{}:
			return fmt.Errorf("%s is zero", c.name)
		case !c.node.IsCanonical():
			return fmt.Errorf("%s %s is not below the modulus of BLS12-381's scalar field", c.name, c.node)
		}
	}
	return nil
}

// Partitions is the number of partitions of the proof.
func (s *Statement) Partitions() int { return s.Shape.Partitions }

// capacity is the number of bits of a hash that challenges are taken from: as many as any field element has.
const capacity = fr.Bits - 1

// Challenges are those of one partition, as node numbers: bits of a hash of the new comm_r, below the partition's number.
func (s *Statement) Challenges(partition int) ([]uint64, error) {
	if partition < 0 || partition >= s.Shape.Partitions {
		return nil, fmt.Errorf("partition %d of %d", partition, s.Shape.Partitions)
	}
	commR, ok := s.CommRNew.Element()
	if !ok {
		return nil, fmt.Errorf("the new comm_r %s is not canonical", s.CommRNew)
	}
	width := s.Shape.Sector.Log2Nodes() - s.Shape.PartitionBits()
	perDigest := capacity / width
	digests := (s.Shape.Challenges + perDigest - 1) / perDigest
	challenges := make([]uint64, 0, s.Shape.Challenges)
	for j := 0; len(challenges) < s.Shape.Challenges; j++ {
		digest := poseidon.Pair(commR, fr.NewElement(uint64(partition*digests+j)))
		bits := digest.Bits()
		for i := 0; i < perDigest && len(challenges) < s.Shape.Challenges; i++ {
			challenges = append(challenges, slice(bits, i*width, width)|uint64(partition)<<width)
		}
	}
	return challenges, nil
}

// slice takes width bits, at most 63, from an offset on.
func slice(limbs [4]uint64, offset, width int) uint64 {
	i, shift := offset/64, offset%64
	v := limbs[i] >> shift
	if shift+width > 64 {
		v |= limbs[i+1] << (64 - shift)
	}
	return v & (1<<width - 1)
}

// KH is the first public input of a partition: its number, and above it the choice of h, one bit set.
func (s *Statement) KH(partition int) uint64 {
	return uint64(partition) | 1<<(s.Shape.SelectedH()+s.Shape.PartitionBits())
}

// PublicInputs are those of one partition, without the one, canonical.
func (s *Statement) PublicInputs(partition int) ([]curve.Scalar, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if partition < 0 || partition >= s.Shape.Partitions {
		return nil, fmt.Errorf("partition %d of %d", partition, s.Shape.Partitions)
	}
	return []curve.Scalar{{s.KH(partition)}, s.CommROld.Scalar(), s.CommDNew.Scalar(), s.CommRNew.Scalar()}, nil
}

// Encoding is how new data enters a replica: new = old + data·ρ, where ρ is the same for all nodes of a block.
type Encoding struct {
	phi   fr.Element
	shift int // of a node's number to its block's
}

// Encoding of the statement's sector.
func (s *Statement) Encoding() (*Encoding, error) {
	commD, okD := s.CommDNew.Element()
	commR, okR := s.CommROld.Element()
	if !okD || !okR {
		return nil, s.Check()
	}
	h := s.Shape.H()[s.Shape.SelectedH()]
	return &Encoding{phi: poseidon.Pair(commD, commR), shift: s.Shape.Sector.Log2Nodes() - h}, nil
}

// Block is the number of the block that a node is in.
func (e *Encoding) Block(node uint64) uint64 { return node >> e.shift }

// BlockNodes is the number of nodes of a block.
func (e *Encoding) BlockNodes() uint64 { return 1 << e.shift }

// Rho is the randomness of a block.
func (e *Encoding) Rho(block uint64) fr.Element { return poseidon.Pair(e.phi, fr.NewElement(block)) }
