package vanilla

import (
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
)

// tree is the shape of a tree that proofs open.
type tree struct {
	// base, sub and top are the arities of a path's levels in the trees of each kind.
	base, sub, top []int
	hasher         merkle.Hasher
}

// dataTree is the binary tree over a sector's data.
func dataTree(size filecoin.SectorSize) tree {
	return tree{base: filecoin.BinaryTree.Arities(size.Nodes()), hasher: merkle.SHA256}
}

// replicaTree is the tree over a sector's columns, or over its replica.
func replicaTree(size filecoin.SectorSize) tree {
	shape := size.Tree()
	t := tree{base: shape.Arities(size.Nodes()), hasher: merkle.Poseidon}
	cut := func(arity int) []int {
		if arity == 0 {
			return nil
		}
		last := len(t.base) - 1
		level := t.base[last:]
		t.base = t.base[:last]
		return level
	}
	t.top = cut(shape.Top)
	t.sub = cut(shape.Sub)
	return t
}

// visit describes a proof of the tree: one, two or three paths, of which the later open trees of roots.
func (t *tree) visit(c codec, p *merkle.Proof) {
	levels := len(t.base) + len(t.sub) + len(t.top)
	prepare := func() {
		if p.Path == nil {
			p.Path = make([]merkle.Step, levels)
		}
	}
	path := func(first int, arities []int) func() {
		return func() {
			prepare()
			visitPath(c, p.Path[first:first+len(arities)], arities)
		}
	}
	root, leaf := field{"root", func() { c.node(&p.Root) }}, field{"leaf", func() { c.node(&p.Leaf) }}
	base := path(0, t.base)
	c.object(field{"data", func() {
		switch {
		case t.top != nil:
			c.variant(2, "Top", func() {
				c.object(field{"base_proof", base}, field{"sub_proof", path(len(t.base), t.sub)},
					field{"top_proof", path(len(t.base)+len(t.sub), t.top)}, root, leaf)
			})
		case t.sub != nil:
			c.variant(1, "Sub", func() {
				c.object(field{"base_proof", base}, field{"sub_proof", path(len(t.base), t.sub)}, root, leaf)
			})
		default:
			c.variant(0, "Single", func() { c.object(root, leaf, field{"path", base}) })
		}
	}})
}

func visitPath(c codec, steps []merkle.Step, arities []int) {
	c.object(field{"path", func() {
		c.list(len(arities), nil, func(i int) {
			s, arity := &steps[i], arities[i]
			c.object(
				field{"hashes", func() { visitNodes(c, &s.Siblings, arity-1) }},
				field{"index", func() {
					index := uint64(s.Index)
					c.uint64(&index)
					c.check(index < uint64(arity), "is %d, but there are only %d nodes", index, arity)
					s.Index = uint32(index)
				}})
		})
	}})
}

// visitNodes describes a list of nodes.
func visitNodes(c codec, nodes *[]filecoin.Node, n int) {
	prepare := func() {
		if *nodes == nil {
			*nodes = make([]filecoin.Node, n)
		}
	}
	c.list(n, prepare, func(i int) { c.node(&(*nodes)[i]) })
}
