package circom

import (
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Shape is what a proving key says about its circuit. groth16.KeySource has it.
type Shape interface {
	Curve() curve.ID
	Wires() int
	Public() int
}

// Match refuses a witness that cannot be one of the key's circuit. keyName is the key's file, for messages.
func (w *Witness) Match(key Shape, keyName string) error {
	const fix = "use the key and the witness of the same circuit"
	if w.curve != key.Curve() {
		return failure.New(failure.Input, "the witness is on %s but the key %s is on %s", w.curve, keyName, key.Curve()).
			In(w.name).WithFix(fix)
	}
	if w.Len() != key.Wires() {
		return failure.New(failure.Input, "the witness has %d elements but the key %s is of a circuit with %d wires: it is the key of another circuit",
			w.Len(), keyName, key.Wires()).In(w.name).WithFix(fix)
	}
	return nil
}

// MatchConstraints refuses a constraint system that is not the one that a key was made for, as far as counts tell.
// constraints is the key's number of constraints without the rows that bind public inputs, or -1 if it is not known.
func MatchConstraints(m *r1cs.Matrices, name string, key Shape, constraints int, keyName string) error {
	const fix = "use the .r1cs that the key was made from"
	refuse := func(what string, here, there any) error {
		return failure.New(failure.Key, "has %v %s but the key %s has %v: it is the key of another circuit", here, what, keyName, there).
			In(name).WithFix(fix)
	}
	switch {
	case m.Curve != key.Curve():
		return failure.New(failure.Key, "is on %s but the key %s is on %s", m.Curve, keyName, key.Curve()).In(name).WithFix(fix)
	case m.Wires != key.Wires():
		return refuse("wires", m.Wires, key.Wires())
	case m.Public != key.Public():
		return refuse("public signals", m.Public, key.Public())
	case constraints >= 0 && m.Constraints != constraints:
		return refuse("constraints", m.Constraints, constraints)
	}
	return nil
}
