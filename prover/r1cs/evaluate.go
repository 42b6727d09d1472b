package r1cs

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// rowsPerStep is how many rows one step of an evaluation takes: a few hundred microseconds.
const rowsPerStep = 4096

// Evaluate computes a = A·w, b = B·w and c = C·w on all cores. w has Wires elements; a, b and c have Constraints elements
// each, or are nil where they are not wanted. The results are in the form of w, canonical or Montgomery: coefficients are
// held in Montgomery form, so that one Montgomery product by them keeps the other factor's form.
// Elements of w must be below the modulus.
func (m *Matrices) Evaluate(ctx context.Context, w, a, b, c []curve.Scalar) error {
	if err := m.checkWitness(w); err != nil {
		return err
	}
	kernel, err := m.kernel(w)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		name string
		x    *Matrix
		out  []curve.Scalar
	}{{"A", m.A, a}, {"B", m.B, b}, {"C", m.C, c}} {
		if p.out == nil {
			continue
		}
		if p.x == nil {
			return fmt.Errorf("the constraint system holds no matrix %s", p.name)
		}
		if len(p.out) != m.Constraints {
			return fmt.Errorf("%d elements for the result of %s, which has %d rows", len(p.out), p.name, m.Constraints)
		}
		err := parallel.Ranges(ctx, m.Constraints, rowsPerStep, func(start, end int) error {
			kernel.rows(p.x, start, p.out[start:end])
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Matrices) checkWitness(w []curve.Scalar) error {
	if len(w) != m.Wires {
		return fmt.Errorf("a witness of %d elements for a circuit of %d wires", len(w), m.Wires)
	}
	return nil
}

// rowKernel is the arithmetic of one scalar field. There is one type a curve, alike but for the field: through generics
// every field operation would be an indirect call.
type rowKernel interface {
	// rows computes the products of rows start, start+1, … with the witness.
	rows(x *Matrix, start int, out []curve.Scalar)
	// firstUnsatisfied returns the first i for which a[i]·b[i] ≠ c[i], or -1.
	firstUnsatisfied(a, b, c []curve.Scalar) int
}

func (m *Matrices) kernel(w []curve.Scalar) (rowKernel, error) {
	switch m.Curve {
	case curve.BN254:
		return newRowsBN254(m.Coefficients, w), nil
	case curve.BLS12381:
		return newRowsBLS12381(m.Coefficients, w), nil
	}
	return nil, fmt.Errorf("unknown curve %q", m.Curve)
}

// weight tells coefficients apart that need no multiplication.
type weight uint8

const (
	general weight = iota
	one
	minusOne
)

func weights(coefficients []curve.Scalar, plus, minus curve.Scalar) []weight {
	out := make([]weight, len(coefficients))
	for i, c := range coefficients {
		switch c {
		case plus:
			out[i] = one
		case minus:
			out[i] = minusOne
		}
	}
	return out
}

// elements views scalars as gnark-crypto's elements, which have the same memory layout.
func elements[E ~[4]uint64](s []curve.Scalar) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
