package golden

import (
	"encoding/binary"
	"errors"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// Equation checks a partition's proof against a .vk file as bellperson's documentation has it, with nothing of ours:
// e(A, B) · e(IC₀ + Σ xᵢ·ICᵢ₊₁, -γ) · e(C, -δ) = e(α, β). The proof is 192 bytes; inputs are canonical, without the one.
func Equation(vk, proof []byte, inputs []curve.Scalar) error {
	a, errA := g1(proof[:48])
	c, errC := g1(proof[144:192])
	var b bls12381.G2Affine
	_, errB := b.SetBytes(proof[48:144])
	if err := errors.Join(errA, errB, errC); err != nil {
		return err
	}
	alpha, err := g1(vk[0:96])
	if err != nil {
		return err
	}
	var g2 [3]bls12381.G2Affine // β, γ, δ
	for i, at := range []int{192, 384, 672} {
		if _, err := g2[i].SetBytes(vk[at : at+192]); err != nil {
			return err
		}
	}
	if n := binary.BigEndian.Uint32(vk[864:]); int(n) != len(inputs)+1 {
		return errors.New("another number of inputs")
	}
	sum, err := g1(vk[868:964])
	if err != nil {
		return err
	}
	for i, x := range inputs {
		point, err := g1(vk[964+96*i : 1060+96*i])
		if err != nil {
			return err
		}
		point.ScalarMultiplication(&point, curve.ScalarToBig(x))
		sum.Add(&sum, &point)
	}
	alpha.Neg(&alpha)
	g2[1].Neg(&g2[1])
	g2[2].Neg(&g2[2])
	holds, err := bls12381.PairingCheck([]bls12381.G1Affine{a, sum, c, alpha}, []bls12381.G2Affine{b, g2[1], g2[2], g2[0]})
	if err == nil && !holds {
		err = errors.New("the equation does not hold")
	}
	return err
}

func g1(b []byte) (p bls12381.G1Affine, err error) {
	_, err = p.SetBytes(b)
	return p, err
}
