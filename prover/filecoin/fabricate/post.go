package fabricate

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// PoSt makes the vanilla proofs of all sectors of a statement, in their order, and completes the statement with the
// sectors' commitments.
func PoSt(ctx context.Context, s *post.Statement) ([]*vanilla.PoSt, error) {
	s.Sort()
	proofs := make([]*vanilla.PoSt, len(s.Sectors))
	for i := range s.Sectors {
		p, err := sectorPoSt(ctx, s, i)
		if err != nil {
			return nil, err
		}
		s.Sectors[i].CommR = p.CommR
		proofs[i] = p
	}
	return proofs, s.Check()
}

func sectorPoSt(ctx context.Context, s *post.Statement, position int) (*vanilla.PoSt, error) {
	challenges, id := s.Leaves(position), s.Sectors[position].ID
	leaves := map[uint64]filecoin.Node{}
	for _, c := range challenges {
		leaves[c] = filler("leaf", id, c)
	}
	tree, err := newSparseTree(ctx, "treer", id, s.Shape.Sector.Tree().Arities(s.Shape.Sector.Nodes()), leaves)
	if err != nil {
		return nil, err
	}
	p := &vanilla.PoSt{Sector: id, CommC: filler("commc", id, 0), CommRLast: tree.root()}
	p.CommR = merkle.Poseidon.Hash([]filecoin.Node{p.CommC, p.CommRLast})
	for _, c := range challenges {
		p.Leaves = append(p.Leaves, tree.open(c))
	}
	return p, nil
}
