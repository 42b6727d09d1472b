package porep

import (
	"errors"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Statement is what a proof of replication claims: that this replica of this data is stored by this prover.
type Statement struct {
	Shape   filecoin.PoRepShape
	Version filecoin.APIVersion
	Kind    filecoin.Kind
	PoRepID filecoin.Node

	Prover       filecoin.Node
	Sector       uint64
	Ticket, Seed filecoin.Node
	CommD, CommR filecoin.Node
}

// Register gives the statement shape, version, kind and id of a registered proof.
func (s *Statement) Register(p filecoin.SealProof) error {
	if err := p.CheckSupported(); err != nil {
		return err
	}
	s.Shape, s.Version, s.Kind, s.PoRepID = p.Shape(), p.Version(), p.Kind(), p.PoRepID()
	return nil
}

// Check refuses commitments that no sector has.
func (s *Statement) Check() error {
	for _, c := range []struct {
		name string
		node filecoin.Node
	}{{"comm_d", s.CommD}, {"comm_r", s.CommR}} {
		switch {
		case c.node == filecoin.Node{}:
			return fmt.Errorf("%s is zero", c.name)
		case !c.node.IsCanonical():
			return fmt.Errorf("%s %s is not below the modulus of BLS12-381's scalar field", c.name, c.node)
		}
	}
	if !s.Shape.Sector.Known() {
		return errors.New("there are no sectors of this size")
	}
	return nil
}

// Partitions is the number of partitions of the proof.
func (s *Statement) Partitions() int { return s.Shape.Partitions }

// ReplicaID is the replica's id.
func (s *Statement) ReplicaID() filecoin.Node {
	return ReplicaID(s.Prover, s.Sector, s.Ticket, s.CommD, s.PoRepID)
}

// Graph is the graph of the statement's sectors.
func (s *Statement) Graph() *Graph { return NewGraph(s.Shape.Sector, s.PoRepID, s.Version) }

// PublicInputs are those of one partition, without the one, canonical: replica id, comm_d and comm_r, then for each
// challenge its number, its parents' numbers, and its number three times more.
func (s *Statement) PublicInputs(partition int) ([]curve.Scalar, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	challenges, err := s.Challenges(partition)
	if err != nil {
		return nil, err
	}
	inputs := make([]curve.Scalar, 0, s.Shape.PublicInputs())
	inputs = append(inputs, s.ReplicaID().Scalar(), s.CommD.Scalar(), s.CommR.Scalar())
	graph := s.Graph()
	for _, c := range challenges {
		inputs = append(inputs, curve.Scalar{c})
		for _, p := range graph.DRGParents(c) {
			inputs = append(inputs, curve.Scalar{p})
		}
		for _, p := range graph.ExpanderParents(c) {
			inputs = append(inputs, curve.Scalar{p})
		}
		inputs = append(inputs, curve.Scalar{c}, curve.Scalar{c}, curve.Scalar{c})
	}
	return inputs, nil
}
