package cpu

import (
	"math/big"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// snarkjsGenerator is the least quadratic non-residue of both scalar fields. snarkjs derives its roots of unity from it
// on every curve, where gnark-crypto (like Zcash and arkworks) uses 7 on BLS12-381.
const snarkjsGenerator = 5

// order says where the i-th value of a snarkjs domain stands in gnark-crypto's domain of the same size.
//
// Both domains are the same set of points, in different order: snarkjs's root is an odd power of gnark-crypto's, ω₅ = ωᵏ,
// so its i-th point is the (k·i mod n)-th of gnark-crypto's. Values are put there, and nothing else of the transforms
// has to know. On BN254 k is one.
type order struct{ k, mask int }

func (o order) identity() bool { return o.k == 1 }

func (o order) place(i int) int { return o.k * i & o.mask }

// snarkjsOrder is the order for a domain of n elements.
func snarkjsOrder(id curve.ID, generator int64, n int) order {
	k := 1
	if generator != snarkjsGenerator && n > 1 {
		log2 := bits.TrailingZeros(uint(n))
		k = logarithm(root(id, generator, log2), root(id, snarkjsGenerator, log2), log2, id.ScalarModulus())
	}
	return order{k: k, mask: n - 1}
}

// logarithm is the x below 2^bits for which base^x = value modulo r, where base has order 2^bits (Pohlig and Hellman).
func logarithm(base, value *big.Int, bits int, r *big.Int) int {
	x := 0
	inverse := new(big.Int).ModInverse(base, r)
	one := big.NewInt(1)
	for i := range bits {
		// value·base^−x has order at most 2^(bits−i); its 2^(bits−i−1)-th power is −1 just if bit i of x is set.
		t := new(big.Int).Exp(inverse, big.NewInt(int64(x)), r)
		t.Mul(t, value).Mod(t, r)
		t.Exp(t, new(big.Int).Lsh(one, uint(bits-i-1)), r)
		if t.Cmp(one) != 0 {
			x |= 1 << i
		}
	}
	return x
}

// snarkjsShift is what moves a domain of n elements onto the points on which snarkjs evaluates the quotient: the odd
// points of the domain twice as large or, where the field has none, the domain times 25.
func snarkjsShift(id curve.ID, twoAdicity, n int) *big.Int {
	log2 := bits.TrailingZeros(uint(n))
	if log2 == twoAdicity {
		return big.NewInt(snarkjsGenerator * snarkjsGenerator)
	}
	return root(id, snarkjsGenerator, log2+1)
}
