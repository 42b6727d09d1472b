package job

import "github.com/cuzk-dev/cuzk/prover/failure"

// agreement compares what the caller says with what the input says, and keeps the first contradiction.
type agreement struct {
	name string
	err  error
}

// agreed is what is said of something, nil where neither says it.
func agreed[T comparable](a *agreement, what string, given, found *T) *T {
	switch {
	case given == nil:
		return found
	case found != nil && *given != *found && a.err == nil:
		a.err = failure.New(failure.Input, "%s is %v, but %v was given", what, *found, *given).In(a.name).
			WithFix("correct what was given, or use the input that it belongs to")
	}
	return given
}
