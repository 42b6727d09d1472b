package structure

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Recorder records a circuit. Constraints outside of Block form sections of their own, with one copy.
type Recorder struct {
	dictionary r1cs.Dictionary
	powers     [fr.Bits][2]Coefficient // 2^i and -2^i
	sections   []Section
	current    *builder
	templates  []*Template
}

// NewRecorder starts a circuit whose only variable is the one.
func NewRecorder() *Recorder {
	r := &Recorder{}
	var one, minus, two, zero fr.Element
	one.SetOne()
	minus.Neg(&one)
	two.SetUint64(2)
	for _, e := range []fr.Element{Plus: one, Minus: minus, Twice: two, zeroCoefficient: zero} {
		r.Coefficient(e)
	}
	power := one
	for i := range r.powers {
		var negated fr.Element
		negated.Neg(&power)
		r.powers[i] = [2]Coefficient{r.Coefficient(power), r.Coefficient(negated)}
		power.Double(&power)
	}
	r.current = newBuilder(r, 1, 0, 0)
	return r
}

// Coefficient numbers a coefficient.
func (r *Recorder) Coefficient(e fr.Element) Coefficient {
	return Coefficient(r.dictionary.Number(curve.Scalar(e)))
}

// Power is the coefficient 2^i, or its negation.
func (r *Recorder) Power(i int, negate bool) Coefficient {
	if negate {
		return r.powers[i][1]
	}
	return r.powers[i][0]
}

func (r *Recorder) value(c Coefficient) fr.Element { return fr.Element(r.dictionary.Values()[c]) }

// Alloc creates a variable that may have any value, AllocBit one that is a bit.
func (r *Recorder) Alloc() Var    { return r.current.alloc(false) }
func (r *Recorder) AllocBit() Var { return r.current.alloc(true) }

// Input creates a public input.
func (r *Recorder) Input() Var { return r.current.input() }

// Enforce adds the constraint a·b = c. Terms of one variable are added up, in place; the slices may be used again.
func (r *Recorder) Enforce(a, b, c []Term) {
	r.current.row(r.normalise(a), r.normalise(b), r.normalise(c))
}

// Block records a block that occurs copies times. Of each copy, arguments gives the variables from outside that differ from
// copy to copy, all copies the same number of the same sort, and none that a copy uses otherwise. body is run once, on
// variables that stand for them; what it returns comes back for each copy.
func (r *Recorder) Block(copies int, arguments func(i int) []Var, body func(arguments []Var) []Var) [][]Var {
	if copies <= 0 {
		panic(fmt.Sprintf("a block of %d copies", copies))
	}
	given := make([][]Var, copies)
	for i := range given {
		given[i] = arguments(i)
		if len(given[i]) != len(given[0]) {
			panic("copies of a block differ in the number of their arguments")
		}
	}
	r.closeSection(1, nil)
	names := make([]Var, len(given[0]))
	for i, v := range given[0] {
		names[i] = makeVar(argument, i, v.IsBit())
	}
	firstAux := r.current.firstAux
	results := body(names)
	t := r.closeSection(copies, given)
	out := make([][]Var, copies)
	for i := range out {
		for _, v := range results {
			if v.kind() != aux || v.index() < firstAux {
				panic(fmt.Sprintf("a block returns %s, which is not its own", v))
			}
			out[i] = append(out[i], v.shift(i*t.Aux))
		}
	}
	return out
}

// closeSection ends the section under way and begins the next.
func (r *Recorder) closeSection(copies int, arguments [][]Var) *Template {
	b := r.current
	t := r.unique(b.template())
	r.sections = append(r.sections, b.section(t, copies, arguments))
	r.current = newBuilder(r, b.firstInput+copies*t.Inputs, b.firstAux+copies*t.Aux, b.firstRow+copies*t.Rows)
	return t
}

// Structure ends the recording.
func (r *Recorder) Structure() *Structure {
	r.closeSection(1, nil)
	end := r.current
	return &Structure{
		Inputs: end.firstInput, Aux: end.firstAux, Constraints: end.firstRow,
		Sections: r.sections, Coefficients: r.dictionary.Values(),
	}
}
