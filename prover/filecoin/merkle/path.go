package merkle

import (
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Step is one level of a path: the node's position among its siblings, which are listed without it.
type Step struct {
	Siblings []filecoin.Node
	Index    uint32
}

// Proof is that a leaf belongs to a tree, with the path from the leaf to the root: the levels of the base tree, then those
// that join trees.
type Proof struct {
	Root, Leaf filecoin.Node
	Path       []Step
}

// PathError tells which level of a path is wrong.
type PathError struct {
	Level int
	// Sibling is the sibling concerned, or -1.
	Sibling int
	Reason  string
}

func (e *PathError) Error() string { return e.Reason }

// LeafIndex is the leaf's number, which the positions along the path tell.
func (p *Proof) LeafIndex() uint64 {
	index := uint64(0)
	for i := len(p.Path) - 1; i >= 0; i-- {
		index = index*uint64(len(p.Path[i].Siblings)+1) + uint64(p.Path[i].Index)
	}
	return index
}

// Check computes the root from the leaf and compares it with the proof's. Its errors are *PathError where a level is
// concerned.
func (p *Proof) Check(h Hasher) error {
	node := p.Leaf
	if !node.IsCanonical() {
		return fmt.Errorf("the leaf is not below the field's modulus")
	}
	for level, step := range p.Path {
		arity := len(step.Siblings) + 1
		if step.Index >= uint32(arity) {
			return &PathError{level, -1, fmt.Sprintf("index %d among %d nodes", step.Index, arity)}
		}
		children := make([]filecoin.Node, 0, arity)
		children = append(children, step.Siblings[:step.Index]...)
		children = append(append(children, node), step.Siblings[step.Index:]...)
		for i, n := range step.Siblings {
			if !n.IsCanonical() {
				return &PathError{level, i, "the node is not below the field's modulus"}
			}
		}
		node = h.Hash(children)
	}
	if node != p.Root {
		return fmt.Errorf("the path leads to the root %s, not to %s", node, p.Root)
	}
	return nil
}
