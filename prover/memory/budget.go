// Package memory bounds what proofs allocate. A stage reserves bytes before it allocates and gives them back as soon as
// they are dead, so that what runs at once is decided by memory and not by a count of workers.
package memory

import (
	"context"
	"fmt"
	"math"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// Budget is a number of bytes that reservations share. Those that wait are served in the order in which they asked, so a
// large one is not starved by small ones. It is safe for concurrent use.
type Budget struct {
	total int64
	bytes *semaphore.Weighted

	mu         sync.Mutex
	used, peak int64
	held       int64
	waiting    int // reservations that wait for bytes
}

// NewBudget makes a budget of total bytes; zero or less means no bound (reservations are still counted).
func NewBudget(total int64) *Budget {
	if total <= 0 {
		total = math.MaxInt64
	}
	return &Budget{total: total, bytes: semaphore.NewWeighted(total)}
}

// Total is the number of bytes of the budget, math.MaxInt64 if it has no bound.
func (b *Budget) Total() int64 { return b.total }

// Room is the most that a reservation can have: all that is not held.
func (b *Budget) Room() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total - b.held
}

// Used is the number of bytes reserved or held now, and the most there have been.
func (b *Budget) Used() (now, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.peak
}

// Reserve waits until n bytes are free and takes them. what names the use in messages. More than the budget's room is an
// error of class Memory at once, for waiting would not help.
func (b *Budget) Reserve(ctx context.Context, n int64, what string) (*Reservation, error) {
	n = max(n, 0)
	taken, err := b.takeOrWait(n, what)
	if err != nil {
		return nil, err
	}
	if !taken {
		err := b.bytes.Acquire(ctx, n)
		b.mu.Lock()
		b.waiting--
		if err == nil {
			b.count(n)
		}
		b.mu.Unlock()
		if err != nil {
			return nil, fmt.Errorf("wait for %s of memory for %s: %w", Size(n), what, err)
		}
	}
	return &Reservation{budget: b, n: n}, nil
}

// takeOrWait takes n bytes if they are free, and else announces a reservation that waits.
func (b *Budget) takeOrWait(n int64, what string) (taken bool, _ error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.total-b.held {
		return false, b.refuse(n, what)
	}
	if !b.bytes.TryAcquire(n) {
		b.waiting++
		return false, nil
	}
	b.count(n)
	return true, nil
}

// Hold takes n bytes for what stays while reservations come and go, as a key does. It does not wait, since nobody says when
// others are given back, and what reservations wait for is not taken from them: what is not free is an error of class Memory.
func (b *Budget) Hold(n int64, what string) (*Reservation, error) {
	n = max(n, 0)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting > 0 || !b.bytes.TryAcquire(n) {
		return nil, b.refuse(n, what)
	}
	b.held += n
	b.count(n)
	return &Reservation{budget: b, n: n, held: true}, nil
}

// refuse says why n bytes cannot be had; the caller has locked the budget.
func (b *Budget) refuse(n int64, what string) error {
	taken := ""
	switch {
	case n > b.total:
	case n > b.total-b.held:
		taken = fmt.Sprintf(", of which keys hold %s", Size(b.held))
	default:
		taken = fmt.Sprintf(", of which %s are in use", Size(b.used))
	}
	return failure.New(failure.Memory, "%s needs %s of memory, the budget is %s%s", what, Size(n), Size(b.total), taken).WithFix(RaiseLimit)
}

// RaiseLimit is what to do where memory is short.
const RaiseLimit = "raise the memory limit (--memory-limit, or the container's) if the machine has as much"

// count tells that n bytes more are taken; the caller has locked the budget.
func (b *Budget) count(n int64) {
	b.used += n
	b.peak = max(b.peak, b.used)
}

// giveBack frees n bytes.
func (b *Budget) giveBack(n int64, held bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count(-n)
	if held {
		b.held -= n
	}
	b.bytes.Release(n)
}

// Reservation is a part of a budget that is taken. A nil Reservation holds nothing.
type Reservation struct {
	budget *Budget
	held   bool
	mu     sync.Mutex
	n      int64
}

// Bytes is what the reservation holds.
func (r *Reservation) Bytes() int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// Shrink gives back what is held beyond n bytes.
func (r *Reservation) Shrink(n int64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n = max(n, 0); n < r.n {
		r.budget.giveBack(r.n-n, r.held)
		r.n = n
	}
}

// Reduce gives back n bytes, or what is left.
func (r *Reservation) Reduce(n int64) {
	if r != nil {
		r.Shrink(r.Bytes() - max(n, 0))
	}
}

// Release gives everything back; it may be called again.
func (r *Reservation) Release() { r.Shrink(0) }

// Size writes a number of bytes for people: 1.5 GiB.
func Size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, exponent := float64(n), -1
	for value >= unit && exponent < 5 {
		value /= unit
		exponent++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[exponent])
}
