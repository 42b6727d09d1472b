package cpu

import (
	"math/big"
	"sync"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// group is the arithmetic of G1 or G2 of one curve on runs of points as raw limbs, at any alignment: mapped keys have
// their sections at odd offsets, and the processors that Go runs on (amd64, arm64) load such words all the same.
type group interface {
	pointBytes() int
	// newSum is a running sum, at first infinity.
	newSum() sum
}

// sum is a running sum of points. It is safe for concurrent use.
type sum interface {
	// addProducts adds Σ scalars[i]·points[i]; scalars are in Montgomery form, points at least as many.
	addProducts(points []byte, scalars []curve.Scalar, tasks int) error
	// addIndexed adds the points at these indices, none of which may be infinity.
	addIndexed(points []byte, indices []uint32)
	// addPoint adds one point, addScaled k times one point, addSum k times another sum; k is canonical.
	addPoint(p []byte)
	addScaled(p []byte, k *big.Int)
	addSum(other sum, k *big.Int)
	// affine is the sum as raw limbs.
	affine() []byte
}

type affinePoint[A, J any] interface {
	*A
	FromJacobian(*J) *A
}

type jacobianPoint[J, A, E any] interface {
	*J
	MultiExp(points []A, scalars []E, config ecc.MultiExpConfig) (*J, error)
	FromAffine(*A) *J
	AddMixed(*A) *J
	AddAssign(*J) *J
	ScalarMultiplication(*J, *big.Int) *J
}

// points implements group over gnark-crypto's types: affine points A with coordinates in F, Jacobian points J, scalars E.
type points[A, J, F any, E ~[4]uint64, PA affinePoint[A, J], PJ jacobianPoint[J, A, E], PF coordinate[F]] struct{}

func (points[A, J, F, E, PA, PJ, PF]) pointBytes() int {
	var a A
	return int(unsafe.Sizeof(a))
}

func (points[A, J, F, E, PA, PJ, PF]) newSum() sum {
	return &runningSum[A, J, F, E, PA, PJ, PF]{}
}

// view looks at raw limbs as n points, without a copy. The types are plain arrays of words, without pointers, for which
// Go demands no alignment that the processor does not.
func view[A any](raw []byte, n int) []A {
	return unsafe.Slice((*A)(unsafe.Pointer(unsafe.SliceData(raw))), n)
}

// elements views scalars as gnark-crypto's elements, which have the same memory layout.
func elements[E ~[4]uint64](s []curve.Scalar) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

type runningSum[A, J, F any, E ~[4]uint64, PA affinePoint[A, J], PJ jacobianPoint[J, A, E], PF coordinate[F]] struct {
	mu    sync.Mutex
	total J
}

func (s *runningSum[A, J, F, E, PA, PJ, PF]) add(j *J) {
	s.mu.Lock()
	defer s.mu.Unlock()
	PJ(&s.total).AddAssign(j)
}

func (s *runningSum[A, J, F, E, PA, PJ, PF]) addProducts(raw []byte, scalars []curve.Scalar, tasks int) error {
	if len(scalars) == 0 {
		return nil
	}
	var j J
	if _, err := PJ(&j).MultiExp(view[A](raw, len(scalars)), elements[E](scalars), ecc.MultiExpConfig{NbTasks: tasks}); err != nil {
		return err
	}
	s.add(&j)
	return nil
}

func (s *runningSum[A, J, F, E, PA, PJ, PF]) addIndexed(raw []byte, indices []uint32) {
	if len(indices) == 0 {
		return
	}
	var j J
	lanes := newLanes[F, PF](len(indices))
	rest := lanes.add(view[point[F]](raw, len(raw)/int(unsafe.Sizeof(point[F]{}))), indices)
	for _, run := range [][]point[F]{lanes.sums, rest} {
		for i := range run {
			PJ(&j).AddMixed((*A)(unsafe.Pointer(&run[i])))
		}
	}
	s.add(&j)
}

func (s *runningSum[A, J, F, E, PA, PJ, PF]) addPoint(raw []byte) {
	a := curve.Load[A](raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	PJ(&s.total).AddMixed(&a)
}

func (s *runningSum[A, J, F, E, PA, PJ, PF]) addScaled(raw []byte, k *big.Int) {
	a := curve.Load[A](raw)
	var j J
	PJ(&j).FromAffine(&a)
	PJ(&j).ScalarMultiplication(&j, k)
	s.add(&j)
}

func (s *runningSum[A, J, F, E, PA, PJ, PF]) addSum(other sum, k *big.Int) {
	o := other.(*runningSum[A, J, F, E, PA, PJ, PF])
	o.mu.Lock()
	j := o.total
	o.mu.Unlock()
	PJ(&j).ScalarMultiplication(&j, k)
	s.add(&j)
}

func (s *runningSum[A, J, F, E, PA, PJ, PF]) affine() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a A
	PA(&a).FromJacobian(&s.total)
	return curve.Store(&a)
}
