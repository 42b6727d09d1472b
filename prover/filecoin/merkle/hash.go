// Package merkle hashes and opens the Merkle trees of sectors: binary ones of SHA-256 over the data, octal ones of
// Poseidon over columns and replica.
package merkle

import (
	"crypto/sha256"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/poseidon"
)

// Hasher is the hash function of a tree.
type Hasher uint8

// The two functions in use.
const (
	Poseidon Hasher = iota
	SHA256
)

// Hash is the parent of these nodes, which must be canonical for Poseidon.
func (h Hasher) Hash(children []filecoin.Node) filecoin.Node {
	if h == SHA256 {
		return hashSHA256(children)
	}
	elements := make([]fr.Element, len(children))
	for i, n := range children {
		elements[i], _ = n.Element()
	}
	return filecoin.NodeOf(poseidon.Node(elements))
}

func hashSHA256(children []filecoin.Node) filecoin.Node {
	buf := make([]byte, 0, 2*filecoin.NodeBytes)
	for _, n := range children {
		buf = append(buf, n[:]...)
	}
	return filecoin.Node(sha256.Sum256(buf)).Trim()
}
