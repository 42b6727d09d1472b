package cpu

import (
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// KeyDemand estimates what a key and a proof with it take; see groth16.Backend.
func (b *Backend) KeyDemand(s groth16.KeyShape) (key, proof groth16.Budget) {
	return groth16.Budget{HostBytes: keyBytes(s)}, groth16.Budget{HostBytes: b.proofBytes(s)}
}

// Demand estimates the peak of a proof.
func (b *Backend) Demand(key groth16.Key) groth16.Budget {
	k, ok := key.(*provingKey)
	if !ok {
		return groth16.Budget{}
	}
	return groth16.Budget{HostBytes: b.proofBytes(k.shape)}
}

// keyBytes bounds the memory of a key: the tables of its domain, what is noted of the wires of each section, and its points
// unless they are mapped.
func keyBytes(s groth16.KeyShape) int64 {
	const sections, noted = 4, 8 + 8 + 4 // bytes for 64 wires: two sets and a rank
	n := tableBytes(s.Domain) + sections*noted*int64(s.Wires/64+1)
	if !s.Resident {
		n += s.PointBytes()
	}
	return n
}

// tableBytes is the memory of a domain's tables: twiddle factors and powers of the shift, each with its inverse.
func tableBytes(domain int) int64 { return 4 * int64(domain) * curve.ScalarBytes }

// proofBytes is the peak of a proof: the witness, and then either the three vectors of the quotient, or one of them with
// the multiplications in G1 and in G2 that run side by side.
func (b *Backend) proofBytes(s groth16.KeyShape) int64 {
	return witnessBytes(s) + max(quotientBytes(s), b.productBytes(s))
}

func witnessBytes(s groth16.KeyShape) int64 {
	return int64(s.Wires)*curve.ScalarBytes + int64(s.Wires)/2
}

func quotientBytes(s groth16.KeyShape) int64 { return 3 * int64(s.Domain) * curve.ScalarBytes }

func (b *Backend) productBytes(s groth16.KeyShape) int64 {
	g1, g2 := int64(s.Curve.G1Bytes()), int64(s.Curve.G2Bytes())
	part := int64(partPoints(s.Wires, b.tasks))
	picked := part * (g1 + g2 + 2*curve.ScalarBytes)
	inG1 := b.multiplicationBytes(max(s.Domain, s.Wires), g1)
	if s.Wires <= sideBySide {
		inG1 *= 3
		picked += 2 * part * (g1 + curve.ScalarBytes)
	}
	return int64(s.Domain)*curve.ScalarBytes + picked + inG1 + b.multiplicationBytes(s.Wires, g2)
}

// multiplicationBytes estimates what gnark-crypto takes for one part of a multi-scalar multiplication: two bytes for each
// digit of each scalar, and the buckets of all windows (affine and in extended coordinates).
func (b *Backend) multiplicationBytes(n int, pointBytes int64) int64 {
	part := partPoints(n, b.tasks)
	window := min(max(bits.Len(uint(part))-4, 4), 16)
	windows := int64((256 + window - 1) / window)
	return windows * (2*int64(part) + 3*pointBytes<<(window-1))
}
