package cpu

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/buffer"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// quotient computes the scalars of section H from an assignment: the values of a·b − c on the odd points (snarkjs), or
// the coefficients of (a·b − c)/Z (bellman, gnark), in the order of the section. It takes six transforms of the domain
// (seven for coefficients) and three vectors of its size.
type quotient struct {
	k     *provingKey
	tasks int
	// three vectors of the domain's size
	buffers [3]*buffer.Buffer
}

func newQuotient(k *provingKey, tasks int) (*quotient, error) {
	q := &quotient{k: k, tasks: tasks}
	for i := range q.buffers {
		var err error
		if q.buffers[i], err = buffer.New(k.domain); err != nil {
			q.free()
			return nil, err
		}
	}
	return q, nil
}

func (q *quotient) free() {
	for _, b := range q.buffers {
		b.Free()
	}
}

// compute evaluates, transforms and returns the scalars, which are valid until free. The other two vectors are given back.
func (q *quotient) compute(ctx context.Context, a groth16.Assignment, w *witness) ([]curve.Scalar, error) {
	if err := q.evaluate(ctx, a, w); err != nil {
		return nil, err
	}
	x, y, z := q.buffers[0].Scalars(), q.buffers[1].Scalars(), q.buffers[2].Scalars()
	t := q.k.tables
	for _, v := range [][]curve.Scalar{x, y, z} {
		for _, transform := range []func([]curve.Scalar, int){t.coefficients, t.cosetValues} {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			transform(v, q.tasks)
		}
	}
	divide := q.k.layout != groth16.LayoutSnarkjs
	err := parallel.Ranges(ctx, len(x), scalarsPerStep, func(start, end int) error {
		t.multiply(x[start:end], x[start:end], y[start:end])
		t.subtract(x[start:end], z[start:end])
		if divide {
			t.divide(x[start:end])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// y is free now: what has to be put in another order goes there.
	switch {
	case q.k.layout == groth16.LayoutGnark:
		t.cosetCoefficients(x, q.tasks)
	case q.k.layout == groth16.LayoutCoefficients:
		t.cosetCoefficients(x, q.tasks)
		shift := 64 - bits.TrailingZeros(uint(len(x)))
		q.gather(ctx, y, x, func(i int) int { return int(bits.Reverse64(uint64(i)) >> shift) })
		x = y
	case !q.k.order.identity():
		q.gather(ctx, y, x, q.k.order.place)
		x = y
	}
	for _, b := range q.buffers {
		if v := b.Scalars(); &v[0] != &x[0] {
			b.Free()
		}
	}
	return x[:q.k.quotientLength()], ctx.Err()
}

// gather sets dst[i] = src[from(i)].
func (q *quotient) gather(ctx context.Context, dst, src []curve.Scalar, from func(int) int) {
	// Its only error is that of the context, which the caller looks at.
	_ = parallel.Ranges(ctx, len(dst), scalarsPerStep, func(start, end int) error {
		for i := start; i < end; i++ {
			dst[i] = src[from(i)]
		}
		return nil
	})
}

// evaluate fills the buffers with the values of a, b and c on the domain, in gnark-crypto's order.
func (q *quotient) evaluate(ctx context.Context, a groth16.Assignment, w *witness) error {
	switch a := a.(type) {
	case groth16.Packed:
		return q.evaluatePacked(ctx, a, w)
	case groth16.Evaluated:
		return q.readEvaluated(ctx, a)
	}
	return fmt.Errorf("unknown kind of assignment %T", a)
}

func (q *quotient) evaluatePacked(ctx context.Context, a groth16.Packed, w *witness) error {
	s := a.Structure.(*structure)
	m := s.matrices
	if err := q.checkRows(m.Constraints); err != nil {
		return err
	}
	withC := q.k.layout != groth16.LayoutSnarkjs
	if withC && m.C == nil {
		return failure.New(failure.Key, "the constraint system lacks its matrix C, which this kind of key needs")
	}
	evaluate := func(which int) func(context.Context, []curve.Scalar) error {
		return func(ctx context.Context, out []curve.Scalar) error {
			var outputs [3][]curve.Scalar
			outputs[which] = out
			return m.Evaluate(ctx, w.values, outputs[0], outputs[1], outputs[2])
		}
	}
	var c func(context.Context, []curve.Scalar) error
	if withC {
		c = evaluate(2)
	}
	return q.fill(ctx, m.Constraints, evaluate(0), evaluate(1), c)
}

func (q *quotient) readEvaluated(ctx context.Context, a groth16.Evaluated) error {
	n := a.A.Len()
	if err := q.checkRows(n); err != nil {
		return err
	}
	if a.B.Len() != n || a.C != nil && a.C.Len() != n {
		return fmt.Errorf("the evaluated constraints have different lengths: %d in A, %d in B", n, a.B.Len())
	}
	read := func(v groth16.Vector) func(context.Context, []curve.Scalar) error {
		return func(ctx context.Context, out []curve.Scalar) error { return readVector(ctx, q.k.curve, v, out) }
	}
	var c func(context.Context, []curve.Scalar) error
	switch {
	case q.k.layout == groth16.LayoutSnarkjs:
		// The key says that c = a∘b; what the constraints' own C says makes no difference.
	case a.C == nil:
		return failure.New(failure.Input, "the assignment lacks C, which this kind of key needs")
	default:
		c = read(a.C)
	}
	return q.fill(ctx, n, read(a.A), read(a.B), c)
}

func (q *quotient) checkRows(rows int) error {
	if rows > q.k.domain {
		return failure.New(failure.Key, "the constraint system has %d rows, the proving key's domain holds %d: they are of different circuits", rows, q.k.domain)
	}
	return nil
}

// fill calls a, b and c with a vector of the number of rows each, and puts what they write in its place on the domain. A
// nil c means c = a∘b.
func (q *quotient) fill(ctx context.Context, rows int, a, b, c func(context.Context, []curve.Scalar) error) error {
	x, y, z := q.buffers[0].Scalars(), q.buffers[1].Scalars(), q.buffers[2].Scalars()
	if q.k.order.identity() {
		for _, p := range []struct {
			out  []curve.Scalar
			fill func(context.Context, []curve.Scalar) error
		}{{x, a}, {y, b}, {z, c}} {
			if p.fill == nil {
				continue
			}
			if err := p.fill(ctx, p.out[:rows]); err != nil {
				return err
			}
		}
	} else {
		// Only snarkjs's keys have another order, and they have c = a∘b: the third vector is free for the rows as they
		// come.
		for _, p := range []struct {
			out  []curve.Scalar
			fill func(context.Context, []curve.Scalar) error
		}{{x, a}, {y, b}} {
			if err := p.fill(ctx, z[:rows]); err != nil {
				return err
			}
			err := parallel.Ranges(ctx, rows, scalarsPerStep, func(start, end int) error {
				for i := start; i < end; i++ {
					p.out[q.k.order.place(i)] = z[i]
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if c != nil {
		return nil
	}
	return parallel.Ranges(ctx, len(z), scalarsPerStep, func(start, end int) error {
		q.k.tables.multiply(z[start:end], x[start:end], y[start:end])
		return nil
	})
}
