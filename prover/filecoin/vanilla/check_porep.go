package vanilla

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// Check compares the output with the statement that is to be proved: commitments, replica id, challenges and parents, every
// path of every tree, and every label. It is all that the circuit demands, and costs the hashes that the circuit needs.
// Errors are of class Input and name the first field that is wrong; name is the file's.
func (c *Commit1) Check(ctx context.Context, name string, s *porep.Statement) error {
	if err := c.checkTail(name, s); err != nil {
		return err
	}
	k := &porepChecker{Commit1: c, shape: newPoRepShape(c.Shape), graph: s.Graph(), name: name}
	for partition := range c.Partitions {
		challenges, err := s.Challenges(partition)
		if err != nil {
			return err
		}
		k.nodes = append(k.nodes, challenges)
	}
	if err := k.checkRoots(); err != nil {
		return err
	}
	q := c.Shape.Challenges
	return parallel.Ranges(ctx, len(c.Partitions)*q, 1, func(i, _ int) error { return k.check(i/q, i%q) })
}

// checkTail compares what stands beside the vanilla proofs.
func (c *Commit1) checkTail(name string, s *porep.Statement) error {
	at := &place{file: name}
	at.same("comm_r", c.CommR, s.CommR)
	at.same("comm_d", c.CommD, s.CommD)
	at.same("seed", c.Seed, s.Seed)
	at.same("ticket", c.Ticket, s.Ticket)
	at.same("replica_id", c.ReplicaID, s.ReplicaID())
	if c.Shape != s.Shape {
		at.fail(-1, "it has %s of %d challenges for sectors of %s, the statement %s of %d for %s", noun(c.Shape.Partitions, "partition"),
			c.Shape.Challenges, c.Shape.Sector, noun(s.Shape.Partitions, "partition"), s.Shape.Challenges, s.Shape.Sector)
	}
	return at.result()
}

// porepChecker checks the challenges of an output, each on its own.
type porepChecker struct {
	*Commit1
	shape *porepShape
	graph *porep.Graph
	name  string
	nodes [][]uint64 // challenges by partition
	// The roots of the two trees that comm_r is made of.
	columns, replica filecoin.Node
}

// checkRoots takes the roots from the first challenge; all others must have the same.
func (k *porepChecker) checkRoots() error {
	first := &k.Partitions[0][0]
	k.columns, k.replica = first.Column.Proof.Root, first.Replica.Root
	at := &place{file: k.name}
	at.same("comm_r", k.CommR, merkle.Poseidon.Hash([]filecoin.Node{k.columns, k.replica}))
	return at.result()
}

func (k *porepChecker) check(partition, challenge int) error {
	at := &place{file: k.name}
	ch, node := &k.Partitions[partition][challenge], k.nodes[partition][challenge]
	at.within("vanilla_proofs", func() {
		at.withinItem(partition, func() {
			at.withinItem(challenge, func() {
				k.shape.data.checkOpening(at, "comm_d_proofs", &ch.Data, k.CommD, node)
				k.shape.replica.checkOpening(at, "comm_r_last_proof", &ch.Replica, k.replica, node)
				at.within("replica_column_proofs", func() { k.checkColumns(at, ch, node) })
				k.checkLabels(at, ch, node)
			})
		})
	})
	return at.result()
}

func (k *porepChecker) checkColumns(at *place, ch *Challenge, node uint64) {
	at.within("c_x", func() { k.checkColumn(at, &ch.Column, node) })
	drg, expander := k.graph.DRGParents(node), k.graph.ExpanderParents(node)
	for _, p := range []struct {
		name    string
		columns []Column
		nodes   []uint64
	}{{"drg_parents", ch.DRGParents, drg[:]}, {"exp_parents", ch.ExpParents, expander[:]}} {
		at.within(p.name, func() {
			for i := range p.columns {
				at.withinItem(i, func() { k.checkColumn(at, &p.columns[i], p.nodes[i]) })
			}
		})
	}
}

func (k *porepChecker) checkColumn(at *place, column *Column, node uint64) {
	at.within("column", func() { at.sameNumber("index", uint64(column.Node), node) })
	at.within("inclusion_proof", func() { at.same("leaf", column.Proof.Leaf, merkle.Poseidon.Hash(column.Labels)) })
	k.shape.replica.checkOpening(at, "inclusion_proof", &column.Proof, k.columns, node)
}

// checkLabels computes the node's labels from its parents', and the replica's node from the last label and the data.
func (k *porepChecker) checkLabels(at *place, ch *Challenge, node uint64) {
	label := filecoin.Node{}
	for layer := range k.Shape.Layers {
		parents := ch.parents(layer)
		at.within("labeling_proofs", func() {
			at.withinItem(layer, func() { checkLabeling(at, &ch.Labels[layer], layer, node, parents) })
		})
		label = porep.Label(k.ReplicaID, uint32(layer+1), node, parents)
		at.within("replica_column_proofs", func() {
			at.within("c_x", func() {
				at.within("column", func() {
					at.within("rows", func() { at.withinItem(layer, func() { at.same("", ch.Column.Labels[layer], label) }) })
				})
			})
		})
	}
	at.within("comm_r_last_proof", func() { at.same("leaf", ch.Replica.Leaf, porep.Encode(label, ch.Data.Leaf)) })
	last := k.Shape.Layers - 1
	at.within("encoding_proof", func() { checkLabeling(at, &ch.Encoding, last, node, ch.parents(last)) })
}

// parents are the labels that the label of a layer (from 0) hashes, each once.
func (ch *Challenge) parents(layer int) []filecoin.Node {
	var parents []filecoin.Node
	for i := range ch.DRGParents {
		parents = append(parents, ch.DRGParents[i].Labels[layer])
	}
	if layer > 0 {
		for i := range ch.ExpParents {
			parents = append(parents, ch.ExpParents[i].Labels[layer-1])
		}
	}
	return parents
}

func checkLabeling(at *place, l *Labeling, layer int, node uint64, parents []filecoin.Node) {
	at.sameNumber("layer_index", uint64(l.Layer), uint64(layer+1))
	at.sameNumber("node", l.Node, node)
	at.within("parents", func() {
		for i, want := range porep.RepeatParents(parents) {
			at.withinItem(i, func() { at.same("", l.Parents[i], want) })
		}
	})
}
