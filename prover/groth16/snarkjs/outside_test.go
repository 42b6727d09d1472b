package snarkjs_test

import (
	"fmt"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254"
)

// pointsOutside are points on the curve but not in the subgroup, found by solving the curve's equation for small x.
var pointsOutside = map[string]struct{ g1, g2 string }{
	"bls12381": {g1: bls12381Outside1(), g2: bls12381Outside2()},
	"bn128":    {g2: bn254Outside2()},
}

func bls12381Outside1() string {
	for x := uint64(1); ; x++ {
		var p bls12381.G1Affine
		var b bls12381fp.Element
		p.X.SetUint64(x)
		b.SetUint64(4)
		p.Y.Square(&p.X).Mul(&p.Y, &p.X).Add(&p.Y, &b)
		if p.Y.Sqrt(&p.Y) != nil && p.IsOnCurve() && !p.IsInSubGroup() {
			return fmt.Sprintf(`["%s","%s","1"]`, p.X.String(), p.Y.String())
		}
	}
}

func bls12381Outside2() string {
	for x := uint64(1); ; x++ {
		var p bls12381.G2Affine
		var b bls12381.E2
		p.X.A0.SetUint64(x)
		b.A0.SetUint64(4)
		b.A1.SetUint64(4)
		p.Y.Square(&p.X).Mul(&p.Y, &p.X).Add(&p.Y, &b)
		if p.Y.Legendre() == 1 && p.Y.Sqrt(&p.Y) != nil && p.IsOnCurve() && !p.IsInSubGroup() {
			return fmt.Sprintf(`[["%s","%s"],["%s","%s"],["1","0"]]`, p.X.A0.String(), p.X.A1.String(), p.Y.A0.String(), p.Y.A1.String())
		}
	}
}

func bn254Outside2() string {
	for x := uint64(1); ; x++ {
		var p bn254.G2Affine
		var b, xi bn254.E2
		p.X.A0.SetUint64(x)
		// b = 3/(9+u), the twist's coefficient.
		b.A0.SetUint64(3)
		xi.A0.SetUint64(9)
		xi.A1.SetUint64(1)
		b.Div(&b, &xi)
		p.Y.Square(&p.X).Mul(&p.Y, &p.X).Add(&p.Y, &b)
		if p.Y.Legendre() == 1 && p.Y.Sqrt(&p.Y) != nil && p.IsOnCurve() && !p.IsInSubGroup() {
			return fmt.Sprintf(`[["%s","%s"],["%s","%s"],["1","0"]]`, p.X.A0.String(), p.X.A1.String(), p.Y.A0.String(), p.Y.A1.String())
		}
	}
}
