package pipeline

import (
	"time"

	"github.com/cuzk-dev/cuzk/prover/stage"
)

// Kind says what was there when a run began.
type Kind string

const (
	// Warmup is a run that is not measured.
	Warmup Kind = "Warmup"
	// Cold is the first run of a Prover: it carries the time in which the key was loaded.
	Cold Kind = "Cold"
	// Warm is a run with everything in memory.
	Warm Kind = "Warm"
)

// Run is the times of one run.
type Run struct {
	Kind Kind
	// Backend is the name of the one that computed the proof.
	Backend string
	// Refusals counts the proofs that did not verify, and were computed again.
	Refusals int
	Stages   map[stage.Name]time.Duration
	Kernels  map[stage.Kernel]time.Duration
	// Total is from the first stage's begin to the last one's end, with the loading of the key in a cold run.
	Total time.Duration
	// Spans are what the times are made of.
	Spans []stage.Span
}

func (r *Run) add(s stage.Name, d time.Duration) {
	if r.Stages == nil {
		r.Stages, r.Kernels = map[stage.Name]time.Duration{}, map[stage.Kernel]time.Duration{}
	}
	r.Stages[s] += d
}

// recorder keeps the spans of a run on their way to the observer.
type recorder struct {
	to        stage.Observer
	run       *Run
	submitted time.Time
}

func (r *recorder) Begin(s stage.Name) {
	if s == stage.GPU && !r.submitted.IsZero() {
		r.finish(stage.Queue, r.submitted)
		r.submitted = time.Time{}
	}
	r.to.Begin(s)
}

func (r *recorder) Progress(s stage.Name, done, total int64) { r.to.Progress(s, done, total) }

func (r *recorder) Done(s stage.Span) {
	if s.Kernel == "" {
		r.run.add(s.Stage, s.End.Sub(s.Start))
	} else {
		r.run.add(s.Stage, 0)
		r.run.Kernels[s.Kernel] += s.End.Sub(s.Start)
	}
	r.run.Spans = append(r.run.Spans, s)
	r.to.Done(s)
}

func (r *recorder) finish(s stage.Name, start time.Time) {
	r.Done(stage.Span{Stage: s, Start: start, End: time.Now()})
}
