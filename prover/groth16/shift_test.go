package groth16_test

import (
	"math/big"
	"os"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark/logger"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

func TestMain(m *testing.M) {
	logger.Disable()
	os.Exit(m.Run())
}

// shiftBN254 adds k times the generator.
func shiftBN254(p curve.G1, k int64) curve.G1 {
	_, _, g, _ := bn254.Generators()
	a := curve.Load[bn254.G1Affine](p)
	g.ScalarMultiplication(&g, big.NewInt(k))
	a.Add(&a, &g)
	return curve.Store(&a)
}
