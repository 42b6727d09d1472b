package gnarkkey

import (
	"math/big"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// maxDomain is the largest power of two whose roots of unity exist on any supported curve (2^32, BLS12-381).
const maxDomain = 1 << 32

// parseDomain reads the evaluation domain (gnark-crypto, fft.Domain.WriteTo): its size N, and as canonical big-endian
// scalars 1/N, a primitive N-th root of unity and its inverse, the coset's shift and its inverse. The curve follows from
// them: N·(1/N) is 1 modulo one group order only.
func (k *Key) parseDomain(r *reader) error {
	const label = "evaluation domain"
	at := r.at
	n := r.uint64(label, "its size")
	var e [5]*big.Int
	for i, what := range []string{"1/N", "the root of unity", "its inverse", "the coset's shift", "its inverse"} {
		e[i] = new(big.Int).SetBytes(r.take(curve.ScalarBytes, label, what))
	}
	flag := r.take(1, label, "the flag of precomputed twiddles")
	if r.err != nil {
		return r.err
	}
	r.at, at = at, r.at
	if n == 0 || bits.OnesCount64(n) != 1 || n > maxDomain {
		return r.fail(label, "its size is %d: not a power of two up to 2^32, so this is not a Groth16 proving key of gnark", n).
			WithFix("check that the right file is named")
	}
	for _, id := range curve.All {
		if fits(id, n, e) {
			k.id = id
		}
	}
	if k.id == "" {
		return r.fail(label, "its constants belong neither to BN254 nor to BLS12-381: the key is for another curve, or damaged").
			WithFix("hand in a key for BN254 or BLS12-381")
	}
	if flag[0] > 1 {
		return r.fail(label, "the flag of precomputed twiddles is %d: it must be 0 or 1", flag[0]).WithFix("%s", fixFile)
	}
	r.at = at
	k.domain = int(n)
	if uint64(k.domain) != n {
		return failure.New(failure.Memory, "a domain of %d does not fit this machine", n).In(r.file)
	}
	return nil
}

// fits reports whether the constants are those of a domain of size n in the scalar field of the curve.
func fits(id curve.ID, n uint64, e [5]*big.Int) bool {
	r := id.ScalarModulus()
	for _, x := range e {
		if x.Cmp(r) >= 0 {
			return false
		}
	}
	one := big.NewInt(1)
	isOne := func(x, y *big.Int) bool {
		p := new(big.Int).Mul(x, y)
		return p.Mod(p, r).Cmp(one) == 0
	}
	size := new(big.Int).SetUint64(n)
	if !isOne(size, e[0]) || !isOne(e[1], e[2]) || !isOne(e[3], e[4]) {
		return false
	}
	// Of order n exactly: to the n it is 1, and to the n/2 it is -1.
	if n == 1 {
		return e[1].Cmp(one) == 0
	}
	half := new(big.Int).Exp(e[1], new(big.Int).Rsh(size, 1), r)
	return half.Add(half, one).Cmp(r) == 0
}
