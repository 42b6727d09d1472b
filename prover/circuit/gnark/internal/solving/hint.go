package solving

import (
	"fmt"
	"math/big"
	"regexp"

	"github.com/consensys/gnark/constraint/solver"
	gnarkcs "github.com/consensys/gnark/frontend/cs"
)

// hintError is a hint that failed. The solver returns what the hint returned, and nothing tells which one it was.
type hintError struct {
	name string
	text string
}

func (e *hintError) Error() string { return "hint " + e.name + ": " + e.text }

// nativeHints are those that gnark's solver computes itself when it finds its own function under their number (gnark,
// constraint/<curve>/solver.go, nativeHintByName). They are left as they are.
var nativeHints = map[string]bool{
	"github.com/consensys/gnark/std/internal/logderivarg.countHint":         true,
	"github.com/consensys/gnark/std/internal/logderivarg.batchDivBySubHint": true,
	"github.com/consensys/gnark/std/rangecheck.DecomposeHint":               true,
	"github.com/consensys/gnark/std/math/bits.nBits":                        true,
}

// namedHints wraps the hints of a circuit, so that a failure names the hint and a panic does not end the process.
type namedHints struct{ options []solver.Option }

func newNamedHints(dependencies map[solver.HintID]string) *namedHints {
	n := &namedHints{}
	commitment := solver.GetHintID(gnarkcs.Bsb22CommitmentComputePlaceholder)
	for id, name := range dependencies {
		hint := solver.GetRegisteredHint(id)
		if hint == nil || id == commitment || nativeHints[name] {
			continue
		}
		n.options = append(n.options, solver.OverrideHint(id, named(name, hint)))
	}
	return n
}

func named(name string, hint solver.Hint) solver.Hint {
	return func(field *big.Int, inputs, outputs []*big.Int) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = &hintError{name: name, text: "it panicked: " + WithoutNumbers(fmt.Sprint(r))}
			}
		}()
		if err := hint(field, inputs, outputs); err != nil {
			return &hintError{name: name, text: WithoutNumbers(err.Error())}
		}
		return nil
	}
}

var number = regexp.MustCompile(`\b(0[xX][0-9a-fA-F]+|[0-9]+)\b`)

// WithoutNumbers takes out of a message what may be a value of a wire: a witness is often secret.
func WithoutNumbers(text string) string {
	const most = 1000
	if len(text) > most {
		text = text[:most] + "…"
	}
	return number.ReplaceAllString(text, "…")
}
