// Package hints links the hints of one's own gnark circuits into a prover.
//
// A hint is a Go function that computes wires outside of a circuit's constraints. A constraint system on disk names the
// hints that it needs, but cannot hold them: the program that solves it must have them. cuzk has those of gnark's
// standard library (github.com/consensys/gnark/std). For a circuit with others there are two ways:
//
//   - Solve the circuit in the program that has the hints, write gnark's solution (R1CSSolution.WriteTo) to a file, and
//     hand that to cuzk in place of the witness. Nothing needs to be built.
//   - Build cuzk with the hints: a main package that registers them and then is cuzk.
//
// The second way is a program of a few lines:
//
//	package main
//
//	import (
//		"github.com/cuzk-dev/cuzk/cmd/cuzk/app"
//		"github.com/cuzk-dev/cuzk/prover/circuit/gnark/hints"
//
//		"example.com/mycircuit"
//	)
//
//	func main() {
//		hints.Register(mycircuit.Hints()...)
//		app.Main()
//	}
//
// Hints must be registered before app.Main, or, in a program of one's own, before Main of package prover/circuit/gnark:
// circuits are solved in a child process, which is the same program started again.
package hints

import (
	"fmt"
	"hash/fnv"

	"github.com/consensys/gnark/constraint/solver"
)

// Register makes hints available under their own names: the full name of each function, by which gnark's NewHint noted it
// in the constraint system. Registering a function twice is allowed.
func Register(functions ...solver.Hint) { solver.RegisterHint(functions...) }

// RegisterAs makes a hint available under another name, for a function that has moved since the circuit was compiled:
// one of package main, for instance, is "main.myHint" in the constraint system, and cannot be imported under that name.
// The name is as in the error message of the missing hint.
func RegisterAs(name string, function solver.Hint) error {
	id := ID(name)
	if solver.GetRegisteredHint(id) != nil {
		return fmt.Errorf("a hint with the id of %s (%d) is registered already", name, id)
	}
	solver.RegisterNamedHint(function, id)
	return nil
}

// ID is gnark's number for the hint of that name.
func ID(name string) solver.HintID {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // It never fails.
	return solver.HintID(h.Sum32())
}
