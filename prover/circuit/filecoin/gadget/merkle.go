package gadget

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/filecoin/poseidon"
)

// Path is the way from a leaf to its tree's root, the leaf's level first.
type Path []Level

// Level is a node's position among its siblings, 0 to the number of siblings, and they from left to right.
type Level struct {
	Index    int
	Siblings []fr.Element
}

// BlankPath is a path without values through levels of the given arities.
func BlankPath(arities []int) Path {
	p := make(Path, len(arities))
	for i, arity := range arities {
		p[i].Siblings = make([]fr.Element, arity-1)
	}
	return p
}

// Fits tells whether the path has levels of these arities.
func (p Path) Fits(arities []int) bool {
	if len(p) != len(arities) {
		return false
	}
	for i, l := range p {
		if len(l.Siblings) != arities[i]-1 || l.Index < 0 || l.Index >= arities[i] {
			return false
		}
	}
	return true
}

// Hash joins the children of a node.
type Hash[N, B, W any] func(s System[N, B, W], children []N) N

// TreeHash is the Poseidon of columns and of the trees over columns and replica.
func TreeHash[N, B, W any](s System[N, B, W], children []N) N {
	return s.Poseidon(poseidon.MerkleTag(len(children)), children)
}

// DataHash is the SHA-256 of the tree over the sector's data.
func DataHash[N, B, W any](s System[N, B, W], children []N) N {
	chunks := make([]W, len(children))
	for i, n := range children {
		chunks[i] = s.Bytes(n)
	}
	return s.SHA256(chunks)
}

// Include proves that a leaf is in the tree of a root, and makes its index a public input.
func Include[N, B, W any](s System[N, B, W], hash Hash[N, B, W], leaf N, path Path, root N) {
	var index []B
	current := leaf
	for _, level := range path {
		position := Bits(s, level.Index, log2(len(level.Siblings)+1))
		siblings := Nums(s, level.Siblings)
		current = hash(s, Insert(s, current, position, siblings))
		index = append(index, position...)
	}
	s.PackInput(index)
	s.Equal(current, root)
}

// IncludeAt is Include for an index whose bits have been allocated already, and are no public input.
func IncludeAt[N, B, W any](s System[N, B, W], hash Hash[N, B, W], leaf N, index []B, siblings [][]N, root N) {
	current := leaf
	for _, level := range siblings {
		n := log2(len(level) + 1)
		current = hash(s, Insert(s, current, index[:n], level))
		index = index[n:]
	}
	s.Equal(current, root)
}

// Siblings allocates the siblings of a path.
func Siblings[N, B, W any](s System[N, B, W], path Path) [][]N {
	out := make([][]N, len(path))
	for i, level := range path {
		out[i] = Nums(s, level.Siblings)
	}
	return out
}

// Nums allocates numbers.
func Nums[N, B, W any](s System[N, B, W], values []fr.Element) []N {
	out := make([]N, len(values))
	for i := range values {
		out[i] = s.Num(values[i])
	}
	return out
}

// Bits allocates the n lowest bits of a number, the least significant first.
func Bits[N, B, W any](s System[N, B, W], value, n int) []B {
	out := make([]B, n)
	for i := range out {
		out[i] = s.Bit(value>>i&1 == 1)
	}
	return out
}

func log2(n int) int { return bits.Len(uint(n)) - 1 }
