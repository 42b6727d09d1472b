package r1cs

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// rowsBN254 is the rowKernel of BN254's scalar field.
type rowsBN254 struct {
	coefficients, w []fr.Element
	weights         []weight
}

func newRowsBN254(coefficients, w []curve.Scalar) *rowsBN254 {
	plus := fr.One()
	var minus fr.Element
	minus.Neg(&plus)
	return &rowsBN254{elements[fr.Element](coefficients), elements[fr.Element](w),
		weights(coefficients, curve.Scalar(plus), curve.Scalar(minus))}
}

func (k *rowsBN254) rows(x *Matrix, start int, out []curve.Scalar) {
	for i := range out {
		var sum, product fr.Element
		wires, coefficients := x.Row(start + i)
		for j, wire := range wires {
			value := &k.w[wire]
			switch number := coefficients[j]; k.weights[number] {
			case one:
				sum.Add(&sum, value)
			case minusOne:
				sum.Sub(&sum, value)
			default:
				product.Mul(&k.coefficients[number], value)
				sum.Add(&sum, &product)
			}
		}
		out[i] = curve.Scalar(sum)
	}
}

func (k *rowsBN254) firstUnsatisfied(a, b, c []curve.Scalar) int {
	x, y, z := elements[fr.Element](a), elements[fr.Element](b), elements[fr.Element](c)
	// Wire 0 is the one in the witness's form, so both sides are products of the same form.
	unit := k.w[0]
	var left, right fr.Element
	for i := range x {
		if left.Mul(&x[i], &y[i]); left != *right.Mul(&z[i], &unit) {
			return i
		}
	}
	return -1
}
