package fabricate

import (
	"context"
	"maps"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// sparseTree is a tree of which only the paths of some leaves are known; every other node beside them is a filler.
type sparseTree struct {
	tag     string
	salt    uint64
	arities []int
	// levels hold the known nodes by their index, leaves first, the root last.
	levels []map[uint64]filecoin.Node
}

// newSparseTree computes the paths from the given leaves to a root.
func newSparseTree(ctx context.Context, tag string, salt uint64, arities []int, leaves map[uint64]filecoin.Node) (*sparseTree, error) {
	t := &sparseTree{tag: tag, salt: salt, arities: arities, levels: []map[uint64]filecoin.Node{leaves}}
	for level, arity := range arities {
		above := map[uint64]bool{}
		for index := range t.levels[level] {
			above[index/uint64(arity)] = true
		}
		indices := slices.Sorted(maps.Keys(above))
		nodes := make([]filecoin.Node, len(indices))
		err := parallel.Ranges(ctx, len(indices), 16, func(start, end int) error {
			for i := start; i < end; i++ {
				nodes[i] = merkle.Poseidon.Hash(t.children(level, indices[i]))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		known := make(map[uint64]filecoin.Node, len(indices))
		for i, index := range indices {
			known[index] = nodes[i]
		}
		t.levels = append(t.levels, known)
	}
	return t, nil
}

// children are those, on a level, of a node above it.
func (t *sparseTree) children(level int, parent uint64) []filecoin.Node {
	arity := t.arities[level]
	out := make([]filecoin.Node, arity)
	for i := range out {
		out[i] = t.node(level, parent*uint64(arity)+uint64(i))
	}
	return out
}

func (t *sparseTree) node(level int, index uint64) filecoin.Node {
	if n, ok := t.levels[level][index]; ok {
		return n
	}
	return filler(t.tag, uint64(level)+t.salt<<8, index)
}

func (t *sparseTree) root() filecoin.Node { return t.levels[len(t.arities)][0] }

// open proves a leaf.
func (t *sparseTree) open(leaf uint64) merkle.Proof { return open(t, t.arities, leaf) }

// tree gives the nodes of a tree, by level from the leaves and by index.
type tree interface {
	node(level int, index uint64) filecoin.Node
	root() filecoin.Node
}

// open proves a leaf of a tree.
func open(t tree, arities []int, leaf uint64) merkle.Proof {
	p := merkle.Proof{Root: t.root(), Leaf: t.node(0, leaf), Path: make([]merkle.Step, len(arities))}
	index := leaf
	for level, arity := range arities {
		own := index % uint64(arity)
		first := index - own
		siblings := make([]filecoin.Node, 0, arity-1)
		for i := range uint64(arity) {
			if i != own {
				siblings = append(siblings, t.node(level, first+i))
			}
		}
		p.Path[level] = merkle.Step{Siblings: siblings, Index: uint32(own)}
		index /= uint64(arity)
	}
	return p
}

// uniformTree is a tree whose leaves are all equal: one node a level.
type uniformTree struct{ levels []filecoin.Node }

func newUniformTree(h merkle.Hasher, arities []int, leaf filecoin.Node) *uniformTree {
	t := &uniformTree{levels: []filecoin.Node{leaf}}
	for level, arity := range arities {
		t.levels = append(t.levels, h.Hash(slices.Repeat(t.levels[level:], arity)))
	}
	return t
}

func (t *uniformTree) node(level int, _ uint64) filecoin.Node { return t.levels[level] }
func (t *uniformTree) root() filecoin.Node                    { return t.levels[len(t.levels)-1] }
