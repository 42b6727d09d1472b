package curve

import (
	"crypto/rand"
	"unsafe"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254"
)

// FirstInvalidG1 returns the index of the first point in raw, back to back in raw form, that is not an element of G1,
// with the reason as CheckG1 gives it, or -1. For hundreds of points or more it costs a fraction of CheckG1 a point.
// A point outside the subgroup is overlooked with a probability below 2^-64.
func (c ID) FirstInvalidG1(raw []byte) (int, error) {
	if c == BN254 {
		// The cofactor is one.
		return c.firstInvalid(raw, c.G1Bytes(), func(p []byte) error { return c.CheckG1(p) }, nil)
	}
	return c.firstInvalid(raw, c.G1Bytes(), func(p []byte) error { return c.CheckG1(p) },
		allInSubgroup[bls12381.G1Affine, bls12381.G1Jac])
}

// FirstInvalidG2 is FirstInvalidG1 for G2.
func (c ID) FirstInvalidG2(raw []byte) (int, error) {
	all := allInSubgroup[bls12381.G2Affine, bls12381.G2Jac]
	if c == BN254 {
		all = allInSubgroup[bn254.G2Affine, bn254.G2Jac]
	}
	return c.firstInvalid(raw, c.G2Bytes(), func(p []byte) error { return c.CheckG2(p) }, all)
}

// batchPoints is the least number of points for which the sums of allInSubgroup cost less than checking each point.
const batchPoints = 512

func (c ID) firstInvalid(raw []byte, size int, check func([]byte) error, all func([]byte) bool) (int, error) {
	if all != nil && len(raw)/size >= batchPoints && c.FirstUnreducedCoordinate(raw) < 0 && all(raw) {
		return -1, nil
	}
	for i := range len(raw) / size {
		if err := check(raw[i*size : (i+1)*size]); err != nil {
			return i, err
		}
	}
	return -1, nil
}

// affinePoint and jacobianPoint are gnark-crypto's points of one group.
type affinePoint[A any] interface {
	*A
	IsOnCurve() bool
	IsInfinity() bool
}

type jacobianPoint[A, J any] interface {
	*J
	AddMixed(*A) *J
	AddAssign(*J) *J
	IsInSubGroup() bool
}

// allInSubgroup reports whether all points are on the curve and, but for a probability below 2^-64, in the subgroup.
//
// It adds up 64 random subsets of the points and checks the sums: a point outside the subgroup leaves a random sum
// outside it with a probability of at least one half. The 64 subsets are drawn eight at a time: a random byte says in
// which of eight sums a point takes part, so the point is added to one of 256 buckets instead, and the sums are made from
// the buckets. That is 8 additions a point, where the check of one point has about a hundred doublings.
func allInSubgroup[A, J any, PA affinePoint[A], PJ jacobianPoint[A, J]](raw []byte) bool {
	const groups = 8
	size := int(unsafe.Sizeof(*new(A)))
	points := make([]A, len(raw)/size)
	for i := range points {
		points[i] = Load[A](raw[i*size:])
		if !PA(&points[i]).IsOnCurve() {
			return false
		}
	}
	choices := make([]byte, len(points))
	for range groups {
		_, _ = rand.Read(choices) // it never fails
		// The zero value in Jacobian coordinates is infinity.
		buckets := make([]J, 256)
		for i := range points {
			if choices[i] != 0 && !PA(&points[i]).IsInfinity() {
				PJ(&buckets[choices[i]]).AddMixed(&points[i])
			}
		}
		// The sum of bit b is that of the buckets with the bit set. Highest bit first; the halves are then put together,
		// so that the next bit has half the buckets.
		for half := 128; half > 0; half /= 2 {
			sum := new(J)
			for i := range half {
				PJ(sum).AddAssign(&buckets[half+i])
				PJ(&buckets[i]).AddAssign(&buckets[half+i])
			}
			if !PJ(sum).IsInSubGroup() {
				return false
			}
		}
	}
	return true
}
