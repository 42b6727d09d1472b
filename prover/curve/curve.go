// Package curve names the pairing-friendly curves that cuzk proves on and the sizes that follow from them.
//
// Arithmetic is gnark-crypto's; this package holds only what it lacks: one name for a curve across file formats, and
// field elements and points as plain limbs, the form in which they travel between readers, backends and the C ABI.
package curve

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
)

// ID names a curve. Its values are those of the API's spec.curve.
type ID string

const (
	BN254    ID = "BN254"
	BLS12381 ID = "BLS12-381"
)

// All lists the curves cuzk supports.
var All = []ID{BN254, BLS12381}

// ScalarBytes is the size of a scalar-field element; it is the same on every supported curve.
const ScalarBytes = 32

// Scalar is an element of Fr: four 64-bit limbs, least significant first. Whether the value is canonical or in
// Montgomery form (R = 2^256) is declared by whoever holds it.
type Scalar = [4]uint64

// Parse accepts the names under which users and file formats know a curve.
func Parse(name string) (ID, error) {
	switch name {
	case "BN254", "bn254", "bn128", "BN128", "alt_bn128", "altbn128":
		return BN254, nil
	case "BLS12-381", "bls12-381", "bls12381", "BLS12381", "bls12_381", "BLS12_381":
		return BLS12381, nil
	}
	return "", fmt.Errorf("unknown curve %q: use BN254 or BLS12-381", name)
}

// ECC is gnark-crypto's identifier of the curve.
func (c ID) ECC() ecc.ID {
	switch c {
	case BN254:
		return ecc.BN254
	case BLS12381:
		return ecc.BLS12_381
	}
	return ecc.UNKNOWN
}

// Snarkjs is the name that snarkjs writes into proof.json and verification keys.
func (c ID) Snarkjs() string {
	switch c {
	case BN254:
		return "bn128"
	case BLS12381:
		return "bls12381"
	}
	return ""
}

// BaseBytes is the size of a base-field element (Fp).
func (c ID) BaseBytes() int {
	switch c {
	case BN254:
		return 32
	case BLS12381:
		return 48
	}
	return 0
}

// G1Bytes is the size of an affine G1 point held as raw limbs (x, y).
func (c ID) G1Bytes() int { return 2 * c.BaseBytes() }

// G2Bytes is the size of an affine G2 point held as raw limbs (x.c0, x.c1, y.c0, y.c1).
func (c ID) G2Bytes() int { return 4 * c.BaseBytes() }

// ScalarModulus is r, the order of the groups.
func (c ID) ScalarModulus() *big.Int { return c.ECC().ScalarField() }

// BaseModulus is p, the characteristic of the field the curve is defined over.
func (c ID) BaseModulus() *big.Int { return c.ECC().BaseField() }

// FromScalarModulus finds the curve whose groups have order r.
func FromScalarModulus(r *big.Int) (ID, bool) {
	for _, c := range All {
		if c.ScalarModulus().Cmp(r) == 0 {
			return c, true
		}
	}
	return "", false
}

// G1 is an affine point as raw limbs, little-endian, coordinates in Montgomery form, infinity all zero: the memory
// layout of gnark-crypto's G1Affine and of a .zkey. Its length is ID.G1Bytes().
type G1 []byte

// G2 is an affine point over the quadratic extension, in the same form as G1. Its length is ID.G2Bytes().
type G2 []byte
