package groth16

import "github.com/cuzk-dev/cuzk/prover/curve"

// CheckPoints checks that a proof's points are in their groups, and A, B and C not infinity. It is all that can be said of
// a proof without a verifying key; it does not say that the proof verifies. Its errors are of class Verification.
func CheckPoints(proof *Proof) error {
	id := proof.Curve
	for _, p := range []struct {
		name  string
		point []byte
		check func() error
	}{
		{"A", proof.A, func() error { return id.CheckG1(proof.A) }},
		{"B", proof.B, func() error { return id.CheckG2(proof.B) }},
		{"C", proof.C, func() error { return id.CheckG1(proof.C) }},
	} {
		if err := p.check(); err != nil {
			return refuse("point %s of the proof: %w", p.name, err)
		}
		if curve.IsInfinity(p.point) {
			return refuse("point %s of the proof is the point at infinity, which no honest proof contains", p.name)
		}
	}
	for i, c := range proof.Commitments {
		if err := id.CheckG1(c); err != nil {
			return refuse("commitment %d of the proof: %w", i, err)
		}
	}
	if len(proof.Commitments) == 0 {
		if !curve.IsInfinity(proof.PoK) {
			return refuse("the proof has a proof of knowledge of commitments, but no commitments")
		}
		return nil
	}
	if err := id.CheckG1(proof.PoK); err != nil {
		return refuse("the proof of knowledge of the commitments: %w", err)
	}
	return nil
}
