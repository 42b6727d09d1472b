package job

import (
	"context"
	"fmt"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// ReadPoSt reads the vanilla proofs of sectors: a piece is one sector's, in bincode or JSON, or a JSON list of such in
// base64; their order does not matter. The statement names all sectors of the proof, each partition's by their order. A
// window PoSt may be given the vanilla proofs of some partitions alone; Partitions of the job then says which. Errors are
// of class Input, naming piece and field, or Usage.
func ReadPoSt(ctx context.Context, in []Piece, s *post.Statement) (*Job, error) {
	s.Sort()
	if err := s.Check(); err != nil {
		return nil, failure.New(failure.Usage, "%w", err)
	}
	p := &postInput{statement: s, sectors: make([]*postSector, len(s.Sectors))}
	for _, piece := range in {
		if err := p.read(ctx, piece); err != nil {
			return nil, err
		}
	}
	j := &Job{Circuit: filecoin.WindowPoSt, Shape: s.Shape, Statement: s, input: p}
	if s.Winning {
		j.Circuit = filecoin.WinningPoSt
	}
	for k := range s.Partitions() {
		if p.complete(k) {
			j.Partitions = append(j.Partitions, k)
		}
	}
	if len(j.Partitions) == 0 {
		return nil, p.missing()
	}
	return j, nil
}

// postInput is the vanilla proofs of sectors, by the position of the sector in the statement; nil where there is none.
type postInput struct {
	statement *post.Statement
	sectors   []*postSector
}

type postSector struct {
	name  string
	proof *vanilla.PoSt
}

func (p *postInput) read(ctx context.Context, piece Piece) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	pieces, err := split(piece, len(p.sectors))
	if err != nil {
		return err
	}
	for _, one := range pieces {
		v, err := vanilla.ReadPoSt(one.Name, one.Data, p.statement.Shape)
		if err != nil {
			return err
		}
		if err := p.add(&postSector{one.Name, v}); err != nil {
			return err
		}
	}
	return nil
}

// add finds a sector's position.
func (p *postInput) add(s *postSector) error {
	position, ok := slices.BinarySearchFunc(p.statement.Sectors, s.proof.Sector, func(sector post.Sector, id uint64) int {
		switch {
		case sector.ID < id:
			return -1
		case sector.ID > id:
			return 1
		}
		return 0
	})
	switch {
	case !ok:
		return failure.New(failure.Input, "sector_id is %d, which is none of the sectors to be proved", s.proof.Sector).In(s.name)
	case p.sectors[position] != nil:
		return failure.New(failure.Input, "is of sector %d, of which %s is already", s.proof.Sector, p.sectors[position].name).In(s.name)
	case p.statement.Sectors[position].CommR != s.proof.CommR:
		return failure.New(failure.Input, "comm_r is %s, but that of sector %d is %s", s.proof.CommR, s.proof.Sector, p.statement.Sectors[position].CommR).In(s.name)
	}
	p.sectors[position] = s
	return nil
}

// partition is the part of the sectors that a partition proves.
func (p *postInput) partition(k int) []*postSector {
	if p.statement.Winning {
		return p.sectors
	}
	slots := p.statement.Shape.Slots
	return p.sectors[k*slots : min((k+1)*slots, len(p.sectors))]
}

func (p *postInput) complete(k int) bool { return !slices.Contains(p.partition(k), nil) }

// missing names a sector without which no partition can be proved.
func (p *postInput) missing() error {
	i := slices.Index(p.sectors, nil)
	return failure.New(failure.Input, "the vanilla proof of sector %d is missing, and no partition has all of its own", p.statement.Sectors[i].ID).
		WithFix("hand in the vanilla proofs of all sectors of a partition")
}

func (p *postInput) assign(ctx context.Context, layout []witness.Part, partition int) (*witness.Witness, error) {
	sectors := p.partition(partition)
	proofs := make([]*vanilla.PoSt, len(sectors))
	for i, s := range sectors {
		if s == nil {
			return nil, fmt.Errorf("not all vanilla proofs of its sectors were given")
		}
		proofs[i] = s.proof
	}
	return synthesis.AssignPoSt(ctx, layout, p.statement.Shape, proofs)
}

func (p *postInput) check(ctx context.Context, partition int) error {
	first := partition * p.statement.Shape.Slots
	for i, s := range p.partition(partition) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if s == nil {
			continue // assign has said so
		}
		if err := s.proof.Check(s.name, p.statement, first+i); err != nil {
			return err
		}
	}
	return nil
}

// split takes a JSON list of base64 apart; anything else is one piece.
func split(piece Piece, most int) ([]Piece, error) {
	if !isList(piece.Data) {
		return []Piece{piece}, nil
	}
	items, err := vanilla.Base64List(piece.Name, piece.Data, most)
	if err != nil {
		return nil, err
	}
	out := make([]Piece, len(items))
	for i, data := range items {
		out[i] = Piece{fmt.Sprintf("%s[%d]", piece.Name, i), data}
	}
	return out, nil
}

// isList tells whether a JSON list of strings begins here. A vanilla proof in bincode begins with a sector's number or a
// commitment; that it looks like a list is possible, but of no sector that there is.
func isList(data []byte) bool {
	first, rest := firstByte(data)
	if first != '[' {
		return false
	}
	second, _ := firstByte(rest)
	return second == '"' || second == ']'
}

// firstByte is the first byte that is not white space, near the beginning, and what follows it.
func firstByte(data []byte) (byte, []byte) {
	for i, b := range data[:min(len(data), 256)] {
		if b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, data[i+1:]
		}
	}
	return 0, nil
}
