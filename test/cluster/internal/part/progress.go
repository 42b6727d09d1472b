package part

import (
	"bytes"
	"sync"
	"time"
)

// progress collects what `go build -v` prints, one line a compiled package, and tells a waiting person from time to
// time how far it is.
type progress struct {
	what  string
	say   func(string, ...any)
	start time.Time

	mu   sync.Mutex
	text bytes.Buffer
	next time.Time
}

func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// tick reports until the returned function is called.
func (p *progress) tick() (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-t.C:
				p.report(now)
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func (p *progress) report(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	p.say("building %s: %d packages compiled in %s", p.what, bytes.Count(p.text.Bytes(), []byte("\n")), now.Sub(p.start).Round(time.Second))
}
