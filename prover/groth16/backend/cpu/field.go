package cpu

import (
	"fmt"
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bls12381fft "github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bn254fft "github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// arithmetic is what differs between the curves.
type arithmetic struct {
	g1, g2 group
	// transforms makes the transforms of a domain of n elements, n a power of two, and of its coset by shift (canonical;
	// nil is gnark's own, the multiplicative generator).
	transforms func(n int, shift *big.Int) transforms
	// one is 1 in Montgomery form.
	one curve.Scalar
	// generator is gnark-crypto's multiplicative generator, from which it derives its roots of unity.
	generator int64
	// twoAdicity is the largest k for which 2^k divides r − 1.
	twoAdicity int
}

// transforms are the Fourier transforms of one domain H = {ωⁱ} and of its coset u·H. Values are in natural order,
// coefficients in bit-reversed order; elements are in Montgomery form, and every operation is in place.
type transforms interface {
	// coefficients turns values on the domain into coefficients.
	coefficients(a []curve.Scalar, tasks int)
	// cosetValues turns coefficients into values on the coset.
	cosetValues(a []curve.Scalar, tasks int)
	// cosetCoefficients turns values on the coset into coefficients.
	cosetCoefficients(a []curve.Scalar, tasks int)
	// multiply is a[i] = b[i]·c[i]; subtract is a[i] = a[i] − b[i]; divide is a[i] = a[i]/(uⁿ − 1), the value of the
	// vanishing polynomial on the coset.
	multiply(a, b, c []curve.Scalar)
	subtract(a, b []curve.Scalar)
	divide(a []curve.Scalar)
}

var curves = map[curve.ID]*arithmetic{
	curve.BN254: {
		g1:         points[bn254.G1Affine, bn254.G1Jac, bn254fp.Element, bn254fr.Element, *bn254.G1Affine, *bn254.G1Jac, *bn254fp.Element]{},
		g2:         points[bn254.G2Affine, bn254.G2Jac, bn254.E2, bn254fr.Element, *bn254.G2Affine, *bn254.G2Jac, *bn254.E2]{},
		transforms: newBN254Transforms,
		one:        curve.Scalar(bn254fr.One()),
		generator:  5,
		twoAdicity: 28,
	},
	curve.BLS12381: {
		g1:         points[bls12381.G1Affine, bls12381.G1Jac, bls12381fp.Element, bls12381fr.Element, *bls12381.G1Affine, *bls12381.G1Jac, *bls12381fp.Element]{},
		g2:         points[bls12381.G2Affine, bls12381.G2Jac, bls12381.E2, bls12381fr.Element, *bls12381.G2Affine, *bls12381.G2Jac, *bls12381.E2]{},
		transforms: newBLS12381Transforms,
		one:        curve.Scalar(bls12381fr.One()),
		generator:  7,
		twoAdicity: 32,
	},
}

func arithmeticOf(id curve.ID) (*arithmetic, error) {
	a, ok := curves[id]
	if !ok {
		return nil, fmt.Errorf("unknown curve %q", string(id))
	}
	return a, nil
}

// root is the 2^k-th root of unity generator^((r−1)/2^k), canonical.
func root(id curve.ID, generator int64, k int) *big.Int {
	r := id.ScalarModulus()
	exponent := new(big.Int).Sub(r, big.NewInt(1))
	exponent.Rsh(exponent, uint(k))
	return exponent.Exp(big.NewInt(generator), exponent, r)
}

// The two types below are alike but for the field: gnark-crypto's fft packages have each their own types of options,
// and through generics every field operation would be an indirect call.

type bn254Transforms struct {
	domain     *bn254fft.Domain
	vanishing1 bn254fr.Element // 1/(uⁿ − 1)
}

func newBN254Transforms(n int, shift *big.Int) transforms {
	u := bn254fft.GeneratorFullMultiplicativeGroup()
	if shift != nil {
		u.SetBigInt(shift)
	}
	t := &bn254Transforms{domain: bn254fft.NewDomain(uint64(n), bn254fft.WithShift(u))}
	one := bn254fr.One()
	t.vanishing1.Exp(u, big.NewInt(int64(n)))
	t.vanishing1.Sub(&t.vanishing1, &one).Inverse(&t.vanishing1)
	return t
}

func (t *bn254Transforms) coefficients(a []curve.Scalar, tasks int) {
	t.domain.FFTInverse(elements[bn254fr.Element](a), bn254fft.DIF, bn254fft.WithNbTasks(tasks))
}

func (t *bn254Transforms) cosetValues(a []curve.Scalar, tasks int) {
	t.domain.FFT(elements[bn254fr.Element](a), bn254fft.DIT, bn254fft.OnCoset(), bn254fft.WithNbTasks(tasks))
}

func (t *bn254Transforms) cosetCoefficients(a []curve.Scalar, tasks int) {
	t.domain.FFTInverse(elements[bn254fr.Element](a), bn254fft.DIF, bn254fft.OnCoset(), bn254fft.WithNbTasks(tasks))
}

func (t *bn254Transforms) multiply(a, b, c []curve.Scalar) {
	v := bn254fr.Vector(elements[bn254fr.Element](a))
	v.Mul(elements[bn254fr.Element](b), elements[bn254fr.Element](c))
}

func (t *bn254Transforms) subtract(a, b []curve.Scalar) {
	v := bn254fr.Vector(elements[bn254fr.Element](a))
	v.Sub(v, elements[bn254fr.Element](b))
}

func (t *bn254Transforms) divide(a []curve.Scalar) {
	v := bn254fr.Vector(elements[bn254fr.Element](a))
	v.ScalarMul(v, &t.vanishing1)
}

type bls12381Transforms struct {
	domain     *bls12381fft.Domain
	vanishing1 bls12381fr.Element // 1/(uⁿ − 1)
}

func newBLS12381Transforms(n int, shift *big.Int) transforms {
	u := bls12381fft.GeneratorFullMultiplicativeGroup()
	if shift != nil {
		u.SetBigInt(shift)
	}
	t := &bls12381Transforms{domain: bls12381fft.NewDomain(uint64(n), bls12381fft.WithShift(u))}
	one := bls12381fr.One()
	t.vanishing1.Exp(u, big.NewInt(int64(n)))
	t.vanishing1.Sub(&t.vanishing1, &one).Inverse(&t.vanishing1)
	return t
}

func (t *bls12381Transforms) coefficients(a []curve.Scalar, tasks int) {
	t.domain.FFTInverse(elements[bls12381fr.Element](a), bls12381fft.DIF, bls12381fft.WithNbTasks(tasks))
}

func (t *bls12381Transforms) cosetValues(a []curve.Scalar, tasks int) {
	t.domain.FFT(elements[bls12381fr.Element](a), bls12381fft.DIT, bls12381fft.OnCoset(), bls12381fft.WithNbTasks(tasks))
}

func (t *bls12381Transforms) cosetCoefficients(a []curve.Scalar, tasks int) {
	t.domain.FFTInverse(elements[bls12381fr.Element](a), bls12381fft.DIF, bls12381fft.OnCoset(), bls12381fft.WithNbTasks(tasks))
}

func (t *bls12381Transforms) multiply(a, b, c []curve.Scalar) {
	v := bls12381fr.Vector(elements[bls12381fr.Element](a))
	v.Mul(elements[bls12381fr.Element](b), elements[bls12381fr.Element](c))
}

func (t *bls12381Transforms) subtract(a, b []curve.Scalar) {
	v := bls12381fr.Vector(elements[bls12381fr.Element](a))
	v.Sub(v, elements[bls12381fr.Element](b))
}

func (t *bls12381Transforms) divide(a []curve.Scalar) {
	v := bls12381fr.Vector(elements[bls12381fr.Element](a))
	v.ScalarMul(v, &t.vanishing1)
}
