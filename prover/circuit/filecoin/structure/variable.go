// Package structure holds the constraint systems of Filecoin's circuits in the form in which they are evaluated: blocks of
// constraints that occur many times are kept once, as templates, and almost all rows of a template are small sums of bits.
// A system is recorded by running a circuit's description on a Recorder; it does not depend on any witness.
package structure

import "fmt"

// Var is a variable while a circuit is recorded. Vars compare as the terms of a row are ordered: inputs, then arguments of
// a block, then the others, which have been allocated later.
type Var uint32

// One is the first input, whose value is 1, a bit.
const One = Var(1)

type kind uint32

const (
	input    kind = iota // a public input
	argument             // a variable that a block takes from outside, another one in each copy
	aux                  // a variable of the witness
)

// maxIndex bounds the number of variables of one kind.
const maxIndex = 1<<29 - 1

func makeVar(k kind, index int, bit bool) Var {
	v := Var(k)<<30 | Var(index)<<1
	if bit {
		v |= 1
	}
	return v
}

func (v Var) kind() kind { return kind(v >> 30) }
func (v Var) index() int { return int(v >> 1 & maxIndex) }

// IsBit tells whether the variable's value is 0 or 1 in every witness that satisfies the circuit.
func (v Var) IsBit() bool { return v&1 == 1 }

// shift is the same variable of a block's later copy.
func (v Var) shift(by int) Var { return v + Var(by)<<1 }

// String names the variable in messages.
func (v Var) String() string {
	return fmt.Sprintf("%s %d", [...]string{"input", "argument", "aux"}[v.kind()], v.index())
}

// Coefficient is the number of a coefficient in a Recorder's dictionary.
type Coefficient uint32

// The coefficients that are in every dictionary, at these numbers.
const (
	Plus Coefficient = iota
	Minus
	Twice
	zeroCoefficient
	firstOther
)

// Term is a coefficient times a variable.
type Term struct {
	Var         Var
	Coefficient Coefficient
}
