// Package post is the circuit of WindowPoSt and WinningPoSt: for each slot, that leaves of a sector's replica are those
// that comm_r commits to.
package post

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Shape is what the circuit depends on.
type Shape struct {
	Slots, Challenges int
	// Tree lists the arities of the replica's tree, from the leaves to the root.
	Tree []int
}

// ShapeOf is the circuit's shape for that of a proof.
func ShapeOf(s filecoin.PoStShape) Shape {
	return Shape{Slots: s.Slots, Challenges: s.Challenges, Tree: s.Sector.Tree().Arities(s.Sector.Nodes())}
}

// Partition is the private input of a partition: a sector for each slot.
type Partition []*Sector

// Sector is what is proved of a sector.
type Sector struct {
	CommR, CommC, CommRLast fr.Element
	Leaves                  []Leaf // one a challenge
}

// Leaf is a leaf of the replica with its path.
type Leaf struct {
	Value fr.Element
	Path  gadget.Path
}

// Blank is a partition without values, on which the structure is recorded.
func (s Shape) Blank() Partition {
	sector := &Sector{Leaves: make([]Leaf, s.Challenges)}
	for i := range sector.Leaves {
		sector.Leaves[i].Path = gadget.BlankPath(s.Tree)
	}
	p := make(Partition, s.Slots)
	for i := range p {
		p[i] = sector
	}
	return p
}

// Describe is the circuit.
func Describe[N, B, W any](s gadget.System[N, B, W], p Partition) {
	s.Blocks(len(p), gadget.NoArguments[N, B], func(s gadget.System[N, B, W], i int, _ gadget.Arguments[N, B]) []N {
		slot(s, p[i])
		return nil
	})
}

func slot[N, B, W any](s gadget.System[N, B, W], sector *Sector) {
	commRLast := s.Num(sector.CommRLast)
	commC := s.Num(sector.CommC)
	commR := s.Num(sector.CommR)
	s.Input(commR)
	s.Equal(commR, gadget.TreeHash(s, []N{commC, commRLast}))
	for i := range sector.Leaves {
		leaf := s.Num(sector.Leaves[i].Value)
		gadget.Include(s, gadget.TreeHash[N, B, W], leaf, sector.Leaves[i].Path, commRLast)
	}
}

// Fits tells whether a partition has what a shape has.
func (p Partition) Fits(s Shape) bool {
	if len(p) != s.Slots {
		return false
	}
	for _, sector := range p {
		if len(sector.Leaves) != s.Challenges {
			return false
		}
		for i := range sector.Leaves {
			if !sector.Leaves[i].Path.Fits(s.Tree) {
				return false
			}
		}
	}
	return true
}
