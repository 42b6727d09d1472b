package solving

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bls12-381"
	"github.com/consensys/gnark/constraint/solver"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

type bls12381Engine struct{ system cs.R1CS }

// bls12381Witness is the part of gnark's witness that its solver asks for.
type bls12381Witness struct {
	witness.Witness
	values fr.Vector
}

func (w bls12381Witness) Vector() any { return w.values }

func (e *bls12381Engine) decode(r io.Reader) (*constraint.System, int, error) {
	if _, err := e.system.ReadFrom(r); err != nil {
		return nil, 0, err
	}
	return &e.system.System, len(e.system.Coefficients), nil
}

func (e *bls12381Engine) solve(inputs []curve.Scalar, options ...solver.Option) (w, a, b, c []curve.Scalar, err error) {
	s, err := e.system.Solve(bls12381Witness{values: elements[fr.Element](inputs)}, options...)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	solution, ok := s.(*cs.R1CSSolution)
	if !ok {
		return nil, nil, nil, nil, fmt.Errorf("gnark's solver returned a %T", s)
	}
	return scalars(solution.W), scalars(solution.A), scalars(solution.B), scalars(solution.C), nil
}

func (e *bls12381Engine) evaluate(w, a, b, c []curve.Scalar) int {
	return evaluateRows(e.system.GetR1CIterator(), e.system.Coefficients, elements[fr.Element](w), elements[fr.Element](a), elements[fr.Element](b), elements[fr.Element](c))
}

func (e *bls12381Engine) msm(points []byte, values []curve.Scalar, threads int) (curve.G1, error) {
	var sum bls12381.G1Affine
	if len(values) > 0 {
		bases := unsafe.Slice((*bls12381.G1Affine)(unsafe.Pointer(unsafe.SliceData(points))), len(points)/curve.BLS12381.G1Bytes())
		if _, err := sum.MultiExp(bases, elements[fr.Element](values), ecc.MultiExpConfig{NbTasks: threads}); err != nil {
			return nil, err
		}
	}
	return curve.Store(&sum), nil
}

func (e *bls12381Engine) fold(points []curve.G1, x curve.Scalar) (curve.G1, error) {
	var sum, scaled bls12381.G1Jac
	factor := curve.ScalarToBig(x)
	for _, point := range slices.Backward(points) {
		p := curve.Load[bls12381.G1Affine](point)
		scaled.ScalarMultiplication(&sum, factor)
		sum = scaled
		sum.AddMixed(&p)
	}
	var affine bls12381.G1Affine
	affine.FromJacobian(&sum)
	return curve.Store(&affine), nil
}

func (e *bls12381Engine) unsatisfied(err error) int {
	if u, ok := errors.AsType[*cs.UnsatisfiedConstraintError](err); ok {
		return u.CID
	}
	return -1
}
