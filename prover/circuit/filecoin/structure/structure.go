package structure

import (
	"slices"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
)

// Structure is a circuit's constraint system: sections one after the other, each some copies of a template. The rows that
// bellman adds for the inputs are not part of it.
type Structure struct {
	// Inputs counts the one.
	Inputs, Aux, Constraints int
	Sections                 []Section
	// Coefficients is the dictionary, in Montgomery form.
	Coefficients []curve.Scalar
}

// Section is Copies copies of a template. Of copy i, inputs, variables and rows begin at First… + i times the template's
// number of them.
type Section struct {
	Template                       *Template
	Copies                         int
	FirstInput, FirstAux, FirstRow int
	// Bits and Full are the sources of the template's externals: those of one copy, which hold for all, or those of
	// all copies.
	Bits, Full []Var
}

// unique returns a template that has been recorded before and is equal, if there is one.
func (r *Recorder) unique(t *Template) *Template {
	for _, other := range r.templates {
		if other.equal(t) {
			return other
		}
	}
	r.templates = append(r.templates, t)
	return t
}

func (t *Template) equal(o *Template) bool {
	if t.Inputs != o.Inputs || t.Aux != o.Aux || t.Rows != o.Rows || t.Entries != o.Entries ||
		!slices.Equal(t.ExternalBits, o.ExternalBits) || !slices.Equal(t.ExternalFull, o.ExternalFull) ||
		!slices.Equal(t.Full, o.Full) || !slices.Equal(t.Products, o.Products) || !slices.Equal(t.Sums, o.Sums) {
		return false
	}
	for m := range t.Long {
		x, y := &t.Long[m], &o.Long[m]
		if !slices.Equal(x.Row, y.Row) || !slices.Equal(x.Start, y.Start) || !slices.Equal(x.Split, y.Split) ||
			!slices.Equal(x.Slot, y.Slot) || !slices.Equal(x.Coefficient, y.Coefficient) {
			return false
		}
	}
	return true
}

// ofCopy is the part of sources that belongs to copy i.
func ofCopy(sources []Var, externals, i int) []Var {
	if len(sources) > externals {
		return sources[i*externals:][:externals]
	}
	return sources
}

// Entries counts the non-zero entries of A, B and C.
func (s *Structure) Entries() [3]int {
	var n [3]int
	for i := range s.Sections {
		for m, entries := range s.Sections[i].Template.Entries {
			n[m] += s.Sections[i].Copies * entries
		}
	}
	return n
}

// Templates lists the templates, each once.
func (s *Structure) Templates() []*Template {
	var out []*Template
	for i := range s.Sections {
		if t := s.Sections[i].Template; !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// Bytes is the memory that the templates and the dictionary occupy.
func (s *Structure) Bytes() int64 {
	n := int64(len(s.Coefficients)) * curve.ScalarBytes
	for _, t := range s.Templates() {
		n += t.Bytes()
	}
	return n
}

// Layout tells how a witness is made up.
func (s *Structure) Layout() []witness.Part {
	out := make([]witness.Part, len(s.Sections))
	for i, section := range s.Sections {
		t := section.Template
		out[i] = witness.Part{Copies: section.Copies, Inputs: t.Inputs, Aux: t.Aux, Full: len(t.Full)}
	}
	return out
}
