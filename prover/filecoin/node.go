// Package filecoin holds what Filecoin's proofs have in common: sector sizes, registered proofs, the shapes of their
// circuits and the names of their parameters, identities and commitments.
package filecoin

import (
	"encoding/hex"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// NodeBytes is the size of a node.
const NodeBytes = fr.Bytes

// Node is 32 bytes that stand for an element of BLS12-381's scalar field, least significant byte first: a node of a tree
// or of a sector, a label, a commitment, a replica id. One that came from outside need not be canonical.
type Node [NodeBytes]byte

// NodeOf is the node of an element.
func NodeOf(e fr.Element) Node {
	var n Node
	fr.LittleEndian.PutElement((*[NodeBytes]byte)(&n), e)
	return n
}

// Element is the node's field element; ok is false where the node is not below the modulus.
func (n Node) Element() (e fr.Element, ok bool) {
	e, err := fr.LittleEndian.Element((*[NodeBytes]byte)(&n))
	return e, err == nil
}

// IsCanonical tells whether the node is below the modulus.
func (n Node) IsCanonical() bool { return curve.BLS12381.FirstUnreducedScalar(n[:]) < 0 }

// Trim clears the two top bits, so that any hash becomes a canonical node.
func (n Node) Trim() Node {
	n[NodeBytes-1] &= 0x3f
	return n
}

// String is the node in hex, as its bytes lie in files.
func (n Node) String() string { return hex.EncodeToString(n[:]) }

// Scalar is a canonical node as a canonical scalar.
func (n Node) Scalar() curve.Scalar { return curve.Load[curve.Scalar](n[:]) }
