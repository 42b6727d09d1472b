package gnarkkey

import (
	"math/bits"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// Circuit is what a constraint system says of itself that its proving key must agree with.
type Circuit struct {
	// File is the constraint system's name in messages.
	File  string
	Curve curve.ID
	// Constraints, Wires (with the one) and Public (without it) count.
	Constraints, Wires, Public int
	// Commitments are in the order in which they are made.
	Commitments []Commitment
}

// Commitment is one Pedersen commitment of a circuit.
type Commitment struct {
	// Private lists the private wires that are committed to, ascending.
	Private []uint32
	// Wire is the wire that holds the commitment's hash.
	Wire uint32
}

// Bind compares the key with the constraint system it is used with (Agrees), and takes from it which wires are committed
// to. A key with commitments can be loaded by a backend only afterwards. The error is of class Key.
func (k *Key) Bind(c Circuit) error {
	if err := k.Agrees(c); err != nil {
		return err
	}
	k.committed = committedWires(c)
	return nil
}

// committedWires lists, ascending, the private wires that commitments cover, and the commitments' own.
func committedWires(c Circuit) []uint32 {
	var committed []uint32
	for _, com := range c.Commitments {
		committed = append(committed, com.Private...)
		committed = append(committed, com.Wire)
	}
	slices.Sort(committed)
	return committed
}

// Agrees compares the key's dimensions with those of a constraint system. That they agree does not prove that key and
// constraint system come from one setup. The error is of class Key.
func (k *Key) Agrees(c Circuit) error {
	mismatch := func(msg string, args ...any) error {
		return failure.New(failure.Key, "the proving key does not belong to the constraint system "+c.File+": "+msg, args...).
			In(k.Name()).WithFix("hand in the proving key and the constraint system of one setup")
	}
	if c.Curve != k.id {
		return mismatch("it is for %s and the constraint system for %s", k.id, c.Curve)
	}
	if c.Wires != k.wires {
		return mismatch("it has %d wires and the constraint system %d", k.wires, c.Wires)
	}
	if c.Public != k.public {
		return mismatch("it has %d public inputs and the constraint system %d", k.public, c.Public)
	}
	if domain := nextPowerOfTwo(c.Constraints); domain != k.domain {
		return mismatch("its domain is %d and the constraint system's %d constraints need %d", k.domain, c.Constraints, domain)
	}
	if len(c.Commitments) != len(k.commitments) {
		return mismatch("it has %d commitment keys and the constraint system %d commitments", len(k.commitments), len(c.Commitments))
	}
	for i, com := range c.Commitments {
		if n := k.commitments[i].basis.count; len(com.Private) != n {
			return mismatch("its commitment key %d is for %d wires and the constraint system commits to %d", i, n, len(com.Private))
		}
	}
	committed := committedWires(c)
	for i, w := range committed {
		if int64(w) <= int64(c.Public) || int64(w) >= int64(c.Wires) {
			return mismatch("the constraint system commits to wire %d, which is not a private one", w)
		}
		if i > 0 && w == committed[i-1] {
			return mismatch("the constraint system commits to wire %d twice", w)
		}
	}
	return nil
}

func nextPowerOfTwo(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}
