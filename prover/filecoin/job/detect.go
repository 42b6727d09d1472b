package job

import (
	"slices"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// DetectPoSt finds out which registered proof a sector's vanilla proof is for: its form tells the sector's size, the leaves
// that it opens tell the version. Of the statement only randomness and sectors are looked at. Errors are of class Input.
func DetectPoSt(in []Piece, s *post.Statement, winning bool) (filecoin.PoStProof, error) {
	first, err := firstPiece(in)
	if err != nil {
		return 0, err
	}
	for _, p := range slices.Backward(postProofs(winning)) { // the latest version first
		v, err := vanilla.ReadPoSt(first.Name, first.Data, p.Shape())
		if err != nil {
			continue
		}
		t := &post.Statement{Randomness: s.Randomness, Sectors: slices.Clone(s.Sectors)}
		if err := t.Register(p); err != nil {
			return 0, err
		}
		t.Sort()
		position := slices.IndexFunc(t.Sectors, func(sector post.Sector) bool { return sector.ID == v.Sector })
		if position < 0 {
			return p, nil // ReadPoSt says which sector it is
		}
		if opens(v, t.Leaves(position)) {
			return p, nil
		}
	}
	return 0, undetected(first)
}

// postProofs lists the registered proofs of a kind.
func postProofs(winning bool) (out []filecoin.PoStProof) {
	for p := filecoin.PoStProof(0); p.Valid(); p++ {
		if p.Winning() == winning {
			out = append(out, p)
		}
	}
	return out
}

// opens tells whether a vanilla proof opens these leaves.
func opens(v *vanilla.PoSt, leaves []uint64) bool {
	return slices.EqualFunc(leaves, v.Leaves, func(leaf uint64, p merkle.Proof) bool { return p.LeafIndex() == leaf })
}

// DetectSnap finds out by the form of a partition's vanilla proof which registered proof it is for. Errors are of class
// Input.
func DetectSnap(in []Piece, poseidon bool) (filecoin.UpdateProof, error) {
	first, err := firstPiece(in)
	if err != nil {
		return 0, err
	}
	if vanilla.IsUpdate(first.Data) {
		u, err := vanilla.ReadUpdate(first.Name, first.Data)
		if err != nil {
			return 0, err
		}
		return u.Proof, nil
	}
	for p := filecoin.UpdateProof(0); p.Valid(); p++ {
		if _, err := vanilla.ReadSnap(first.Name, first.Data, filecoin.SnapShapeOf(p.Sector(), poseidon)); err == nil {
			return p, nil
		}
	}
	return 0, undetected(first)
}

// firstPiece is the first vanilla proof.
func firstPiece(in []Piece) (Piece, error) {
	if len(in) == 0 {
		return Piece{}, failure.New(failure.Input, "there are no vanilla proofs")
	}
	items, err := split(in[0], MostFiles)
	if err != nil {
		return Piece{}, err
	}
	if len(items) == 0 {
		return Piece{}, failure.New(failure.Input, "the list of vanilla proofs is empty").In(in[0].Name)
	}
	return items[0], nil
}

func undetected(p Piece) error {
	return failure.New(failure.Input, "is no vanilla proof that opens what is to be proved, for any of the registered proofs").In(p.Name).
		WithFix("name the registered proof, to learn what is wrong")
}
