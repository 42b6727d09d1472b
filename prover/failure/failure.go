// Package failure classes the errors that end a proof, so that a process can answer with the exit code, and an operator
// with the decision, that fits: retry, fail this input alone, or fail the whole job.
package failure

import (
	"errors"
	"fmt"
	"strings"
)

// Class is what kind of thing went wrong; it decides the exit code and who has to act.
type Class string

const (
	// Internal is a defect or a state nobody foresaw; a retry may help.
	Internal Class = "Internal"
	// Usage is a command line that cannot be carried out as written.
	Usage Class = "Usage"
	// Input is a witness or input that is malformed or does not satisfy the circuit. It fails alone, without a retry.
	Input Class = "Input"
	// Key is a proving key, verifying key, constraint system or configuration that cannot serve any input.
	Key Class = "Key"
	// Verification is a proof that does not verify.
	Verification Class = "Verification"
	// Backend is a device, driver or library that is absent or unusable.
	Backend Class = "Backend"
	// IO is storage or network that may work on the next attempt.
	IO Class = "IO"
	// Memory is a reservation that the budget or the machine cannot satisfy.
	Memory Class = "Memory"
	// Interrupted is a stop asked for from outside, before there was a proof.
	Interrupted Class = "Interrupted"
)

// ExitCode is the process exit code of the class. The pod failure policy of a ProofJob's pods is written against these
// numbers: they are part of the interface and do not change.
func (c Class) ExitCode() int {
	switch c {
	case Usage:
		return 2
	case Input:
		return 3
	case Key:
		return 4
	case Verification:
		return 5
	case Backend:
		return 6
	case IO:
		return 7
	case Memory:
		return 8
	case Interrupted:
		return 143
	default:
		return 1
	}
}

// Error is an error of a known class, with the place in a file where that is known.
type Error struct {
	Class Class
	// File is the path or name the user handed in.
	File string
	// Section is the part of the file, for instance "section 4 (coefficients)".
	Section string
	// Offset is the byte offset in File, or -1 when there is none to tell.
	Offset int64
	// Constraint is the number of the constraint concerned (from 0), or -1.
	Constraint int64
	// Fix says what the user can do, as a clause; it may be empty.
	Fix string
	// Err is the cause.
	Err error
}

// New makes an error of a class without a place.
func New(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Offset: -1, Constraint: -1, Err: fmt.Errorf(format, args...)}
}

// In returns a copy that names the file.
func (e *Error) In(file string) *Error { c := *e; c.File = file; return &c }

// At returns a copy that names the section and the byte offset in the file.
func (e *Error) At(section string, offset int64) *Error {
	c := *e
	c.Section, c.Offset = section, offset
	return &c
}

// OnConstraint returns a copy that names the constraint.
func (e *Error) OnConstraint(n int64) *Error { c := *e; c.Constraint = n; return &c }

// WithFix returns a copy that says what to do about it.
func (e *Error) WithFix(format string, args ...any) *Error {
	c := *e
	c.Fix = fmt.Sprintf(format, args...)
	return &c
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	if e.Section != "" {
		b.WriteString(e.Section)
		if e.Offset >= 0 {
			fmt.Fprintf(&b, " at offset %d", e.Offset)
		}
		b.WriteString(": ")
	} else if e.Offset >= 0 {
		fmt.Fprintf(&b, "offset %d: ", e.Offset)
	}
	if e.Constraint >= 0 {
		fmt.Fprintf(&b, "constraint %d: ", e.Constraint)
	}
	b.WriteString(e.Err.Error())
	if e.Fix != "" {
		b.WriteString("; ")
		b.WriteString(e.Fix)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// InFile gives a file's name to an error of a known class that names none: readers of bytes do not know it. What others said
// around the error stays.
func InFile(err error, file string) error {
	var e *Error
	if !errors.As(err, &e) || e.File != "" {
		return err
	}
	if err.Error() == e.Error() {
		return e.In(file)
	}
	return New(e.Class, "%w", err).In(file)
}

// ClassOf finds the class of an error anywhere in its chain; an error without one is Internal.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Internal
}
