// Package progress tells how far work is that takes long: who does it counts, who waits for it is told.
package progress

import (
	"sync"
	"time"
)

// Func is told how much of a piece of work is done, in a unit that belongs to the work: bytes, points. Calls come one at a
// time, from any goroutine. done never falls, and is total at the end of work that succeeds; total is negative where it is not
// known. A Func must return quickly. Wherever one is taken, nil is allowed.
type Func func(done, total int64)

// Counter adds up what goroutines do. A nil Counter counts nothing.
type Counter struct {
	tell  Func
	total int64

	mu   sync.Mutex
	done int64
}

// Count counts up to a total. It is nil, and costs nothing, if there is nobody to tell.
func Count(total int64, tell Func) *Counter {
	if tell == nil {
		return nil
	}
	return &Counter{tell: tell, total: total}
}

// Add says that n units more are done.
func (c *Counter) Add(n int) {
	if c == nil || n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += int64(n)
	c.tell(c.done, c.total)
}

// Rising passes on what is more than was told before: work that has to begin anew is not told of until it is as far again.
func Rising(tell Func) Func {
	if tell == nil {
		return nil
	}
	highest := int64(0)
	return func(done, total int64) {
		if done > highest {
			highest = done
			tell(done, total)
		}
	}
}

// LogInterval is the least time between two lines of a log that tell of the same work.
const LogInterval = 10 * time.Second

// Every passes on what is told an interval or more after the last that was passed on, or after now for the first: work that
// takes less is not told of.
func Every(interval time.Duration, now func() time.Time, tell Func) Func {
	if tell == nil {
		return nil
	}
	last := now()
	return func(done, total int64) {
		if t := now(); t.Sub(last) >= interval {
			last = t
			tell(done, total)
		}
	}
}
