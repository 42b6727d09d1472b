package fabricate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// PoRep makes the output of a seal's first commit phase, of a sector without data, and completes the statement with the
// commitments. Challenges must not depend on comm_r: only interactive proofs can be fabricated.
func PoRep(ctx context.Context, s *porep.Statement) (*vanilla.Commit1, error) {
	if s.Kind != filecoin.Interactive {
		return nil, fmt.Errorf("only interactive proofs can be fabricated: the challenges of others depend on comm_r, and need a sealed sector")
	}
	f := &porepSector{Statement: s, graph: s.Graph()}
	f.data = newUniformTree(merkle.SHA256, filecoin.BinaryTree.Arities(s.Shape.Sector.Nodes()), filecoin.Node{})
	s.CommD = f.data.root()
	f.replica = s.ReplicaID()
	if err := f.draw(); err != nil {
		return nil, err
	}
	f.label()
	if err := f.plant(ctx); err != nil {
		return nil, err
	}
	s.CommR = merkle.Poseidon.Hash([]filecoin.Node{f.columns.root(), f.nodes.root()})
	out := &vanilla.Commit1{Sector: &s.Sector, Shape: s.Shape, CommR: s.CommR, CommD: s.CommD, ReplicaID: f.replica, Seed: s.Seed, Ticket: s.Ticket}
	for _, challenges := range f.challenges {
		partition := make([]vanilla.Challenge, len(challenges))
		for i, c := range challenges {
			partition[i] = f.open(c)
		}
		out.Partitions = append(out.Partitions, partition)
	}
	return out, nil
}

// porepSector is as much of a sector as its challenges open.
type porepSector struct {
	*porep.Statement
	graph      *porep.Graph
	replica    filecoin.Node
	challenges [][]uint64
	// labels of challenged nodes and their parents, in all layers.
	labels map[uint64][]filecoin.Node

	data           *uniformTree
	columns, nodes *sparseTree
}

// draw draws the challenges of all partitions.
func (f *porepSector) draw() error {
	for k := range f.Shape.Partitions {
		challenges, err := f.Challenges(k)
		if err != nil {
			return err
		}
		f.challenges = append(f.challenges, challenges)
	}
	return nil
}

// label gives labels to challenged nodes and their parents. Those of challenged nodes are hashes of their parents';
// those of the others are looked at by nobody, and filled. A parent in the same layer comes before its node, so ascending
// order finds it labelled.
func (f *porepSector) label() {
	challenged := slices.Concat(f.challenges...)
	slices.Sort(challenged)
	challenged = slices.Compact(challenged)
	f.labels = map[uint64][]filecoin.Node{}
	for _, c := range challenged {
		f.labels[c] = make([]filecoin.Node, f.Shape.Layers)
	}
	for _, c := range challenged {
		drg, expander := f.graph.DRGParents(c), f.graph.ExpanderParents(c)
		for _, p := range append(drg[:], expander[:]...) {
			if f.labels[p] != nil {
				continue
			}
			f.labels[p] = make([]filecoin.Node, f.Shape.Layers)
			for layer := range f.labels[p] {
				f.labels[p][layer] = filler("label", uint64(layer), p)
			}
		}
	}
	for layer := range f.Shape.Layers {
		for _, c := range challenged {
			f.labels[c][layer] = porep.Label(f.replica, uint32(layer+1), c, f.parents(layer, c))
		}
	}
}

// parents are the labels that a node's label in a layer (from 0) hashes, each once.
func (f *porepSector) parents(layer int, node uint64) []filecoin.Node {
	var parents []filecoin.Node
	for _, p := range f.graph.DRGParents(node) {
		parents = append(parents, f.labels[p][layer])
	}
	if layer > 0 {
		for _, p := range f.graph.ExpanderParents(node) {
			parents = append(parents, f.labels[p][layer-1])
		}
	}
	return parents
}

// plant makes the trees over columns and replica.
func (f *porepSector) plant(ctx context.Context) (err error) {
	arities := f.Shape.Sector.Tree().Arities(f.Shape.Sector.Nodes())
	known := slices.Sorted(maps.Keys(f.labels))
	hashes := make([]filecoin.Node, len(known))
	if err := parallel.Ranges(ctx, len(known), 16, func(start, end int) error {
		for i := start; i < end; i++ {
			hashes[i] = merkle.Poseidon.Hash(f.labels[known[i]])
		}
		return nil
	}); err != nil {
		return err
	}
	columns, nodes := map[uint64]filecoin.Node{}, map[uint64]filecoin.Node{}
	for i, node := range known {
		columns[node] = hashes[i]
	}
	for _, c := range slices.Concat(f.challenges...) {
		nodes[c] = porep.Encode(f.labels[c][f.Shape.Layers-1], f.data.node(0, c))
	}
	if f.columns, err = newSparseTree(ctx, "treec", 0, arities, columns); err != nil {
		return err
	}
	f.nodes, err = newSparseTree(ctx, "treer", 0, arities, nodes)
	return err
}

// open is what a challenge asks for.
func (f *porepSector) open(c uint64) vanilla.Challenge {
	out := vanilla.Challenge{
		Data:    open(f.data, filecoin.BinaryTree.Arities(f.Shape.Sector.Nodes()), c),
		Replica: f.nodes.open(c),
		Column:  f.column(c),
	}
	for _, p := range f.graph.DRGParents(c) {
		out.DRGParents = append(out.DRGParents, f.column(p))
	}
	for _, p := range f.graph.ExpanderParents(c) {
		out.ExpParents = append(out.ExpParents, f.column(p))
	}
	for layer := range f.Shape.Layers {
		out.Labels = append(out.Labels, vanilla.Labeling{
			Parents: porep.RepeatParents(f.parents(layer, c)), Layer: uint32(layer + 1), Node: c,
		})
	}
	out.Encoding = out.Labels[len(out.Labels)-1]
	return out
}

func (f *porepSector) column(node uint64) vanilla.Column {
	return vanilla.Column{Node: uint32(node), Labels: f.labels[node], Proof: f.columns.open(node)}
}
