package vanilla

import (
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
)

// Column is the labels of a node in all layers, which the tree of columns commits to.
type Column struct {
	Node   uint32
	Labels []filecoin.Node
	Proof  merkle.Proof
}

// Labeling tells how a label was made: the parents that it hashes, in the order of the hash. Node 0 has none.
type Labeling struct {
	Parents []filecoin.Node
	Layer   uint32
	Node    uint64
}

// Challenge is a challenged node of a proof of replication: its data and its place in the replica, its column and its
// parents' columns, and how its labels were made.
type Challenge struct {
	Data, Replica          merkle.Proof
	Column                 Column
	DRGParents, ExpParents []Column
	Labels                 []Labeling
	Encoding               Labeling
}

// porepShape knows what a challenge of a shape holds.
type porepShape struct {
	filecoin.PoRepShape
	data, replica tree
}

func newPoRepShape(s filecoin.PoRepShape) *porepShape {
	return &porepShape{s, dataTree(s.Sector), replicaTree(s.Sector)}
}

func (s *porepShape) visit(c codec, ch *Challenge) {
	c.object(
		field{"comm_d_proofs", func() { s.data.visit(c, &ch.Data) }},
		field{"comm_r_last_proof", func() { s.replica.visit(c, &ch.Replica) }},
		field{"replica_column_proofs", func() {
			c.object(
				field{"c_x", func() { s.visitColumn(c, &ch.Column) }},
				field{"drg_parents", func() { s.visitColumns(c, &ch.DRGParents, filecoin.DRGParents) }},
				field{"exp_parents", func() { s.visitColumns(c, &ch.ExpParents, filecoin.ExpanderParents) }})
		}},
		field{"labeling_proofs", func() {
			prepare := func() {
				if ch.Labels == nil {
					ch.Labels = make([]Labeling, s.Layers)
				}
			}
			c.list(s.Layers, prepare, func(i int) { s.visitLabeling(c, &ch.Labels[i]) })
		}},
		field{"encoding_proof", func() { s.visitLabeling(c, &ch.Encoding) }})
}

func (s *porepShape) visitColumns(c codec, columns *[]Column, n int) {
	prepare := func() {
		if *columns == nil {
			*columns = make([]Column, n)
		}
	}
	c.list(n, prepare, func(i int) { s.visitColumn(c, &(*columns)[i]) })
}

func (s *porepShape) visitColumn(c codec, column *Column) {
	c.object(
		field{"column", func() {
			c.object(
				field{"index", func() {
					c.uint32(&column.Node)
					s.checkNode(c, uint64(column.Node))
				}},
				field{"rows", func() { visitNodes(c, &column.Labels, s.Layers) }},
				field{"_h", nil})
		}},
		field{"inclusion_proof", func() { s.replica.visit(c, &column.Proof) }})
}

func (s *porepShape) visitLabeling(c codec, l *Labeling) {
	c.object(
		field{"parents", func() { visitNodes(c, &l.Parents, filecoin.LabelParents) }},
		field{"layer_index", func() {
			c.uint32(&l.Layer)
			c.check(l.Layer >= 1 && l.Layer <= uint32(s.Layers), "is %d, but layers are numbered 1 to %d", l.Layer, s.Layers)
		}},
		field{"node", func() {
			c.uint64(&l.Node)
			s.checkNode(c, l.Node)
		}})
}

func (s *porepShape) checkNode(c codec, node uint64) {
	c.check(node < s.Sector.Nodes(), "is %d, but the sector has only %d nodes", node, s.Sector.Nodes())
}
