package app

import (
	"log/slog"
	"time"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/bar"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// display shows stages of proofs and other work that takes long: as a bar on a terminal, as log records elsewhere.
type display struct {
	bar *bar.Bar
	log *slog.Logger // nowhere where there is a bar
}

func (a *app) progress() *display {
	if !a.flags.quiet && !a.flags.jsonLogs {
		if b := bar.New(a.stderr); b != nil {
			return &display{bar: b, log: slog.New(slog.DiscardHandler)}
		}
	}
	return &display{log: a.log}
}

// unlogged keeps the work out of the log, where its times are the result.
func (d *display) unlogged() *display {
	d.log = slog.New(slog.DiscardHandler)
	return d
}

// stages shows those of a proof.
func (d *display) stages() stage.Observer { return d.observer("", d.log) }

// of shows the stages of a part of the work under its name. Several parts may be under way at the same time: the bar shows the
// one that began a stage last.
func (d *display) of(part string) stage.Observer {
	return d.observer(part+" ", d.log.With("part", part))
}

func (d *display) observer(label string, log *slog.Logger) stage.Observer {
	return stage.LogProgress(&stages{bar: d.bar, label: label, log: log}, log)
}

// stages is the observer of a display.
type stages struct {
	bar   *bar.Bar
	label string // before the names
	log   *slog.Logger
}

func (s *stages) Begin(name stage.Name)                 { s.bar.Begin(s.label + string(name)) }
func (s *stages) Progress(_ stage.Name, done, of int64) { s.bar.Set(float64(done) / float64(of)) }

func (s *stages) Done(span stage.Span) {
	if span.Kernel == "" {
		s.log.Info("Finished stage", "stage", string(span.Stage), "milliseconds", span.End.Sub(span.Start).Milliseconds())
	}
}

// work shows work that is no stage of a proof, such as a digest or a download, from its first report on.
func (d *display) work(what string) progress.Func {
	begun := false
	logged := progress.Every(progress.LogInterval, time.Now, func(done, total int64) {
		if total > 0 {
			d.log.Info("Did part of the work", "work", what, "percent", 100*done/total, "done", done, "of", total)
			return
		}
		d.log.Info("Did part of the work", "work", what, "done", done)
	})
	return func(done, total int64) {
		if !begun {
			begun = true
			d.begin(what)
		}
		if total > 0 {
			d.bar.Set(float64(done) / float64(total))
		}
		logged(done, total)
	}
}

// begin shows work of which nothing will be counted.
func (d *display) begin(what string) { d.bar.Begin(what) }

// clear takes the bar away.
func (d *display) clear() { d.bar.Clear() }
