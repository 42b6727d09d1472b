// Package update is the circuit of a partition of an empty sector's update (SnapDeals): that nodes of the new replica are
// those of the old one with the new data encoded into them. Its Poseidon variant has one partition, and hashes the tree
// over the data with Poseidon too.
package update

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/poseidon"
)

// Shape is what the circuit depends on.
type Shape struct {
	Poseidon bool
	// NodeBits, PartitionBits and ApexBits are the logarithms of the numbers of nodes, partitions and apex leaves.
	NodeBits, PartitionBits, ApexBits int
	Challenges                        int
	// H lists the choices of the length of a block's number.
	H []int
	// Replica lists the arities of the trees over the replicas, from the leaves to the root.
	Replica []int
}

// ShapeOf is the circuit's shape for that of a proof.
func ShapeOf(s filecoin.SnapShape) Shape {
	return Shape{
		Poseidon: s.Poseidon, NodeBits: s.Sector.Log2Nodes(), PartitionBits: s.PartitionBits(), ApexBits: s.ApexBits(),
		Challenges: s.Challenges, H: s.H(), Replica: s.Sector.Tree().Arities(s.Sector.Nodes()),
	}
}

// challengeBits is the number of bits of a challenge that are drawn, digestChallenges that of challenges that one digest
// yields, digests that of digests.
func (s Shape) challengeBits() int    { return s.NodeBits - s.PartitionBits }
func (s Shape) digestChallenges() int { return (fr.Bits - 1) / s.challengeBits() }
func (s Shape) digests() int {
	return (s.Challenges + s.digestChallenges() - 1) / s.digestChallenges()
}

// apexPathBits is the number of levels of the data tree below the apex.
func (s Shape) apexPathBits() int { return s.challengeBits() - s.ApexBits }

// data lists the arities of the path to the data tree's node that a challenge opens: to a leaf of the apex, or the root.
func (s Shape) data() []int {
	if s.Poseidon {
		return s.Replica
	}
	return filecoin.BinaryTree.Arities(1 << s.apexPathBits())
}

// DataLevels is the number of levels that a challenge opens of the data tree.
func (s Shape) DataLevels() int { return len(s.data()) }

// Partition is the input of a partition.
type Partition struct {
	Shape Shape
	// Number is the partition's number, SelectH a bit for each choice of h.
	Number, SelectH int
	CommROld, CommDNew, CommRNew,
	CommC, RootROld, RootRNew fr.Element
	// ApexLeaves are the partition's nodes of the data tree; ApexPath leads from their root to comm_d_new.
	ApexLeaves []fr.Element
	ApexPath   gadget.Path
	Challenges []*Challenge
}

// Challenge is what is proved of a challenged node: its old and its new data, and its paths. The data's leads to an apex
// leaf.
type Challenge struct {
	ROld, DNew                   fr.Element
	ROldPath, DNewPath, RNewPath gadget.Path
}

// Blank is a partition without values, on which the structure is recorded.
func (s Shape) Blank() *Partition {
	challenge := &Challenge{
		ROldPath: gadget.BlankPath(s.Replica), DNewPath: gadget.BlankPath(s.data()), RNewPath: gadget.BlankPath(s.Replica),
	}
	p := &Partition{Shape: s, Challenges: make([]*Challenge, s.Challenges)}
	for i := range p.Challenges {
		p.Challenges[i] = challenge
	}
	if !s.Poseidon {
		p.ApexLeaves = make([]fr.Element, 1<<s.ApexBits)
		p.ApexPath = gadget.BlankPath(filecoin.BinaryTree.Arities(1 << s.PartitionBits))
	}
	return p
}

// circuit is what the steps of the description share.
type circuit[N, B, W any] struct {
	*Partition
	partitionBits, selectH             []B
	partition, commDNew, commRNew, phi N
	rootROld, rootRNew                 N
	apexLeaves                         []N
	apexPath                           [][]N
	digests                            [][]B
}

// Describe is the circuit.
func Describe[N, B, W any](s gadget.System[N, B, W], p *Partition) {
	c := circuit[N, B, W]{Partition: p}
	c.head(s)
	if !p.Shape.Poseidon {
		c.apex(s)
	}
	c.draw(s)
	s.Blocks(len(p.Challenges), c.arguments, func(s gadget.System[N, B, W], i int, a gadget.Arguments[N, B]) []N {
		index := append(a.Bits[:len(a.Bits):len(a.Bits)], c.partitionBits...)
		c.challenge(s, p.Challenges[i], index)
		return nil
	})
}

