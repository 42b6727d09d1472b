package porep

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"golang.org/x/crypto/blake2b"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Graph tells the parents of a sector's nodes: some in the node's own layer, drawn at random among the nodes before it
// (the depth robust graph), and some in the layer before, by a permutation (the expander).
type Graph struct {
	nodes   uint64
	version filecoin.APIVersion
	drgSeed [32]byte  // 28 bytes; the last four are a node's number
	feistel [3]uint64 // keys of the permutation's rounds
	half    int       // bits of half a block of the permutation
}

// NewGraph makes the graph of sectors of this size, PoRep id and version.
func NewGraph(size filecoin.SectorSize, porepID filecoin.Node, version filecoin.APIVersion) *Graph {
	g := &Graph{nodes: size.Nodes(), version: version}
	seed := domainSeed("Filecoin_DRSample", porepID)
	copy(g.drgSeed[:28], seed[:28])
	seed = domainSeed("Filecoin_Feistel", porepID)
	for i := range g.feistel {
		g.feistel[i] = binary.LittleEndian.Uint64(seed[8*i:])
	}
	g.half = max(1, (bits.Len64(g.edges()-1)+1)/2)
	return g
}

func domainSeed(tag string, porepID filecoin.Node) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(tag), porepID[:]...))
}

// edges is the number of edges of the expander: the permutation's domain.
func (g *Graph) edges() uint64 { return filecoin.ExpanderParents * g.nodes }

// DRGParents are a node's parents in its own layer, in the order of the graph.
func (g *Graph) DRGParents(node uint64) [filecoin.DRGParents]uint64 {
	var parents [filecoin.DRGParents]uint64
	if node < 2 {
		return parents
	}
	drawn, predecessor := parents[1:], &parents[0]
	if g.version == filecoin.V1_0 {
		drawn, predecessor = parents[:filecoin.DRGParents-1], &parents[filecoin.DRGParents-1]
	}
	*predecessor = node - 1

	key := g.drgSeed
	binary.LittleEndian.PutUint32(key[28:], uint32(node))
	rng := newChaCha8(key)
	// The graph is drawn over "meta nodes", as many to a node as there are drawn parents. A distance is drawn by its
	// order of magnitude first.
	meta := uint64(len(drawn))
	count := node * meta
	magnitudes := uint64(bits.Len64(count - 1))
	for i := range drawn {
		farthest := min(count, 2<<(rng.uint64()%magnitudes))
		nearest := max(2, farthest>>1)
		distance := nearest + rng.uint64()%(farthest-nearest+1)
		drawn[i] = (count - distance) / meta
		if drawn[i] == node {
			drawn[i]--
		}
	}
	return parents
}

// ExpanderParents are a node's parents in the layer before.
func (g *Graph) ExpanderParents(node uint64) [filecoin.ExpanderParents]uint64 {
	var parents [filecoin.ExpanderParents]uint64
	for i := range parents {
		u := node*filecoin.ExpanderParents + uint64(i)
		for u = g.permute(u); u >= g.edges(); {
			u = g.permute(u)
		}
		if g.version == filecoin.V1_0 {
			u = uint64(uint32(u)) // the first version lost the upper bits, which matters from 32 GiB on
		}
		parents[i] = u / filecoin.ExpanderParents
	}
	return parents
}

// permute is one application of the Feistel permutation, whose domain is the next power of four from the number of edges.
func (g *Graph) permute(u uint64) uint64 {
	mask := uint64(1)<<g.half - 1
	left, right := u>>g.half&mask, u&mask
	for _, key := range g.feistel {
		left, right = right, left^feistelRound(right, key)&mask
	}
	return left<<g.half | right
}

func feistelRound(x, key uint64) uint64 {
	var buf [16]byte
	binary.BigEndian.PutUint64(buf[:], x)
	binary.BigEndian.PutUint64(buf[8:], key)
	digest := blake2b.Sum512(buf[:])
	return binary.BigEndian.Uint64(digest[:])
}
