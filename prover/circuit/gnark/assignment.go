package gnark

import (
	"context"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark/internal/solving"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// Assignment is a solved circuit: all wires, and A, B and C evaluated on them, in Montgomery form, in memory of its own.
type Assignment struct {
	groth16.Evaluated
	// Public are the public inputs, canonical, without the one.
	Public []curve.Scalar

	memory *shared
}

// newAssignment takes the memory over.
func newAssignment(s *System, shape solving.Shape, memory *shared) (*Assignment, error) {
	n, m := shape.Wires(), shape.Constraints
	at := func(first, count int) vector { return memory.scalars(first*curve.ScalarBytes, count) }
	a := &Assignment{memory: memory}
	a.Evaluated = groth16.Evaluated{Witness: at(0, n), A: at(n, m), B: at(n+m, m), C: at(n+2*m, m)}
	a.Public = slices.Clone(at(1, s.Public))
	s.Curve.FromMontgomery(a.Public)
	if k := len(shape.Committed); k > 0 {
		size := s.Curve.G1Bytes()
		points := slices.Clone(memory.data[(n+3*m)*curve.ScalarBytes:])
		a.Commitments = &groth16.Commitments{PoK: points[k*size : (k+1)*size]}
		for i := range k {
			a.Commitments.Points = append(a.Commitments.Points, points[i*size:(i+1)*size])
		}
	}
	if err := memory.closeDescriptor(); err != nil {
		return nil, failure.New(failure.Internal, "keep the assignment: %w", err).In(s.name)
	}
	return a, nil
}

// Close gives the memory back, zeroed by the kernel. The vectors must not be used any more.
func (a *Assignment) Close() error { return a.memory.close() }

// vector is scalars in Montgomery form.
type vector []curve.Scalar

func (v vector) Len() int { return len(v) }

func (v vector) Form() groth16.Form { return groth16.Montgomery }

func (v vector) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	copy(dst, v[offset:offset+len(dst)])
	return nil
}

// Scalars is the vector's memory, for backends that can take it without a copy. It must not be changed.
func (v vector) Scalars() []curve.Scalar { return v }
