package job

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// PoRep is what is known of a proof of replication. What is nil is taken from the input; what is not must agree with it.
type PoRep struct {
	// Proof is needed where the input does not tell it, which is in bincode of filecoin-proofs alone.
	Proof *filecoin.SealProof
	// Shape replaces that of the registered proof, for tests.
	Shape *filecoin.PoRepShape
	// Prover is the miner's id: the input has it only in the replica id, where it is found again.
	Prover filecoin.Node
	// Sector is needed where the input does not tell it: anywhere but in the JSON of lotus and Curio.
	Sector       *uint64
	Ticket, Seed *filecoin.Node
	CommD, CommR *filecoin.Node
}

// ReadPoRep reads the output of a seal's first commit phase, in any of its encodings. Errors are of class Input, naming the
// field, or Usage.
func ReadPoRep(ctx context.Context, in Piece, want PoRep) (*Job, error) {
	c, err := vanilla.ReadCommit1(ctx, in.Name, in.Data, vanilla.CommitOptions{Shape: want.Shape})
	if err != nil {
		return nil, err
	}
	s, err := want.statement(in.Name, c)
	if err != nil {
		return nil, err
	}
	return &Job{
		Circuit: filecoin.PoRep, Shape: s.Shape, Statement: s, Partitions: all(s.Partitions()),
		input: &porepInput{name: in.Name, commit: c, statement: s},
	}, nil
}

// statement completes what is known by what the input says.
func (want *PoRep) statement(name string, c *vanilla.Commit1) (*porep.Statement, error) {
	agree := agreement{name: name}
	registered := agreed(&agree, "the registered proof", want.Proof, c.Proof)
	sector := agreed(&agree, "the sector", want.Sector, c.Sector)
	s := &porep.Statement{
		Prover: want.Prover,
		Ticket: *agreed(&agree, "the ticket", want.Ticket, &c.Ticket),
		Seed:   *agreed(&agree, "the seed", want.Seed, &c.Seed),
		CommD:  *agreed(&agree, "comm_d", want.CommD, &c.CommD),
		CommR:  *agreed(&agree, "comm_r", want.CommR, &c.CommR),
	}
	switch {
	case agree.err != nil:
		return nil, agree.err
	case registered == nil:
		return nil, failure.New(failure.Usage, "does not tell the registered proof").In(name).WithFix("name it, for instance StackedDrg32GiBV1_1")
	case sector == nil:
		return nil, failure.New(failure.Usage, "does not tell the sector's number").In(name).WithFix("give it")
	}
	s.Sector = *sector
	if err := s.Register(*registered); err != nil {
		return nil, failure.New(failure.Usage, "%w", err).In(name)
	}
	if registered.Sector() != c.Shape.Sector {
		return nil, failure.New(failure.Input, "is for sectors of %s, but %s is for %s", c.Shape.Sector, registered, registered.Sector()).In(name)
	}
	s.Shape = c.Shape
	if err := s.Check(); err != nil {
		return nil, failure.New(failure.Input, "%w", err).In(name)
	}
	if id := s.ReplicaID(); id != c.ReplicaID {
		return nil, failure.New(failure.Input, "replica_id is %s, but prover id %s, sector %d, ticket, comm_d and %s give %s",
			c.ReplicaID, s.Prover, s.Sector, registered, id).In(name).WithFix("check miner, sector number and registered proof")
	}
	return s, nil
}

// porepInput is the output of a first commit phase.
type porepInput struct {
	name      string
	commit    *vanilla.Commit1
	statement *porep.Statement
}

func (p *porepInput) assign(ctx context.Context, layout []witness.Part, partition int) (*witness.Witness, error) {
	return synthesis.AssignPoRep(ctx, layout, p.commit, partition)
}

func (p *porepInput) check(ctx context.Context, _ int) error {
	return p.commit.Check(ctx, p.name, p.statement)
}
