package synthesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/update"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/values"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// AssignPoRep computes the witness of a partition of a proof of replication. The layout is that of the shape's structure.
// The witness must be freed.
func AssignPoRep(ctx context.Context, layout []witness.Part, c *vanilla.Commit1, partition int) (*witness.Witness, error) {
	if partition < 0 || partition >= len(c.Partitions) {
		return nil, fmt.Errorf("partition %d of %d", partition, len(c.Partitions))
	}
	var in converter
	p := in.poRep(c, c.Partitions[partition])
	shape := porep.ShapeOf(c.Shape)
	if err := in.check(p.Fits(shape)); err != nil {
		return nil, err
	}
	return values.Assign(ctx, layout, func(s values.System) { porep.Describe(s, p) })
}

// AssignPoSt computes the witness of a partition of a proof of spacetime. There is a sector for each slot; where there are
// fewer, the last one fills the slots that are left. Winning PoSt has one sector, which opens a leaf in each slot.
func AssignPoSt(ctx context.Context, layout []witness.Part, shape filecoin.PoStShape, sectors []*vanilla.PoSt) (*witness.Witness, error) {
	if len(sectors) == 0 || len(sectors) > shape.Slots {
		return nil, fmt.Errorf("%d sectors for a partition of %d slots", len(sectors), shape.Slots)
	}
	var in converter
	p := make(post.Partition, 0, shape.Slots)
	for _, sector := range sectors {
		for first := 0; first < len(sector.Leaves); first += shape.Challenges {
			p = append(p, in.sector(sector, sector.Leaves[first:min(first+shape.Challenges, len(sector.Leaves))]))
		}
	}
	for len(p) > 0 && len(p) < shape.Slots {
		p = append(p, p[len(p)-1])
	}
	if err := in.check(p.Fits(post.ShapeOf(shape))); err != nil {
		return nil, err
	}
	return values.Assign(ctx, layout, func(s values.System) { post.Describe(s, p) })
}

// AssignSnap computes the witness of a partition of the proof of a sector's update.
func AssignSnap(ctx context.Context, layout []witness.Part, statement *snap.Statement, v *vanilla.Snap, partition int) (*witness.Witness, error) {
	var in converter
	shape := update.ShapeOf(statement.Shape)
	p := in.update(shape, statement, v, partition)
	if err := in.check(p.Fits()); err != nil {
		return nil, err
	}
	return values.Assign(ctx, layout, func(s values.System) { update.Describe(s, p) })
}

// converter turns nodes into elements, and notes where that cannot be.
type converter struct{ invalid bool }

var (
	errNotCanonical = errors.New("the input has a node that is not below the modulus of BLS12-381's scalar field")
	errShape        = errors.New("the input has not the shape of the circuit: wrong numbers of challenges, labels or levels")
)

func (c *converter) check(fits bool) error {
	switch {
	case c.invalid:
		return errNotCanonical
	case !fits:
		return errShape
	}
	return nil
}

func (c *converter) element(n filecoin.Node) fr.Element {
	e, ok := n.Element()
	c.invalid = c.invalid || !ok
	return e
}

func (c *converter) elements(nodes []filecoin.Node) []fr.Element {
	out := make([]fr.Element, len(nodes))
	for i, n := range nodes {
		out[i] = c.element(n)
	}
	return out
}

func (c *converter) path(steps []merkle.Step) gadget.Path {
	out := make(gadget.Path, len(steps))
	for i, s := range steps {
		out[i] = gadget.Level{Index: int(s.Index), Siblings: c.elements(s.Siblings)}
	}
	return out
}

func (c *converter) poRep(commit *vanilla.Commit1, challenges []vanilla.Challenge) *porep.Partition {
	p := &porep.Partition{
		ReplicaID: c.element(commit.ReplicaID), CommD: c.element(commit.CommD), CommR: c.element(commit.CommR),
		Challenges: make([]*porep.Challenge, len(challenges)),
	}
	for i := range challenges {
		v := &challenges[i]
		p.Challenges[i] = &porep.Challenge{
			Node: v.Data.LeafIndex(), DataLeaf: c.element(v.Data.Leaf),
			DataPath: c.path(v.Data.Path), ReplicaPath: c.path(v.Replica.Path), ColumnPath: c.path(v.Column.Proof.Path),
			DRGParents: c.columns(v.DRGParents), ExpanderParents: c.columns(v.ExpParents),
		}
	}
	if len(challenges) > 0 {
		p.CommRLast, p.CommC = c.element(challenges[0].Replica.Root), c.element(challenges[0].Column.Proof.Root)
	}
	return p
}

func (c *converter) columns(columns []vanilla.Column) []porep.Column {
	out := make([]porep.Column, len(columns))
	for i := range columns {
		out[i] = porep.Column{Labels: c.elements(columns[i].Labels), Path: c.path(columns[i].Proof.Path)}
	}
	return out
}

func (c *converter) sector(v *vanilla.PoSt, leaves []merkle.Proof) *post.Sector {
	s := &post.Sector{
		CommR: c.element(v.CommR), CommC: c.element(v.CommC), CommRLast: c.element(v.CommRLast),
		Leaves: make([]post.Leaf, len(leaves)),
	}
	for i := range leaves {
		s.Leaves[i] = post.Leaf{Value: c.element(leaves[i].Leaf), Path: c.path(leaves[i].Path)}
	}
	return s
}

func (c *converter) update(shape update.Shape, s *snap.Statement, v *vanilla.Snap, partition int) *update.Partition {
	p := &update.Partition{
		Shape: shape, Number: partition, SelectH: 1 << s.Shape.SelectedH(),
		CommROld: c.element(s.CommROld), CommDNew: c.element(s.CommDNew), CommRNew: c.element(s.CommRNew),
		CommC: c.element(v.CommC), ApexLeaves: c.elements(v.ApexLeaves),
		Challenges: make([]*update.Challenge, len(v.Challenges)),
	}
	for i := range v.Challenges {
		ch := &v.Challenges[i]
		data := c.path(ch.Data.Path)
		if below := shape.DataLevels(); below < len(data) {
			if i == 0 {
				// What leads from the apex to comm_d_new is the same for all challenges.
				p.ApexPath = data[len(data)-shape.PartitionBits:]
			}
			data = data[:below]
		}
		p.Challenges[i] = &update.Challenge{
			ROld: c.element(ch.Old.Leaf), DNew: c.element(ch.Data.Leaf),
			ROldPath: c.path(ch.Old.Path), DNewPath: data, RNewPath: c.path(ch.New.Path),
		}
	}
	if len(v.Challenges) > 0 {
		p.RootROld, p.RootRNew = c.element(v.Challenges[0].Old.Root), c.element(v.Challenges[0].New.Root)
	}
	return p
}
