package stage

import (
	"log/slog"
	"time"

	"github.com/cuzk-dev/cuzk/prover/progress"
)

// LogProgress passes stages on, and logs how far one is that takes long: now and then, where nobody sees a bar.
func LogProgress(to Observer, log *slog.Logger) Observer {
	return &progressLog{Observer: to, log: log, now: time.Now}
}

type progressLog struct {
	Observer
	log  *slog.Logger
	now  func() time.Time
	tell progress.Func // of the stage that began last
}

func (p *progressLog) Begin(s Name) {
	p.tell = progress.Every(progress.LogInterval, p.now, func(done, total int64) {
		p.log.Info("Did part of a stage", "stage", string(s), "percent", 100*done/total, "done", done, "of", total)
	})
	p.Observer.Begin(s)
}

func (p *progressLog) Progress(s Name, done, total int64) {
	if p.tell != nil {
		p.tell(done, total)
	}
	p.Observer.Progress(s, done, total)
}
