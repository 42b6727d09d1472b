package curve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254"
)

// What can be wrong with a point that came from outside.
var (
	ErrNotReduced    = errors.New("a coordinate is not below the prime of the field")
	ErrNotOnCurve    = errors.New("the point is not on the curve")
	ErrNotInSubgroup = errors.New("the point is on the curve but not in the subgroup of order r")
	ErrLength        = errors.New("the point has the wrong number of bytes")
)

var (
	scalarLimbs = map[ID][]uint64{
		BN254:    limbs(BN254.ScalarModulus(), ScalarBytes),
		BLS12381: limbs(BLS12381.ScalarModulus(), ScalarBytes),
	}
	baseLimbs = map[ID][]uint64{
		BN254:    limbs(BN254.BaseModulus(), BN254.BaseBytes()),
		BLS12381: limbs(BLS12381.BaseModulus(), BLS12381.BaseBytes()),
	}
)

// ScalarLimbs is r as limbs, least significant first. It must not be written to.
func (c ID) ScalarLimbs() []uint64 { return scalarLimbs[c] }

// BaseLimbs is p as limbs, least significant first. It must not be written to.
func (c ID) BaseLimbs() []uint64 { return baseLimbs[c] }

func limbs(n *big.Int, size int) []uint64 {
	b := n.FillBytes(make([]byte, size))
	out := make([]uint64, size/8)
	for i := range out {
		out[i] = binary.BigEndian.Uint64(b[size-8*(i+1):])
	}
	return out
}

// FirstUnreducedCoordinate returns the index of the first coordinate in raw, of BaseBytes bytes each, that is not below
// p, or -1. It runs at the speed of memory: nearly always the most significant limb decides.
func (c ID) FirstUnreducedCoordinate(raw []byte) int { return firstNotBelow(raw, baseLimbs[c]) }

// FirstUnreducedScalar returns the index of the first scalar in raw, of ScalarBytes bytes each, that is not below r, or
// -1.
func (c ID) FirstUnreducedScalar(raw []byte) int { return firstNotBelow(raw, scalarLimbs[c]) }

func firstNotBelow(raw []byte, bound []uint64) int {
	width := 8 * len(bound)
	if width == 0 {
		return -1
	}
	top := bound[len(bound)-1]
	for i := 0; len(raw) >= width; i++ {
		if binary.LittleEndian.Uint64(raw[width-8:]) >= top && !below(raw, bound) {
			return i
		}
		raw = raw[width:]
	}
	return -1
}

func below(raw []byte, bound []uint64) bool {
	for i := len(bound) - 1; i >= 0; i-- {
		if limb := binary.LittleEndian.Uint64(raw[8*i:]); limb != bound[i] {
			return limb < bound[i]
		}
	}
	return false
}

// IsInfinity reports whether a point in raw form (G1 or G2) is the point at infinity, all bytes zero.
func IsInfinity(raw []byte) bool {
	for _, b := range raw {
		if b != 0 {
			return false
		}
	}
	return true
}

// CheckG1 returns why a point is not an element of G1: wrong length, coordinate not reduced, not on the curve, not in the
// subgroup. Infinity is an element. It uses the curve's endomorphism, not a multiplication by r.
func (c ID) CheckG1(p G1) error {
	if err := c.checkLimbs(p, c.G1Bytes()); err != nil {
		return err
	}
	if c == BN254 {
		q := Load[bn254.G1Affine](p)
		return membership(q.IsOnCurve(), q.IsInSubGroup)
	}
	q := Load[bls12381.G1Affine](p)
	return membership(q.IsOnCurve(), q.IsInSubGroup)
}

// CheckG2 is CheckG1 for G2.
func (c ID) CheckG2(p G2) error {
	if err := c.checkLimbs(p, c.G2Bytes()); err != nil {
		return err
	}
	if c == BN254 {
		q := Load[bn254.G2Affine](p)
		return membership(q.IsOnCurve(), q.IsInSubGroup)
	}
	q := Load[bls12381.G2Affine](p)
	return membership(q.IsOnCurve(), q.IsInSubGroup)
}

func (c ID) checkLimbs(raw []byte, size int) error {
	switch {
	case size == 0:
		return fmt.Errorf("unknown curve %q", string(c))
	case len(raw) != size:
		return fmt.Errorf("%w: %d instead of %d", ErrLength, len(raw), size)
	case c.FirstUnreducedCoordinate(raw) >= 0:
		return ErrNotReduced
	}
	return nil
}

func membership(onCurve bool, inSubgroup func() bool) error {
	switch {
	case !onCurve:
		return ErrNotOnCurve
	case !inSubgroup():
		return ErrNotInSubgroup
	}
	return nil
}
