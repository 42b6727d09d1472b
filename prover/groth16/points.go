package groth16

import "github.com/cuzk-dev/cuzk/prover/curve"

// CheckPoints checks that a proof's points are in their groups, and A, B and C not infinity. It is all that can be said of
// a proof without a verifying key; it does not say that the proof verifies.
func CheckPoints(proof *Proof) error {
	id := proof.Curve
	g1 := map[string]curve.G1{"A": proof.A, "C": proof.C}
	for name, p := range g1 {
		if err := id.CheckG1(p); err != nil {
			return refuse("point %s of the proof: %w", name, err)
		}
		if curve.IsInfinity(p) {
			return refuse("point %s of the proof is the point at infinity, which no honest proof contains", name)
		}
	}
	if err := id.CheckG2(proof.B); err != nil {
		return refuse("point B of the proof: %w", err)
	}
	if curve.IsInfinity(proof.B) {
		return refuse("point B of the proof is the point at infinity, which no honest proof contains")
	}
	for i, c := range proof.Commitments {
		if err := id.CheckG1(c); err != nil {
			return refuse("commitment %d of the proof: %w", i, err)
		}
	}
	return nil
}
