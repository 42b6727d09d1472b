package fabricate

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// Snap makes the vanilla proofs of all partitions of an update, and completes the statement with the commitments. The old
// replica holds the same node everywhere, and so do the new data.
func Snap(s *snap.Statement) ([]*vanilla.Snap, error) {
	f := &snapSector{Statement: s, replica: s.Shape.Sector.Tree().Arities(s.Shape.Sector.Nodes())}
	f.dataArities, f.commC = filecoin.BinaryTree.Arities(s.Shape.Sector.Nodes()), filler("commc", 0, 0)
	hasher := merkle.SHA256
	if s.Shape.Poseidon {
		f.dataArities, hasher = f.replica, merkle.Poseidon
	}
	f.old = newUniformTree(merkle.Poseidon, f.replica, filler("replica", 0, 0))
	f.data = newUniformTree(hasher, f.dataArities, filler("data", 0, 0))
	s.CommROld = merkle.Poseidon.Hash([]filecoin.Node{f.commC, f.old.root()})
	s.CommDNew = f.data.root()
	encoding, err := s.Encoding()
	if err != nil {
		return nil, err
	}
	f.updated = newBlockTree(f.replica, encoding.BlockNodes(), func(block uint64) filecoin.Node {
		old, _ := f.old.node(0, 0).Element()
		data, _ := f.data.node(0, 0).Element()
		rho := encoding.Rho(block)
		var e fr.Element
		return filecoin.NodeOf(*e.Mul(&data, &rho).Add(&e, &old))
	})
	s.CommRNew = merkle.Poseidon.Hash([]filecoin.Node{f.commC, f.updated.root()})
	proofs := make([]*vanilla.Snap, s.Shape.Partitions)
	for k := range proofs {
		if proofs[k], err = f.open(k); err != nil {
			return nil, err
		}
	}
	return proofs, s.Check()
}

type snapSector struct {
	*snap.Statement
	replica, dataArities []int
	commC                filecoin.Node
	old, data            *uniformTree
	updated              *blockTree
}

// open is what the challenges of a partition ask for.
func (f *snapSector) open(partition int) (*vanilla.Snap, error) {
	challenges, err := f.Challenges(partition)
	if err != nil {
		return nil, err
	}
	p := &vanilla.Snap{CommC: f.commC}
	if !f.Shape.Poseidon {
		level := len(f.dataArities) - f.Shape.PartitionBits() - f.Shape.ApexBits()
		for range f.Shape.ApexLeaves {
			p.ApexLeaves = append(p.ApexLeaves, f.data.node(level, 0))
		}
	}
	for _, c := range challenges {
		p.Challenges = append(p.Challenges, vanilla.SnapChallenge{
			Old: open(f.old, f.replica, c), Data: open(f.data, f.dataArities, c), New: open(f.updated, f.replica, c),
		})
	}
	return p, nil
}

// blockTree is a tree whose leaves are equal within blocks of a power of two. A node below which lies one block alone is
// the same all over the block, so few nodes are ever computed.
type blockTree struct {
	arities []int
	size    uint64 // of a block
	leaf    func(block uint64) filecoin.Node
	known   map[position]filecoin.Node
}

// position is a node's place, or where a node stands for those of a block, that of the first.
type position struct {
	level int
	index uint64
}

func newBlockTree(arities []int, size uint64, leaf func(block uint64) filecoin.Node) *blockTree {
	return &blockTree{arities: arities, size: size, leaf: leaf, known: map[position]filecoin.Node{}}
}

func (t *blockTree) root() filecoin.Node { return t.node(len(t.arities), 0) }

func (t *blockTree) node(level int, index uint64) filecoin.Node {
	width := t.width(level)
	at := position{level, index}
	block := index * width / t.size
	if width <= t.size {
		at.index = block * (t.size / width)
	}
	if n, ok := t.known[at]; ok {
		return n
	}
	var n filecoin.Node
	if level == 0 {
		n = t.leaf(block)
	} else {
		arity := uint64(t.arities[level-1])
		children := make([]filecoin.Node, arity)
		for i := range arity {
			children[i] = t.node(level-1, at.index*arity+i)
		}
		n = merkle.Poseidon.Hash(children)
	}
	t.known[at] = n
	return n
}

// width is the number of leaves below a node of a level.
func (t *blockTree) width(level int) uint64 {
	width := uint64(1)
	for _, arity := range t.arities[:level] {
		width *= uint64(arity)
	}
	return width
}
