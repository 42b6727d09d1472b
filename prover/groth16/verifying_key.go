package groth16

import (
	"bytes"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// VerifyingKey is what a proof is checked against, as its file holds it: affine points as raw limbs. Readers fill it;
// Prepare checks it and makes it ready for verification.
type VerifyingKey struct {
	Curve   curve.ID
	AlphaG1 curve.G1
	// BetaG1 and DeltaG1 are not needed to verify; gnark's files carry them and snarkjs's do not. Nil when absent.
	BetaG1, DeltaG1          curve.G1
	BetaG2, GammaG2, DeltaG2 curve.G2
	// IC holds the point of the one, then one for each public input, then (gnark) one for each commitment.
	IC []curve.G1
	// Commitments are the keys of the Pedersen commitments of a gnark circuit; nil for every other circuit.
	Commitments []CommitmentKey
}

// CommitmentKey verifies one Pedersen commitment of a gnark circuit and the proof of knowledge that belongs to it.
type CommitmentKey struct {
	// G is the generator, the same for all commitments of a circuit; GSigmaNeg is [-σ]G.
	G, GSigmaNeg curve.G2
	// Committed lists the public inputs (1 is the first) and, above their number, the earlier commitments that are
	// hashed together with this commitment.
	Committed []int
}

// Public is the number of public inputs, without the one and without commitments.
func (vk *VerifyingKey) Public() int { return len(vk.IC) - 1 - len(vk.Commitments) }

// SameStatement tells whether two keys without commitments accept the same proofs: the points that verification uses are
// equal. What only one of the formats carries is left out.
func (vk *VerifyingKey) SameStatement(other *VerifyingKey) bool {
	if vk.Curve != other.Curve || len(vk.IC) != len(other.IC) || len(vk.Commitments)+len(other.Commitments) > 0 {
		return false
	}
	for i := range vk.IC {
		if !bytes.Equal(vk.IC[i], other.IC[i]) {
			return false
		}
	}
	return bytes.Equal(vk.AlphaG1, other.AlphaG1) && bytes.Equal(vk.BetaG2, other.BetaG2) &&
		bytes.Equal(vk.GammaG2, other.GammaG2) && bytes.Equal(vk.DeltaG2, other.DeltaG2)
}
