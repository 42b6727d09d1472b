// Package cpu is the proving backend that runs on the processor: multi-scalar multiplications and Fourier transforms of
// gnark-crypto, on all cores.
//
// Keys stay in their mapped files: a section's points are what the multiplications read, without a copy. What a proof
// needs besides (the witness, three vectors of the domain's size) lies outside the collected heap, is cleared and given
// back as soon as it is dead, and is not part of core dumps.
package cpu

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// Config of the backend. The zero value is useful.
type Config struct {
	// Memory is what keys and proofs take their memory from; nil is a budget without bound.
	Memory *memory.Budget
	// Threads is the number of cores to use; 0 is as many as Go uses (GOMAXPROCS).
	Threads int
	// Proofs is how many proofs compute at once; 0 is one, which is the fastest, as each uses all cores.
	Proofs int
}

// Backend implements groth16.Backend.
type Backend struct {
	memory *memory.Budget
	tasks  int
	turns  turns
}

var _ groth16.Backend = (*Backend)(nil)

// New makes a backend.
func New(config Config) *Backend {
	b := &Backend{memory: config.Memory, tasks: config.Threads}
	if b.memory == nil {
		b.memory = memory.NewBudget(0)
	}
	if b.tasks <= 0 {
		b.tasks = runtime.GOMAXPROCS(0)
	}
	// gnark-crypto takes at most 1024 tasks, and gets two a core; more than 512 cores do not help one proof.
	b.tasks = min(b.tasks, 512)
	b.turns.free = max(1, config.Proofs)
	return b
}

// Name is "cpu".
func (b *Backend) Name() string { return "cpu" }

// Memory is the budget of Config.
func (b *Backend) Memory() *memory.Budget { return b.memory }

// Close does nothing: keys and structures hold all there is.
func (b *Backend) Close() error { return nil }

// Submit queues a proof; see groth16.Backend.
func (b *Backend) Submit(ctx context.Context, key groth16.Key, a groth16.Assignment, r, s curve.Scalar, opts groth16.Options) (groth16.Ticket, error) {
	k, ok := key.(*provingKey)
	if !ok {
		return nil, fmt.Errorf("a key of another backend: %T", key)
	}
	if !k.curve.IsCanonical(r) || !k.curve.IsCanonical(s) {
		return nil, fmt.Errorf("r and s must be canonical scalars of %s", k.curve)
	}
	if k.wires > math.MaxUint32 {
		return nil, failure.New(failure.Key, "the circuit has %d wires, more than 2^32", k.wires)
	}
	release, err := b.acquire(k, a)
	if err != nil {
		return nil, err
	}
	if opts.Observer == nil {
		opts.Observer = stage.Nop{}
	}
	t := &ticket{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		defer release()
		t.proof, t.err = b.compute(ctx, &proof{key: k, assignment: a, r: r, s: s, tasks: b.tasks, observer: observer{to: opts.Observer}}, opts)
	}()
	return t, nil
}

// acquire keeps the key and the structure alive.
func (b *Backend) acquire(k *provingKey, a groth16.Assignment) (release func(), err error) {
	if err := k.Acquire(); err != nil {
		return nil, fmt.Errorf("use the proving key: %w", err)
	}
	// Releasing the last user's hold may unmap the key's file, which can fail only for a mapping that is not there.
	release = func() { _ = k.Done() }
	p, ok := a.(groth16.Packed)
	if !ok {
		return release, nil
	}
	s, ok := p.Structure.(*structure)
	switch {
	case !ok:
		err = fmt.Errorf("a structure of another backend: %T", p.Structure)
	case s.matrices.Curve != k.curve:
		err = failure.New(failure.Key, "the constraint system is on %s, the proving key on %s", s.matrices.Curve, k.curve)
	case s.matrices.Wires != k.wires:
		err = failure.New(failure.Key, "the constraint system has %d wires, the proving key %d: they are of different circuits", s.matrices.Wires, k.wires)
	default:
		if err = s.Acquire(); err != nil {
			err = fmt.Errorf("use the constraint system: %w", err)
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return func() { _, _ = k.Done(), s.Done() }, nil
}

// compute waits for memory and then for its turn: who holds the turn must not wait for memory that another proof holds.
func (b *Backend) compute(ctx context.Context, p *proof, opts groth16.Options) (*groth16.Proof, error) {
	p.reservation = opts.Reservation
	if p.reservation == nil {
		r, err := b.memory.Reserve(ctx, b.Demand(p.key).HostBytes, "the proof")
		if err != nil {
			return nil, err
		}
		defer r.Release()
		p.reservation = r
	}
	if err := b.turns.wait(ctx, opts.Priority); err != nil {
		return nil, err
	}
	defer b.turns.next()
	return p.compute(ctx, b)
}

// ticket is a proof under way.
type ticket struct {
	done  chan struct{}
	proof *groth16.Proof
	err   error
}

func (t *ticket) Wait(ctx context.Context) (*groth16.Proof, error) {
	select {
	case <-t.done:
		return t.proof, t.err
	default:
	}
	select {
	case <-t.done:
		return t.proof, t.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
