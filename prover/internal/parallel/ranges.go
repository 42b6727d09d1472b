// Package parallel spreads loops over long arrays, often of mapped files, over the machine's cores.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// Ranges calls fn on consecutive ranges [start, end) that together cover [0, n), each of at most chunk elements, on all
// cores. It returns the error of the lowest range that failed, so that the message does not depend on timing: ranges
// below a failed one are always completed. Cancelling ctx ends it between ranges. Faults on mapped memory are errors.
func Ranges(ctx context.Context, n, chunk int, fn func(start, end int) error) error {
	if n <= 0 {
		return ctx.Err()
	}
	chunks := (n-1)/chunk + 1
	workers := min(runtime.GOMAXPROCS(0), chunks)
	var (
		next   atomic.Int64
		failed atomic.Int64 // lowest chunk that failed
		mu     sync.Mutex
		first  error
		wg     sync.WaitGroup
	)
	failed.Store(int64(chunks))
	work := func() {
		for {
			i := next.Add(1) - 1
			if i >= failed.Load() || ctx.Err() != nil {
				return
			}
			start := int(i) * chunk
			if err := mapped.Guard(func() error { return fn(start, min(start+chunk, n)) }); err != nil {
				mu.Lock()
				if i < failed.Load() {
					failed.Store(i)
					first = err
				}
				mu.Unlock()
				return
			}
		}
	}
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if first != nil {
		return first
	}
	return ctx.Err()
}
