package curve

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bnfr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// group is one group with some of its points, one point of its curve outside it, and the functions under test.
type group struct {
	name    string
	size    int
	points  []byte
	outside []byte // nil where the cofactor is one
	check   func([]byte) error
	first   func([]byte) (int, error)
}

func groups(n int) []group {
	var bnScalars []bnfr.Element
	var blsScalars []blsfr.Element
	for i := range n {
		// Small multiples, with infinity and repetitions among them.
		bnScalars = append(bnScalars, bnfr.NewElement(uint64(i%(n-5))))
		blsScalars = append(blsScalars, blsfr.NewElement(uint64(i%(n-5))))
	}
	_, _, bn1, bn2 := bn254.Generators()
	_, _, bls1, bls2 := bls12381.Generators()
	var x blsfp.Element
	x.SetUint64(12345)
	blsJac1 := bls12381.GeneratePointNotInG1(x)
	blsJac2 := bls12381.GeneratePointNotInG2(bls12381.E2{A0: x, A1: x})
	var out1 bls12381.G1Affine
	var out2 bls12381.G2Affine
	out1.FromJacobian(&blsJac1)
	out2.FromJacobian(&blsJac2)
	bnJac2 := bn254.GeneratePointNotInG2(bn254.E2{A0: bn1.X, A1: bn1.Y})
	var bnOut2 bn254.G2Affine
	bnOut2.FromJacobian(&bnJac2)
	return []group{
		{"BN254 G1", 64, stored(bn254.BatchScalarMultiplicationG1(&bn1, bnScalars)), nil,
			func(p []byte) error { return BN254.CheckG1(p) }, BN254.FirstInvalidG1},
		{"BN254 G2", 128, stored(bn254.BatchScalarMultiplicationG2(&bn2, bnScalars)), Store(&bnOut2),
			func(p []byte) error { return BN254.CheckG2(p) }, BN254.FirstInvalidG2},
		{"BLS12-381 G1", 96, stored(bls12381.BatchScalarMultiplicationG1(&bls1, blsScalars)), Store(&out1),
			func(p []byte) error { return BLS12381.CheckG1(p) }, BLS12381.FirstInvalidG1},
		{"BLS12-381 G2", 192, stored(bls12381.BatchScalarMultiplicationG2(&bls2, blsScalars)), Store(&out2),
			func(p []byte) error { return BLS12381.CheckG2(p) }, BLS12381.FirstInvalidG2},
	}
}

func stored[P any](points []P) []byte {
	var out []byte
	for i := range points {
		out = append(out, Store(&points[i])...)
	}
	return out
}

func TestPointsAreJudged(t *testing.T) {
	for _, g := range groups(batchPoints + 40) {
		for _, n := range []int{0, 1, 30, batchPoints, batchPoints + 40} {
			if i, err := g.first(g.points[:n*g.size]); i != -1 || err != nil {
				t.Errorf("%s: point %d of %d good ones is refused: %v", g.name, i, n, err)
			}
		}
		modulus := BN254.BaseModulus()
		if g.size%48 == 0 {
			modulus = BLS12381.BaseModulus()
		}
		bad := map[string]struct {
			point []byte
			want  error
		}{
			"off the curve":    {append(bytes.Repeat([]byte{0}, g.size-8), 1, 0, 0, 0, 0, 0, 0, 0), ErrNotOnCurve},
			"unreduced":        {append(littleEndian(modulus, len(modulus.Bytes())), g.points[g.size+len(modulus.Bytes()):2*g.size]...), ErrNotReduced},
			"out of subgroup":  {g.outside, ErrNotInSubgroup},
			"unreduced at top": {append(g.points[g.size:2*g.size-8:2*g.size-8], 255, 255, 255, 255, 255, 255, 255, 255), ErrNotReduced},
		}
		for name, b := range bad {
			if b.point == nil {
				continue
			}
			if err := g.check(b.point); !errors.Is(err, b.want) {
				t.Errorf("%s, %s: a single point gives %v, want %v", g.name, name, err, b.want)
			}
			for _, n := range []int{20, batchPoints + 40} {
				for _, at := range []int{0, 17, n - 1} {
					points := bytes.Clone(g.points[:n*g.size])
					copy(points[at*g.size:], b.point)
					if i, err := g.first(points); i != at || !errors.Is(err, b.want) {
						t.Errorf("%s, %s: point %d of %d gives %d, %v; want %v", g.name, name, at, n, i, err, b.want)
					}
				}
			}
		}
		if err := g.check(g.points[:g.size-1]); !errors.Is(err, ErrLength) {
			t.Errorf("%s: a short point gives %v, want %v", g.name, err, ErrLength)
		}
	}
}

// Two points outside the subgroup whose sum is inside must not hide each other.
func TestBatchSeesPointsThatCancel(t *testing.T) {
	for _, g := range groups(batchPoints) {
		if g.outside == nil {
			continue
		}
		points := bytes.Clone(g.points)
		copy(points[5*g.size:], g.outside)
		copy(points[9*g.size:], negated(g, g.outside))
		if i, err := g.first(points); i != 5 || !errors.Is(err, ErrNotInSubgroup) {
			t.Errorf("%s: got %d, %v; want point 5", g.name, i, err)
		}
	}
}

func negated(g group, p []byte) []byte {
	id := BN254
	if g.size%48 == 0 {
		id = BLS12381
	}
	c := id.Coordinates(p)
	for i := len(c) / 2; i < len(c); i++ {
		c[i] = new(big.Int).Mod(new(big.Int).Neg(c[i]), id.BaseModulus())
	}
	out, err := id.FromCoordinates(c...)
	if err != nil {
		panic(err)
	}
	return out
}

func BenchmarkFirstInvalid(b *testing.B) {
	const n = 4096
	for _, g := range groups(n) {
		b.Run(g.name, func(b *testing.B) {
			for b.Loop() {
				if i, err := g.first(g.points); i >= 0 {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/point")
		})
	}
}
