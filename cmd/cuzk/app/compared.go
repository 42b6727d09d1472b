package app

import (
	"fmt"
	"io"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// fact is something that two reports say of what they measured.
type fact struct {
	name      string
	then, now any
}

// differing are the facts that differ, in words.
func differing(facts []fact) (out []string) {
	for _, f := range facts {
		if f.then != f.now {
			out = append(out, fmt.Sprintf("%s was %v then and is %v now", f.name, f.then, f.now))
		}
	}
	return out
}

// comparable refuses to compare reports of different things: their difference would mean nothing.
func comparable(file string, facts []fact) error {
	if d := differing(facts); len(d) > 0 {
		return failure.New(failure.Usage, "is of something else: the %s", d[0]).In(file).WithFix("compare with a report of the same circuit")
	}
	return nil
}

// writeDiffers shows what else differs between two reports beside what was meant to.
func writeDiffers(w io.Writer, differs []string) {
	for _, d := range differs {
		fmt.Fprintf(w, "note: %s\n", d)
	}
}
