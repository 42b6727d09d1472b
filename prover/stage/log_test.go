package stage

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// seen is an observer that remembers.
type seen struct {
	Nop
	begun []Name
	told  int
}

func (s *seen) Begin(n Name)                { s.begun = append(s.begun, n) }
func (s *seen) Progress(Name, int64, int64) { s.told++ }

// A stage is logged from the tenth second on, every ten seconds; all of it is passed on.
func TestLogProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1_000_000, 0)
	to := &seen{}
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	p := &progressLog{Observer: to, log: log, now: func() time.Time { return now }}
	p.Progress(SRS, 1, 2) // before any stage
	for _, s := range []Name{SRS, GPU} {
		p.Begin(s)
		for second := range int64(12) {
			p.Progress(s, 1000*second, 47_000)
			now = now.Add(time.Second)
		}
	}
	want := `level=INFO msg="Did part of a stage" stage=srs percent=21 done=10000 of=47000
level=INFO msg="Did part of a stage" stage=gpu percent=21 done=10000 of=47000
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Name{SRS, GPU}, to.begun); diff != "" || to.told != 25 {
		t.Errorf("passed on: %d reports, stages %s", to.told, diff)
	}
}
