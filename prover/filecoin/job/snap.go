package job

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// Snap is what is known of the proof of a sector's update. What is nil is taken from the input, which must then be Curio's
// file; what is not must agree with it.
type Snap struct {
	Proof *filecoin.UpdateProof
	// Shape replaces that of the registered proof: for the Poseidon variant, and for tests.
	Shape                        *filecoin.SnapShape
	CommROld, CommRNew, CommDNew *filecoin.Node
}

// ReadSnap reads the vanilla proofs of an update: Curio's file of all of them; or a piece for each partition, in their
// order; or a JSON list of them in base64. Errors are of class Input, naming piece and field, or Usage.
func ReadSnap(ctx context.Context, in []Piece, want Snap) (*Job, error) {
	var p *snapInput
	var err error
	if len(in) == 1 && vanilla.IsUpdate(in[0].Data) {
		p, err = want.readUpdate(in[0])
	} else {
		p, err = want.readPieces(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	if err := p.statement.Check(); err != nil {
		return nil, failure.New(failure.Usage, "%w", err)
	}
	j := &Job{Circuit: filecoin.SnapDeals, Shape: p.statement.Shape, Statement: p.statement, Partitions: all(p.statement.Partitions()), input: p}
	if p.statement.Shape.Poseidon {
		j.Circuit = filecoin.SnapDealsPoseidon
	}
	return j, nil
}

// readUpdate reads Curio's file, which tells the statement.
func (want *Snap) readUpdate(in Piece) (*snapInput, error) {
	u, err := vanilla.ReadUpdate(in.Name, in.Data)
	if err != nil {
		return nil, err
	}
	agree := agreement{name: in.Name}
	shape := u.Proof.Shape()
	agreed(&agree, "the registered proof", want.Proof, &u.Proof)
	agreed(&agree, "the circuit's shape", want.Shape, &shape)
	s := &snap.Statement{
		Shape:    shape,
		CommROld: *agreed(&agree, "the old comm_r", want.CommROld, &u.CommROld),
		CommRNew: *agreed(&agree, "the new comm_r", want.CommRNew, &u.CommRNew),
		CommDNew: *agreed(&agree, "the new comm_d", want.CommDNew, &u.CommDNew),
	}
	if agree.err != nil {
		return nil, agree.err
	}
	p := &snapInput{statement: s, partitions: u.Partitions}
	for range u.Partitions {
		p.names = append(p.names, in.Name)
	}
	return p, nil
}

// readPieces reads a vanilla proof for each partition.
func (want *Snap) readPieces(ctx context.Context, in []Piece) (*snapInput, error) {
	s, err := want.statement()
	if err != nil {
		return nil, err
	}
	if len(in) == 1 {
		if in, err = split(in[0], s.Partitions()); err != nil {
			return nil, err
		}
	}
	if len(in) != s.Partitions() {
		return nil, failure.New(failure.Input, "there are %d vanilla proofs, but the proof has %d partitions", len(in), s.Partitions()).
			WithFix("hand in one for each partition, in their order")
	}
	p := &snapInput{statement: s}
	for _, piece := range in {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		v, err := vanilla.ReadSnap(piece.Name, piece.Data, s.Shape)
		if err != nil {
			return nil, err
		}
		p.names, p.partitions = append(p.names, piece.Name), append(p.partitions, v)
	}
	return p, nil
}

// statement is what is known, which must be all.
func (want *Snap) statement() (*snap.Statement, error) {
	s := &snap.Statement{}
	switch {
	case want.Shape != nil:
		s.Shape = *want.Shape
	case want.Proof == nil:
		return nil, failure.New(failure.Usage, "the vanilla proofs do not tell the registered proof").WithFix("name it, for instance StackedDrg32GiBV1")
	default:
		if err := s.Register(*want.Proof); err != nil {
			return nil, failure.New(failure.Usage, "%w", err)
		}
	}
	for _, c := range []struct {
		name string
		from *filecoin.Node
		to   *filecoin.Node
	}{{"old comm_r", want.CommROld, &s.CommROld}, {"new comm_r", want.CommRNew, &s.CommRNew}, {"new comm_d", want.CommDNew, &s.CommDNew}} {
		if c.from == nil {
			return nil, failure.New(failure.Usage, "the vanilla proofs do not tell the %s", c.name).WithFix("give it")
		}
		*c.to = *c.from
	}
	return s, nil
}

// snapInput is the vanilla proofs of an update, by partition.
type snapInput struct {
	statement  *snap.Statement
	names      []string
	partitions []*vanilla.Snap
}

func (p *snapInput) assign(ctx context.Context, layout []witness.Part, partition int) (*witness.Witness, error) {
	return synthesis.AssignSnap(ctx, layout, p.statement, p.partitions[partition], partition)
}

func (p *snapInput) check(_ context.Context, partition int) error {
	return p.partitions[partition].Check(p.names[partition], p.statement, partition)
}
