package gnarkkey

import (
	"sync"

	"github.com/cuzk-dev/cuzk/prover/stage"
)

// progress adds up the work of concurrent goroutines and tells the observer of each percent, from one at a time.
type progress struct {
	observer stage.Observer
	total    int

	mu      sync.Mutex
	done    int
	percent int
}

func (p *progress) add(r *run, points int) {
	if p == nil || p.observer == nil || p.total == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += r.weight() / r.count * points
	if percent := p.done * 100 / p.total; percent > p.percent {
		p.percent = percent
		p.observer.Progress(stage.SRS, float64(p.done)/float64(p.total))
	}
}
