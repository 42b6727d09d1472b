package cuda

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// queue hands out the lanes of the devices: to the proof of the highest priority, and among equals to the one that came
// first. It knows which devices take no more work.
type queue struct {
	mu      sync.Mutex
	devices []*device
	waiting []*claim // in the order in which they are served
}

// claim is a proof's wish for a lane.
type claim struct {
	priority int
	// refuses tells devices that will not do, prefers those that suit better where all else is equal.
	refuses, prefers func(*device) bool
	// granted gets the device, or is closed when none is left that would do.
	granted chan *device
}

// errNowhere says that no device is left for a proof.
var errNowhere = errors.New("no GPU is left")

// acquire waits for a lane of a device; it must be released.
func (q *queue) acquire(ctx context.Context, c *claim) (*device, error) {
	c.granted = make(chan *device, 1)
	q.mu.Lock()
	at := slices.IndexFunc(q.waiting, func(o *claim) bool { return o.priority < c.priority })
	if at < 0 {
		at = len(q.waiting)
	}
	q.waiting = slices.Insert(q.waiting, at, c)
	q.serve()
	q.mu.Unlock()
	select {
	case d, ok := <-c.granted:
		if !ok {
			return nil, errNowhere
		}
		return d, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(o *claim) bool { return o == c })
	select {
	case d, ok := <-c.granted: // it came at the same moment
		if ok {
			d.free++
		}
	default:
	}
	q.serve()
	return nil, ctx.Err()
}

// release gives a lane back.
func (q *queue) release(d *device) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d.free++
	q.serve()
}

// withdraw keeps a device from further work and reports whether it had any until now.
func (q *queue) withdraw(d *device, reason error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d.fault != nil {
		return false
	}
	d.fault = reason
	q.serve()
	return true
}

// withdrawn reports that a device takes no more work.
func (q *queue) withdrawn(d *device) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return d.fault != nil
}

// reason is why a device takes no more work, or nil.
func (q *queue) reason(d *device) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return d.fault
}

// usable lists the devices that take work, the least loaded first.
func (q *queue) usable() []*device {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(q.devices), func(d *device) bool { return d.fault != nil })
	slices.SortStableFunc(left, func(a, b *device) int { return b.free - a.free })
	return left
}

// withdrawals lists the devices that take no work, with the reasons.
func (q *queue) withdrawals() []groth16.Withdrawal {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []groth16.Withdrawal
	for _, d := range q.devices {
		if d.fault != nil {
			all = append(all, groth16.Withdrawal{Device: d.UUID, Name: d.Name, Reason: d.fault})
		}
	}
	return all
}

// serve grants what can be granted. The mutex is held.
func (q *queue) serve() {
	q.waiting = slices.DeleteFunc(q.waiting, func(c *claim) bool {
		d, possible := q.choose(c)
		switch {
		case d != nil:
			d.free--
			c.granted <- d
		case !possible:
			close(c.granted)
		}
		return d != nil || !possible
	})
}

// choose picks the least loaded device with a free lane; among equals one that the claim prefers. possible says that there
// is a device to wait for.
func (q *queue) choose(c *claim) (best *device, possible bool) {
	for _, d := range q.devices {
		if d.fault != nil || c.refuses(d) {
			continue
		}
		possible = true
		switch {
		case d.free == 0:
		case best == nil, d.free > best.free, d.free == best.free && c.prefers(d) && !c.prefers(best):
			best = d
		}
	}
	return best, possible
}
