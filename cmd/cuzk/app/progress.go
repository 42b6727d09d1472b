package app

import (
	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/bar"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// progress shows stages: as a bar on a terminal, as log records elsewhere.
type progress struct {
	app *app
	bar *bar.Bar
	// unlogged keeps stages out of the log, where their times are the result.
	unlogged bool
}

var _ stage.Observer = (*progress)(nil)

func (a *app) progress() *progress {
	p := &progress{app: a}
	if !a.flags.quiet && !a.flags.jsonLogs {
		p.bar = bar.New(a.stderr)
	}
	return p
}

func (p *progress) Begin(s stage.Name)                  { p.bar.Begin(string(s)) }
func (p *progress) Progress(_ stage.Name, done float64) { p.bar.Set(done) }

func (p *progress) Done(s stage.Span) {
	if s.Kernel == "" && p.bar == nil && !p.unlogged {
		p.app.log.Info("Finished stage", "stage", string(s.Stage), "milliseconds", s.End.Sub(s.Start).Milliseconds())
	}
}

// of shows the stages of a part of the work under its name.
func (p *progress) of(part string) stage.Observer { return &partProgress{p, part} }

// partProgress is the progress of one of several parts, which may be under way at the same time: the bar shows the one that
// began a stage last.
type partProgress struct {
	*progress
	part string
}

func (p *partProgress) Begin(s stage.Name) { p.bar.Begin(p.part + " " + string(s)) }

func (p *partProgress) Done(s stage.Span) {
	if s.Kernel == "" && p.bar == nil && !p.unlogged {
		p.app.log.Info("Finished stage", "part", p.part, "stage", string(s.Stage), "milliseconds", s.End.Sub(s.Start).Milliseconds())
	}
}

// step shows work that is no stage of a proof: a digest, a download.
func (p *progress) step() func(what string, fraction float64) {
	current := ""
	return func(what string, fraction float64) {
		if what != current {
			current = what
			p.bar.Begin(what)
		}
		p.bar.Set(fraction)
	}
}

// clear takes the bar away.
func (p *progress) clear() { p.bar.Clear() }
