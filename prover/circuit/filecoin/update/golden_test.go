package update

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/constraints"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

type (
	number = structure.Var
	bit    = constraints.Boolean
	chunk  = []constraints.Boolean
)

// added counts the constraints that a step of the circuit adds to those of what it is given.
func added(prepare func(constraints.System) *circuit[number, bit, chunk], step func(constraints.System, *circuit[number, bit, chunk])) int {
	before := constraints.Record(func(s constraints.System) { prepare(s) })
	all := constraints.Record(func(s constraints.System) { step(s, prepare(s)) })
	return all.Constraints - before.Constraints
}

// Constraints of the circuit's parts by the reference's own tests of them.
func TestPartsAreTheReferences(t *testing.T) {
	for digests, size := range map[int]filecoin.SectorSize{1: filecoin.Sector2KiB, 8: filecoin.Sector512MiB, 10: filecoin.Sector32GiB} {
		shape := ShapeOf(filecoin.SnapShapeOf(size, false))
		got := added(func(s constraints.System) *circuit[number, bit, chunk] {
			c := &circuit[number, bit, chunk]{Partition: shape.Blank()}
			c.partition, c.commRNew = s.Num(fr.Element{}), s.Num(fr.Element{})
			return c
		}, func(s constraints.System, c *circuit[number, bit, chunk]) { c.draw(s) })
		if want := 568 * digests; got != want || shape.digests() != digests {
			t.Errorf("%s: %d constraints draw %d digests, want %d for %d", size, got, shape.digests(), want, digests)
		}
	}
	for _, c := range []struct{ apexBits, partitionBits, constraints int }{{3, 0, 317654}, {7, 1, 5808515}, {4, 2, 771448}, {3, 3, 453797}} {
		shape := Shape{NodeBits: c.apexBits + c.partitionBits, ApexBits: c.apexBits, PartitionBits: c.partitionBits}
		got := added(func(s constraints.System) *circuit[number, bit, chunk] {
			p := shape.Blank()
			made := &circuit[number, bit, chunk]{Partition: p, commDNew: s.Num(fr.Element{})}
			made.partitionBits = gadget.Bits(s, 0, c.partitionBits)
			made.apexLeaves, made.apexPath = gadget.Nums(s, p.ApexLeaves), gadget.Siblings(s, p.ApexPath)
			return made
		}, func(s constraints.System, c *circuit[number, bit, chunk]) { c.apex(s) })
		if got != c.constraints {
			t.Errorf("apex of %d leaves, %d partitions: %d constraints, want %d", 1<<c.apexBits, 1<<c.partitionBits, got, c.constraints)
		}
	}
}
