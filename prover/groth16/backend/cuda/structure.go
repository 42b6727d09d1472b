package cuda

import (
	"context"
	"errors"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/refcount"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// structure is a circuit's matrices with their copies on the devices.
type structure struct {
	refcount.Counter
	matrices *r1cs.Matrices
	copies   copies[libcuzk.Structure]
	fallback lazy[groth16.Structure]
}

func (s *structure) Curve() curve.ID { return s.matrices.Curve }

// LoadStructure takes the matrices over, which must not be changed any more, and copies them to the least loaded device.
func (b *Backend) LoadStructure(ctx context.Context, m *r1cs.Matrices) (groth16.Structure, error) {
	if m.A == nil || m.B == nil {
		return nil, failure.New(failure.Key, "the constraint system lacks its matrix A or B")
	}
	s := &structure{matrices: m, copies: newCopies[libcuzk.Structure](), fallback: newLazy[groth16.Structure]()}
	onDevice := func(d *device) error { _, err := b.structureOn(ctx, s, d); return err }
	onFallback := func() error { _, err := b.fallbackStructure(ctx, s); return err }
	if err := b.load("the constraint system", onDevice, onFallback); err != nil {
		return nil, errors.Join(err, b.releaseStructure(s))
	}
	s.OnRelease(func() error { return b.releaseStructure(s) })
	return s, nil
}

func (b *Backend) releaseStructure(s *structure) error {
	err := s.copies.release(b.queue.withdrawn)
	if f, ok := s.fallback.find(); ok {
		err = errors.Join(err, f.Close())
	}
	return err
}

// structureOn is a structure's copy on a device.
func (b *Backend) structureOn(ctx context.Context, s *structure, d *device) (libcuzk.Structure, error) {
	engine, err := d.ready()
	if err != nil {
		return nil, err
	}
	return s.copies.get(ctx, d, func() (libcuzk.Structure, error) { return engine.LoadStructure(ctx, s.matrices) })
}
