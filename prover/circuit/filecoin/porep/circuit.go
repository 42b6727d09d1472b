// Package porep is the circuit of a partition of a stacked DRG proof of replication: for each challenged node, that the
// replica's node is the data's node encoded with the label that its parents determine.
package porep

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Shape is what the circuit depends on.
type Shape struct {
	Layers, Challenges int
	// Data lists the arities of the tree over the data, Replica those of the trees over columns and over the replica, from
	// the leaves to the root.
	Data, Replica []int
}

// ShapeOf is the circuit's shape for that of a proof.
func ShapeOf(s filecoin.PoRepShape) Shape {
	nodes := s.Sector.Nodes()
	return Shape{Layers: s.Layers, Challenges: s.Challenges,
		Data: filecoin.BinaryTree.Arities(nodes), Replica: s.Sector.Tree().Arities(nodes)}
}

// Partition is the input of a partition.
type Partition struct {
	ReplicaID, CommD, CommR, CommRLast, CommC fr.Element
	Challenges                                []*Challenge
}

// Challenge is what is proved of a challenged node.
type Challenge struct {
	Node     uint64
	DataLeaf fr.Element
	// DataPath, ReplicaPath and ColumnPath lead from the node to comm_d, comm_r_last and comm_c.
	DataPath, ReplicaPath, ColumnPath gadget.Path
	// DRGParents and ExpanderParents are the columns of the node's parents, in the graph's order.
	DRGParents, ExpanderParents []Column
}

// Column is a node's labels, layer 1 first, with its path to comm_c.
type Column struct {
	Labels []fr.Element
	Path   gadget.Path
}

// Blank is a partition without values, on which the structure is recorded.
func (s Shape) Blank() *Partition {
	columns := func(n int) []Column {
		out := make([]Column, n)
		for i := range out {
			out[i] = Column{make([]fr.Element, s.Layers), gadget.BlankPath(s.Replica)}
		}
		return out
	}
	challenge := &Challenge{
		DataPath: gadget.BlankPath(s.Data), ReplicaPath: gadget.BlankPath(s.Replica), ColumnPath: gadget.BlankPath(s.Replica),
		DRGParents: columns(filecoin.DRGParents), ExpanderParents: columns(filecoin.ExpanderParents),
	}
	p := &Partition{Challenges: make([]*Challenge, s.Challenges)}
	for i := range p.Challenges {
		p.Challenges[i] = challenge
	}
	return p
}

// commitments are the numbers that all challenges share.
type commitments[N, W any] struct {
	replicaID               W
	commD, commRLast, commC N
}

// Describe is the circuit.
func Describe[N, B, W any](s gadget.System[N, B, W], p *Partition) {
	var c commitments[N, W]
	replicaID := s.Num(p.ReplicaID)
	s.Input(replicaID)
	c.replicaID = s.Bytes(replicaID)
	c.commD = s.Num(p.CommD)
	s.Input(c.commD)
	commR := s.Num(p.CommR)
	s.Input(commR)
	c.commRLast = s.Num(p.CommRLast)
	c.commC = s.Num(p.CommC)
	s.Equal(commR, gadget.TreeHash(s, []N{c.commC, c.commRLast}))
	s.Blocks(len(p.Challenges), gadget.NoArguments[N, B], func(s gadget.System[N, B, W], i int, _ gadget.Arguments[N, B]) []N {
		challenge(s, &c, p.Challenges[i])
		return nil
	})
}

func challenge[N, B, W any](s gadget.System[N, B, W], shared *commitments[N, W], c *Challenge) {
	data := s.Num(c.DataLeaf)
	gadget.Include(s, gadget.DataHash[N, B, W], data, c.DataPath, shared.commD)
	drg := columns(s, c.DRGParents, shared.commC)
	expander := columns(s, c.ExpanderParents, shared.commC)
	node := gadget.Bits(s, int(c.Node), 64)
	s.PackInput(node)
	labels := make([]N, len(c.DRGParents[0].Labels))
	for layer := range labels {
		parents := bytesOfLayer(s, drg, layer)
		if layer > 0 {
			parents = append(parents, bytesOfLayer(s, expander, layer-1)...)
		}
		labels[layer] = label(s, shared.replicaID, uint32(layer+1), node, parents)
	}
	encoded := s.Sum(labels[len(labels)-1], data)
	gadget.Include(s, gadget.TreeHash[N, B, W], encoded, c.ReplicaPath, shared.commRLast)
	gadget.Include(s, gadget.TreeHash[N, B, W], gadget.TreeHash(s, labels), c.ColumnPath, shared.commC)
}

// columns allocates parents' columns and proves that they are in comm_c.
func columns[N, B, W any](s gadget.System[N, B, W], parents []Column, commC N) [][]N {
	out := make([][]N, len(parents))
	for i, column := range parents {
		out[i] = gadget.Nums(s, column.Labels)
		gadget.Include(s, gadget.TreeHash[N, B, W], gadget.TreeHash(s, out[i]), column.Path, commC)
	}
	return out
}

func bytesOfLayer[N, B, W any](s gadget.System[N, B, W], columns [][]N, layer int) []W {
	out := make([]W, len(columns))
	for i, labels := range columns {
		out[i] = s.Bytes(labels[layer])
	}
	return out
}

// label hashes the parents' labels, repeated to their number in a label.
func label[N, B, W any](s gadget.System[N, B, W], replicaID W, layer uint32, node []B, parents []W) N {
	chunks := []W{replicaID, s.LabelHeader(layer, node)}
	for i := range filecoin.LabelParents {
		chunks = append(chunks, parents[i%len(parents)])
	}
	return s.SHA256(chunks)
}

// Fits tells whether a partition has what a shape has.
func (p *Partition) Fits(s Shape) bool {
	if len(p.Challenges) != s.Challenges {
		return false
	}
	for _, c := range p.Challenges {
		if !c.DataPath.Fits(s.Data) || !c.ReplicaPath.Fits(s.Replica) || !c.ColumnPath.Fits(s.Replica) ||
			!fit(c.DRGParents, filecoin.DRGParents, s) || !fit(c.ExpanderParents, filecoin.ExpanderParents, s) {
			return false
		}
	}
	return true
}

func fit(columns []Column, n int, s Shape) bool {
	if len(columns) != n {
		return false
	}
	for _, c := range columns {
		if len(c.Labels) != s.Layers || !c.Path.Fits(s.Replica) {
			return false
		}
	}
	return true
}