// head allocates the partition's number, the commitments and what they are made of.
func (c *circuit[N, B, W]) head(s gadget.System[N, B, W]) {
	p, shape := c.Partition, c.Shape
	number := s.Num(fr.NewElement(uint64(p.Number | p.SelectH<<shape.PartitionBits)))
	s.Input(number)
	flags := gadget.Bits(s, p.Number|p.SelectH<<shape.PartitionBits, shape.PartitionBits+len(shape.H))
	s.CheckPacked(flags, number)
	c.partitionBits, c.selectH = flags[:shape.PartitionBits], flags[shape.PartitionBits:]
	if !shape.Poseidon {
		c.partition = s.Pack(c.partitionBits)
	}
	commROld := input(s, p.CommROld)
	c.commDNew = input(s, p.CommDNew)
	c.commRNew = input(s, p.CommRNew)
	c.phi = pair(s, c.commDNew, commROld)
	commC := s.Num(p.CommC)
	c.rootROld, c.rootRNew = s.Num(p.RootROld), s.Num(p.RootRNew)
	c.apexLeaves = gadget.Nums(s, p.ApexLeaves)
	c.apexPath = gadget.Siblings(s, p.ApexPath)
	s.Equal(gadget.TreeHash(s, []N{commC, c.rootROld}), commROld)
	s.Equal(gadget.TreeHash(s, []N{commC, c.rootRNew}), c.commRNew)
}

func input[N, B, W any](s gadget.System[N, B, W], value fr.Element) N {
	n := s.Num(value)
	s.Input(n)
	return n
}

// pair is the hash of two numbers under the tag of the update's own hashes.
func pair[N, B, W any](s gadget.System[N, B, W], a, b N) N {
	return s.Poseidon(poseidon.CustomTag(1), []N{a, b})
}

// apex proves that the apex leaves are the partition's in comm_d_new.
func (c *circuit[N, B, W]) apex(s gadget.System[N, B, W]) {
	level := c.apexLeaves
	for len(level) > 1 {
		children := level
		nodes := s.Blocks(len(level)/2, func(i int) gadget.Arguments[N, B] {
			return gadget.Arguments[N, B]{Numbers: children[2*i : 2*i+2]}
		}, func(s gadget.System[N, B, W], _ int, a gadget.Arguments[N, B]) []N {
			return []N{gadget.DataHash(s, a.Numbers)}
		})
		level = nil
		for _, n := range nodes {
			level = append(level, n...)
		}
	}
	gadget.IncludeAt(s, gadget.DataHash[N, B, W], level[0], c.partitionBits, c.apexPath, c.commDNew)
}

// draw allocates the digests whose bits are the challenges. The Poseidon variant has a number for the partition that
// nothing constrains.
func (c *circuit[N, B, W]) draw(s gadget.System[N, B, W]) {
	if c.Shape.Poseidon {
		c.partition = s.Num(fr.Element{})
	}
	digests := c.Shape.digests()
	for j := range digests {
		index := s.Affine(c.partition, uint64(digests), uint64(j))
		c.digests = append(c.digests, s.Binary(pair(s, c.commRNew, index)))
	}
}

// arguments are the bits of a challenge, without the partition's.
func (c *circuit[N, B, W]) arguments(i int) gadget.Arguments[N, B] {
	perDigest, length := c.Shape.digestChallenges(), c.Shape.challengeBits()
	return gadget.Arguments[N, B]{Bits: c.digests[i/perDigest][i%perDigest*length:][:length]}
}

func (c *circuit[N, B, W]) challenge(s gadget.System[N, B, W], values *Challenge, index []B) {
	rho := pair(s, c.phi, c.block(s, index))
	rOld := s.Num(values.ROld)
	dNew := s.Num(values.DNew)
	rNew := s.Sum(rOld, s.Product(dNew, rho))
	siblings := gadget.Siblings(s, values.ROldPath)
	gadget.IncludeAt(s, gadget.TreeHash[N, B, W], rOld, index, siblings, c.rootROld)
	siblings = gadget.Siblings(s, values.RNewPath)
	gadget.IncludeAt(s, gadget.TreeHash[N, B, W], rNew, index, siblings, c.rootRNew)
	if c.Shape.Poseidon {
		siblings = gadget.Siblings(s, values.DNewPath)
		gadget.IncludeAt(s, gadget.TreeHash[N, B, W], dNew, index, siblings, c.commDNew)
		return
	}
	below := c.Shape.apexPathBits()
	leaf := gadget.Select(s, c.apexLeaves, index[below:below+c.Shape.ApexBits])
	siblings = gadget.Siblings(s, values.DNewPath)
	gadget.IncludeAt(s, gadget.DataHash[N, B, W], dNew, index[:below], siblings, leaf)
}

// block is the number of the block from which the node's encoding takes its randomness: as many of the index's highest bits
// as the selected h tells.
func (c *circuit[N, B, W]) block(s gadget.System[N, B, W], index []B) N {
	gated := make([]N, len(c.Shape.H))
	for i, h := range c.Shape.H {
		gated[i] = s.Gate(s.Pack(index[len(index)-h:]), c.selectH[i])
	}
	return s.Sum(gated...)
}

// Fits tells whether a partition has what its shape has.
func (p *Partition) Fits() bool {
	s := p.Shape
	if len(p.Challenges) != s.Challenges {
		return false
	}
	if !s.Poseidon && (len(p.ApexLeaves) != 1<<s.ApexBits || !p.ApexPath.Fits(filecoin.BinaryTree.Arities(1<<s.PartitionBits))) {
		return false
	}
	for _, c := range p.Challenges {
		if !c.ROldPath.Fits(s.Replica) || !c.RNewPath.Fits(s.Replica) || !c.DNewPath.Fits(s.data()) {
			return false
		}
	}
	return true
}
