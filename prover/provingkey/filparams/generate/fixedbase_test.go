package generate

import (
	"math/big"
	"math/rand/v2"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// scalars are those at which digits carry, sums double or vanish, and some at random.
func scalars() []fr.Element {
	var out []fr.Element
	for _, x := range []int64{0, 1, 2, 3, 7, 8, 9, 127, 128, 129, 255, 256, 1 << 15, 1<<15 + 1, 1 << 16, 1<<62 - 1} {
		var e, negative fr.Element
		e.SetInt64(x)
		out = append(out, e, *negative.Neg(&e))
	}
	for i := range fr.Bits {
		var e fr.Element
		out = append(out, *e.SetBigInt(new(big.Int).Lsh(big.NewInt(1), uint(i))))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 700 {
		out = append(out, fr.Element{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64() >> 2})
	}
	return out
}

func TestMultiplesAreThoseOfGnarkCrypto(t *testing.T) {
	_, _, g1, g2 := bls12381.Generators()
	all := scalars()
	for _, count := range []int{1, 100, 5000, 200000} { // which decide on the windows
		inG1, inG2 := make([]affine[fp.Element], len(all)), make([]affine[bls12381.E2], len(all))
		if err := newTable[fp.Element, *fp.Element](affine[fp.Element](g1), count).multiply(t.Context(), all, inG1); err != nil {
			t.Fatal(err)
		}
		if err := newTable[bls12381.E2, *bls12381.E2](affine[bls12381.E2](g2), min(count, 5000)).multiply(t.Context(), all, inG2); err != nil {
			t.Fatal(err)
		}
		for i := range all {
			k := all[i].BigInt(new(big.Int))
			var p1 bls12381.G1Affine
			var p2 bls12381.G2Affine
			if p1.ScalarMultiplication(&g1, k); bls12381.G1Affine(inG1[i]) != p1 {
				t.Fatalf("%d multiples in G1: %s times the generator is wrong", count, k)
			}
			if p2.ScalarMultiplication(&g2, k); bls12381.G2Affine(inG2[i]) != p2 {
				t.Fatalf("%d multiples in G2: %s times the generator is wrong", count, k)
			}
		}
	}
}

func TestDigitsMakeTheScalar(t *testing.T) {
	for width := 2; width <= 16; width++ {
		for _, s := range scalars() {
			d := digitReader{limbs: s.Bits(), bits: width}
			sum := new(big.Int)
			for i := range windowsOf(width) {
				digit := d.next()
				if digit < -1<<(width-1) || digit > 1<<(width-1) {
					t.Fatalf("digit %d of %d bits", digit, width)
				}
				sum.Add(sum, new(big.Int).Lsh(big.NewInt(int64(digit)), uint(i*width)))
			}
			if want := s.BigInt(new(big.Int)); sum.Cmp(want) != 0 {
				t.Fatalf("%d bits: %s, want %s", width, sum, want)
			}
		}
	}
}
