package curve

import (
	"encoding/binary"
	"math/big"

	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// IsCanonical reports whether s, as an integer, is below r.
func (c ID) IsCanonical(s Scalar) bool {
	r := scalarLimbs[c]
	for i := 3; i >= 0; i-- {
		if s[i] != r[i] {
			return s[i] < r[i]
		}
	}
	return false
}

// ScalarFromBig holds x as limbs, unchanged; x must not be negative nor exceed 256 bits.
func ScalarFromBig(x *big.Int) Scalar { return Scalar(limbs(x, ScalarBytes)) }

// ScalarToBig is the integer that the limbs hold.
func ScalarToBig(s Scalar) *big.Int {
	var buf [ScalarBytes]byte
	for i, limb := range s {
		binary.BigEndian.PutUint64(buf[24-8*i:], limb)
	}
	return new(big.Int).SetBytes(buf[:])
}

// ToMontgomery turns canonical scalars into Montgomery form, in place.
func (c ID) ToMontgomery(s []Scalar) {
	switch c {
	case BN254:
		montgomery[bn254fr.Element](s)
	case BLS12381:
		montgomery[bls12381fr.Element](s)
	}
}

// FromMontgomery turns scalars in Montgomery form into canonical ones, in place.
func (c ID) FromMontgomery(s []Scalar) {
	switch c {
	case BN254:
		canonical[bn254fr.Element](s)
	case BLS12381:
		canonical[bls12381fr.Element](s)
	}
}

// scalarElement is gnark-crypto's fr.Element of either curve.
type scalarElement[E any] interface {
	*E
	SetBigInt(*big.Int) *E
	Bits() [4]uint64
	Mul(x, y *E) *E
}

func montgomery[E ~[4]uint64, P scalarElement[E]](s []Scalar) {
	// An element whose raw limbs are R² mod r turns x into x·R by one Montgomery product.
	var rSquare E
	P(&rSquare).SetBigInt(new(big.Int).Lsh(big.NewInt(1), 256))
	for i := range s {
		x := E(s[i])
		P(&x).Mul(&x, &rSquare)
		s[i] = Scalar(x)
	}
}

func canonical[E ~[4]uint64, P scalarElement[E]](s []Scalar) {
	for i := range s {
		x := E(s[i])
		s[i] = P(&x).Bits()
	}
}
