package groth16

import (
	"math/big"
	"sync"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// pairings is what verification needs of one curve. Points are raw limbs that have been checked.
type pairings interface {
	// prepare computes e(α, β) and the line functions of γ and δ.
	prepare(vk *VerifyingKey) preparedPairing
	// productIsOne reports whether Π e(Pᵢ, Qᵢ) = 1.
	productIsOne(p []curve.G1, q []curve.G2) bool
	// scale is [k]P, k canonical.
	scale(p curve.G1, k curve.Scalar) curve.G1
	add(p, q curve.G1) curve.G1
	// hashToField is RFC 9380's hash_to_field with SHA-256, to one canonical scalar.
	hashToField(message, domain []byte) (curve.Scalar, error)
}

// preparedPairing checks the Groth16 equation of one verifying key.
type preparedPairing interface {
	// input is IC₀ + Σ publicᵢ·ICᵢ₊₁; public is canonical.
	input(public []curve.Scalar) curve.G1
	// holds checks Π e(wᵢ·Aᵢ, Bᵢ) = e(α, β)^Σwᵢ · e(Σ wᵢ·inputᵢ, γ) · e(Σ wᵢ·Cᵢ, δ). Nil weights are all one.
	holds(a []curve.G1, b []curve.G2, c, input []curve.G1, weights []curve.Scalar) bool
}

func pairingsOf(id curve.ID) pairings {
	switch id {
	case curve.BN254:
		return bn254Pairings
	case curve.BLS12381:
		return bls12381Pairings
	}
	return nil
}

// g1Affine is the arithmetic of gnark-crypto's G1Affine with scalars E.
type g1Affine[P, E any] interface {
	*P
	Add(a, b *P) *P
	Neg(a *P) *P
	ScalarMultiplication(a *P, s *big.Int) *P
	MultiExp(points []P, scalars []E, config ecc.MultiExpConfig) (*P, error)
}

// target is gnark-crypto's GT.
type target[T any] interface {
	*T
	Exp(x T, k *big.Int) *T
	Equal(x *T) bool
	IsOne() bool
}

// arithmetic implements pairings over gnark-crypto's types of one curve. Lines are the line functions of a fixed point
// of G2 along the Miller loop.
type arithmetic[G1, G2, T, Lines any, E ~[4]uint64, PG1 g1Affine[G1, E], PT target[T]] struct {
	id          curve.ID
	miller      func([]G1, []G2) (T, error)
	lines       func(G2) Lines
	millerFixed func([]G1, []Lines) (T, error)
	final       func(*T, ...*T) T
	hash        func(message, domain []byte, count int) ([]E, error)
}

type (
	bn254Lines    = [2][len(bn254.LoopCounter)]bn254.LineEvaluationAff
	bls12381Lines = [2][len(bls12381.LoopCounter) - 1]bls12381.LineEvaluationAff
)

var bn254Pairings = &arithmetic[bn254.G1Affine, bn254.G2Affine, bn254.GT, bn254Lines, bn254fr.Element, *bn254.G1Affine, *bn254.GT]{
	id: curve.BN254, miller: bn254.MillerLoop, lines: bn254.PrecomputeLines, millerFixed: bn254.MillerLoopFixedQ,
	final: bn254.FinalExponentiation, hash: bn254fr.Hash,
}

var bls12381Pairings = &arithmetic[bls12381.G1Affine, bls12381.G2Affine, bls12381.GT, bls12381Lines, bls12381fr.Element, *bls12381.G1Affine, *bls12381.GT]{
	id: curve.BLS12381, miller: bls12381.MillerLoop, lines: bls12381.PrecomputeLines, millerFixed: bls12381.MillerLoopFixedQ,
	final: bls12381.FinalExponentiation, hash: bls12381fr.Hash,
}

func loadAll[P any, R ~[]byte](raw []R) []P {
	out := make([]P, len(raw))
	for i := range raw {
		out[i] = curve.Load[P](raw[i])
	}
	return out
}

func (c *arithmetic[G1, G2, T, L, E, PG1, PT]) productIsOne(p []curve.G1, q []curve.G2) bool {
	m, err := c.miller(loadAll[G1](p), loadAll[G2](q))
	if err != nil {
		return false
	}
	m = c.final(&m)
	return PT(&m).IsOne()
}

func (c *arithmetic[G1, G2, T, L, E, PG1, PT]) scale(p curve.G1, k curve.Scalar) curve.G1 {
	a := curve.Load[G1](p)
	PG1(&a).ScalarMultiplication(&a, curve.ScalarToBig(k))
	return curve.Store(&a)
}

func (c *arithmetic[G1, G2, T, L, E, PG1, PT]) add(p, q curve.G1) curve.G1 {
	a, b := curve.Load[G1](p), curve.Load[G1](q)
	PG1(&a).Add(&a, &b)
	return curve.Store(&a)
}

func (c *arithmetic[G1, G2, T, L, E, PG1, PT]) hashToField(message, domain []byte) (curve.Scalar, error) {
	h, err := c.hash(message, domain, 1)
	if err != nil {
		return curve.Scalar{}, err
	}
	s := []curve.Scalar{curve.Scalar(h[0])}
	c.id.FromMontgomery(s)
	return s[0], nil
}

func (c *arithmetic[G1, G2, T, L, E, PG1, PT]) prepare(vk *VerifyingKey) preparedPairing {
	p := &preparedArithmetic[G1, G2, T, L, E, PG1, PT]{
		arithmetic: c,
		ic:         loadAll[G1](vk.IC),
		gamma:      c.lines(curve.Load[G2](vk.GammaG2)),
		delta:      c.lines(curve.Load[G2](vk.DeltaG2)),
	}
	m := must(c.miller([]G1{curve.Load[G1](vk.AlphaG1)}, []G2{curve.Load[G2](vk.BetaG2)}))
	p.alphaBeta = c.final(&m)
	return p
}

// must is for gnark-crypto's errors about vectors of unequal length, where the lengths are equal by construction.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type preparedArithmetic[G1, G2, T, L any, E ~[4]uint64, PG1 g1Affine[G1, E], PT target[T]] struct {
	*arithmetic[G1, G2, T, L, E, PG1, PT]
	ic           []G1
	alphaBeta    T
	gamma, delta L
}

