package cpu

import (
	"container/heap"
	"context"
	"sync"
)

// turns lets a number of proofs compute at once; the others wait, by priority and then in the order of their coming.
type turns struct {
	mu      sync.Mutex
	free    int
	count   int
	waiting waiters
}

type waiter struct {
	priority, number int
	index            int // in the heap; -1 once its turn has come
	ready            chan struct{}
}

type waiters []*waiter

func (w waiters) Len() int { return len(w) }
func (w waiters) Less(i, j int) bool {
	if w[i].priority != w[j].priority {
		return w[i].priority > w[j].priority
	}
	return w[i].number < w[j].number
}
func (w waiters) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}
func (w *waiters) Push(x any) {
	x.(*waiter).index = len(*w)
	*w = append(*w, x.(*waiter))
}
func (w *waiters) Pop() any {
	last := (*w)[len(*w)-1]
	last.index = -1
	*w = (*w)[:len(*w)-1]
	return last
}

// wait returns when the caller's turn has come; it must then call next once.
func (t *turns) wait(ctx context.Context, priority int) error {
	t.mu.Lock()
	if t.free > 0 && len(t.waiting) == 0 && ctx.Err() == nil {
		t.free--
		t.mu.Unlock()
		return nil
	}
	w := &waiter{priority: priority, number: t.count, ready: make(chan struct{})}
	t.count++
	heap.Push(&t.waiting, w)
	t.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.index < 0 {
		// The turn came at the same moment: pass it on.
		t.pass()
		return ctx.Err()
	}
	heap.Remove(&t.waiting, w.index)
	return ctx.Err()
}

// next ends the caller's turn.
func (t *turns) next() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass()
}

func (t *turns) pass() {
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	close(heap.Pop(&t.waiting).(*waiter).ready)
}
