package cuda

import (
	"context"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/memory"
)

// lazy is something that is made when it is first needed.
type lazy[T any] struct {
	mu   *sync.Mutex
	made *T
}

func newLazy[T any]() lazy[T] { return lazy[T]{mu: &sync.Mutex{}} }

func (l *lazy[T]) get(make func() (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made != nil {
		return *l.made, nil
	}
	made, err := make()
	if err == nil {
		l.made = &made
	}
	return made, err
}

func (l *lazy[T]) find() (made T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		return made, false
	}
	return *l.made, true
}

// unowned is a key source that is closed by someone else.
type unowned struct{ groth16.KeySource }

func (unowned) Close() error { return nil }

func (b *Backend) fallbackKey(ctx context.Context, k *provingKey) (groth16.Key, error) {
	return k.fallback.get(func() (groth16.Key, error) {
		return b.fallback.LoadKey(ctx, unowned{k.source}, groth16.Budget{HostBytes: k.budget.HostBytes})
	})
}

func (b *Backend) fallbackStructure(ctx context.Context, s *structure) (groth16.Structure, error) {
	return s.fallback.get(func() (groth16.Structure, error) { return b.fallback.LoadStructure(ctx, s.matrices) })
}

// fallBack computes a proof on the fallback, in the caller's reservation: that is made for a GPU and smaller than what the
// processor takes, but to wait for more while holding it could be to wait for another proof that waits for this one. The
// fallback computes one proof at a time.
func (b *Backend) fallBack(ctx context.Context, t *task) (*groth16.Proof, error) {
	key, err := b.fallbackKey(ctx, t.key)
	if err != nil {
		return nil, err
	}
	if need := b.fallback.Demand(key).HostBytes; need > b.memory.Room() {
		return nil, failure.New(failure.Memory, "the proof needs %s of memory without a GPU, beside keys there are %s", memory.Size(need), memory.Size(b.memory.Room())).
			WithFix(memory.RaiseLimit)
	}
	assignment := t.assignment
	if p, ok := assignment.(groth16.Packed); ok {
		if p.Structure, err = b.fallbackStructure(ctx, t.structure); err != nil {
			return nil, err
		}
		assignment = p
	}
	ticket, err := b.fallback.Submit(ctx, key, assignment, t.r, t.s, t.options)
	if err != nil {
		return nil, err
	}
	return ticket.Wait(context.WithoutCancel(ctx))
}
