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

// Used is the number of bytes reserved now, and the most there have been.
func (b *Budget) Used() (now, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.peak
}

// Reserve waits until n bytes are free and takes them. what names the use in messages. More than the whole budget is an
// error of class Memory at once, for waiting would not help.
func (b *Budget) Reserve(ctx context.Context, n int64, what string) (*Reservation, error) {
	n = max(n, 0)
	if n > b.total {
		return nil, failure.New(failure.Memory, "%s needs %s of memory, the budget is %s", what, Size(n), Size(b.total)).
			WithFix("raise the memory limit")
	}
	if err := b.bytes.Acquire(ctx, n); err != nil {
		return nil, fmt.Errorf("wait for %s of memory for %s: %w", Size(n), what, err)
	}
	b.count(n)
	return &Reservation{budget: b, n: n}, nil
}

func (b *Budget) count(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += n
	b.peak = max(b.peak, b.used)
}

// Reservation is a part of a budget that is taken. A nil Reservation holds nothing.
type Reservation struct {
	budget *Budget
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
		r.budget.bytes.Release(r.n - n)
		r.budget.count(n - r.n)
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