// elements turns canonical scalars into gnark-crypto's elements.
func (p *preparedArithmetic[G1, G2, T, L, E, PG1, PT]) elements(s []curve.Scalar) []E {
	montgomery := append([]curve.Scalar(nil), s...)
	p.id.ToMontgomery(montgomery)
	out := make([]E, len(s))
	for i := range montgomery {
		out[i] = E(montgomery[i])
	}
	return out
}

func (p *preparedArithmetic[G1, G2, T, L, E, PG1, PT]) input(public []curve.Scalar) curve.G1 {
	sum := p.ic[0]
	if len(public) > 0 {
		products := p.combine(p.ic[1:], public)
		PG1(&sum).Add(&sum, &products)
	}
	return curve.Store(&sum)
}

// combine is Σ wᵢ·Pᵢ; nil weights are all one.
func (p *preparedArithmetic[G1, G2, T, L, E, PG1, PT]) combine(points []G1, weights []curve.Scalar) G1 {
	var sum G1
	if weights == nil {
		for i := range points {
			PG1(&sum).Add(&sum, &points[i])
		}
		return sum
	}
	must(PG1(&sum).MultiExp(points, p.elements(weights), ecc.MultiExpConfig{}))
	return sum
}

func (p *preparedArithmetic[G1, G2, T, L, E, PG1, PT]) holds(a []curve.G1, b []curve.G2, c, input []curve.G1, weights []curve.Scalar) bool {
	left, right := loadAll[G1](a), loadAll[G2](b)
	exponent := big.NewInt(int64(len(a)))
	if weights != nil {
		exponent.SetInt64(0)
		for i := range weights {
			k := curve.ScalarToBig(weights[i])
			exponent.Add(exponent, k)
			PG1(&left[i]).ScalarMultiplication(&left[i], k)
		}
	}
	// One Miller loop for each proof and one for each of γ and δ, side by side; they share the final exponentiation.
	products := make([]T, len(left)+2)
	var wg sync.WaitGroup
	for i := range left {
		wg.Go(func() { products[i] = must(p.miller(left[i:i+1], right[i:i+1])) })
	}
	fixed := func(at int, points []curve.G1, lines L) {
		wg.Go(func() {
			sum := p.combine(loadAll[G1](points), weights)
			PG1(&sum).Neg(&sum)
			products[at] = must(p.millerFixed([]G1{sum}, []L{lines}))
		})
	}
	fixed(len(left), c, p.delta)
	fixed(len(left)+1, input, p.gamma)
	wg.Wait()

	rest := make([]*T, 0, len(products)-1)
	for i := range products[1:] {
		rest = append(rest, &products[1+i])
	}
	got := p.final(&products[0], rest...)
	want := p.alphaBeta
	if exponent.Cmp(big.NewInt(1)) != 0 {
		PT(&want).Exp(p.alphaBeta, exponent)
	}
	return PT(&got).Equal(&want)
}
