package cpu

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// Sums of points against gnark-crypto's own additions, where points repeat, are each other's negatives, or are few.
func TestAddIndexedAddsUp(t *testing.T) {
	_, _, bn1, bn2 := bn254.Generators()
	_, _, bls1, bls2 := bls12381.Generators()
	t.Run("BN254/G1", func(t *testing.T) {
		testAddIndexed(t, curves[curve.BN254].g1, func(k *big.Int) (p bn254.G1Affine) { p.ScalarMultiplication(&bn1, k); return })
	})
	t.Run("BN254/G2", func(t *testing.T) {
		testAddIndexed(t, curves[curve.BN254].g2, func(k *big.Int) (p bn254.G2Affine) { p.ScalarMultiplication(&bn2, k); return })
	})
	t.Run("BLS12-381/G1", func(t *testing.T) {
		testAddIndexed(t, curves[curve.BLS12381].g1, func(k *big.Int) (p bls12381.G1Affine) { p.ScalarMultiplication(&bls1, k); return })
	})
	t.Run("BLS12-381/G2", func(t *testing.T) {
		testAddIndexed(t, curves[curve.BLS12381].g2, func(k *big.Int) (p bls12381.G2Affine) { p.ScalarMultiplication(&bls2, k); return })
	})
}

func testAddIndexed[P any](t *testing.T, g group, multiple func(*big.Int) P) {
	// The points are ±1, ±2, …, ±20 times the generator: coincidences and cancellations abound.
	var points []P
	var factors []int64
	for i := int64(1); i <= 20; i++ {
		points = append(points, multiple(big.NewInt(i)), multiple(big.NewInt(-i)))
		factors = append(factors, i, -i)
	}
	// One byte off, as sections of a mapped file may be.
	size := int(unsafe.Sizeof(points[0]))
	raw := make([]byte, 1, 1+len(points)*size)
	for i := range points {
		raw = append(raw, curve.Store(&points[i])...)
	}
	raw = raw[1:]
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 16, 40, 1000, 20_000} {
		indices := make([]uint32, n)
		total := int64(0)
		for i := range indices {
			indices[i] = uint32(rng.IntN(len(points)))
			total += factors[indices[i]]
		}
		s := g.newSum()
		s.addIndexed(raw, indices)
		want := multiple(big.NewInt(total))
		if string(s.affine()) != string(curve.Store(&want)) {
			t.Errorf("%d points: not %d times the generator", n, total)
		}
	}
}
