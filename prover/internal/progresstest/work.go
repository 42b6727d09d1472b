// Package progresstest judges, in tests, what is told of the progress of work.
package progresstest

import "testing"

// Work is what was told of a piece of work. Its method Tell is a progress.Func.
type Work struct {
	// Calls counts what was told, Done and Total are the last of it.
	Calls       int
	Done, Total int64
	// At, if not nil, is called with each, to act on it.
	At     func(done int64)
	faults []string
}

// Tell takes one report. It wants done to rise, and a total that stays.
func (w *Work) Tell(done, total int64) {
	switch {
	case done <= w.Done:
		w.faults = append(w.faults, "it does not rise")
	case done > total:
		w.faults = append(w.faults, "it is more than the total")
	case w.Calls > 0 && total != w.Total:
		w.faults = append(w.faults, "the total changes")
	}
	w.Calls, w.Done, w.Total = w.Calls+1, done, total
	if w.At != nil {
		w.At(done)
	}
}

// Whole wants the work to have been told of rightly, and up to this total.
func (w *Work) Whole(t testing.TB, total int64) {
	t.Helper()
	if len(w.faults) > 0 {
		t.Errorf("progress: %s (and %d other faults)", w.faults[0], len(w.faults)-1)
	}
	if w.Done != total || w.Total != total {
		t.Errorf("progress ends at %d of %d, want all %d", w.Done, w.Total, total)
	}
}
