package cpu

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/refcount"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// structure is a circuit's matrices; on the CPU they are used as they are.
type structure struct {
	refcount.Counter
	matrices *r1cs.Matrices
}

func (s *structure) Curve() curve.ID { return s.matrices.Curve }

// LoadStructure takes the matrices over; they must not be changed any more.
func (b *Backend) LoadStructure(_ context.Context, m *r1cs.Matrices) (groth16.Structure, error) {
	if _, err := arithmeticOf(m.Curve); err != nil {
		return nil, failure.New(failure.Key, "the constraint system: %w", err)
	}
	if m.A == nil || m.B == nil {
		return nil, failure.New(failure.Key, "the constraint system lacks its matrix A or B")
	}
	return &structure{matrices: m}, nil
}
