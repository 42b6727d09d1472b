// Package synthesis turns the shapes of Filecoin's proofs into constraint systems, and their inputs into witnesses.
package synthesis

import (
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/constraints"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/update"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Record records the constraint system of a shape. The one of a 32 GiB PoRep takes a few seconds and 0.5 GB.
func Record(shape filecoin.Shape) *structure.Structure {
	switch s := shape.(type) {
	case filecoin.PoRepShape:
		return recordPoRep(porep.ShapeOf(s))
	case filecoin.PoStShape:
		return recordPoSt(post.ShapeOf(s))
	case filecoin.SnapShape:
		return recordUpdate(update.ShapeOf(s))
	}
	panic(fmt.Sprintf("no circuit for %T", shape))
}

func recordPoRep(shape porep.Shape) *structure.Structure {
	return constraints.Record(func(s constraints.System) { porep.Describe(s, shape.Blank()) })
}

func recordPoSt(shape post.Shape) *structure.Structure {
	return constraints.Record(func(s constraints.System) { post.Describe(s, shape.Blank()) })
}

func recordUpdate(shape update.Shape) *structure.Structure {
	return constraints.Record(func(s constraints.System) { update.Describe(s, shape.Blank()) })
}
