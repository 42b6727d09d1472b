package bar

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The time goes on where work tells nothing, with what it told last, and stops with the bar.
func TestTheTimeGoesOn(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1_000_000, 0)
	ticks, ended := make(chan time.Time), make(chan struct{})
	b := &Bar{
		w: &out, width: func() int { return 30 }, now: func() time.Time { return now },
		ticks: func() (<-chan time.Time, func()) { return ticks, func() { close(ended) } },
	}
	// pass lets seconds go by before the next drawing. A tick is taken when the one before it has been drawn.
	pass := func(seconds time.Duration) {
		b.mu.Lock()
		now = now.Add(seconds * time.Second)
		b.mu.Unlock()
	}
	b.Begin("srs")
	pass(1)
	ticks <- now
	ticks <- now
	pass(60)
	b.Set(0.5)
	pass(4)
	b.Set(0.5) // if the second tick has not drawn this
	b.Clear()
	<-ended
	const begin, end = "\r", "\x1b[K"
	drawn := bytes.Split(out.Bytes(), []byte(begin))
	for i, want := range []string{"", "srs      0:00" + end, "srs      0:01" + end} {
		if diff := cmp.Diff(want, string(drawn[i])); diff != "" {
			t.Errorf("drawing %d: %s", i, diff)
		}
	}
	last := []string{string(drawn[len(drawn)-2]), string(drawn[len(drawn)-1])}
	if diff := cmp.Diff([]string{"srs      [####....]  50%  1:05" + end, end}, last); diff != "" {
		t.Error(diff)
	}
}
