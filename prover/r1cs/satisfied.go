package r1cs

import (
	"context"
	"errors"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// Satisfied returns nil if w satisfies every constraint, else an error of class Input that names the first constraint
// it does not satisfy. w is as for Evaluate, with w[0] the one in w's form. It keeps no results, so it needs no memory to
// speak of. The error tells no values: a witness is often secret.
func (m *Matrices) Satisfied(ctx context.Context, w []curve.Scalar) error {
	if m.A == nil || m.B == nil || m.C == nil {
		return errors.New("a constraint system without its matrix C cannot tell whether a witness satisfies it")
	}
	if err := m.checkWitness(w); err != nil {
		return err
	}
	kernel, err := m.kernel(w)
	if err != nil {
		return err
	}
	scratch := sync.Pool{New: func() any { s := make([]curve.Scalar, 3*rowsPerStep); return &s }}
	return parallel.Ranges(ctx, m.Constraints, rowsPerStep, func(start, end int) error {
		buffer := scratch.Get().(*[]curve.Scalar)
		defer func() {
			clear(*buffer)
			scratch.Put(buffer)
		}()
		n := end - start
		a, b, c := (*buffer)[:n], (*buffer)[rowsPerStep:rowsPerStep+n], (*buffer)[2*rowsPerStep:2*rowsPerStep+n]
		kernel.rows(m.A, start, a)
		kernel.rows(m.B, start, b)
		kernel.rows(m.C, start, c)
		if i := kernel.firstUnsatisfied(a, b, c); i >= 0 {
			return failure.New(failure.Input, "the witness does not satisfy it").OnConstraint(int64(start + i)).
				WithFix("compute the witness again, from inputs of this circuit")
		}
		return nil
	})
}
