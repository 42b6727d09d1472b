package cpu

import (
	"context"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/internal/buffer"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// partPoints is into how many points a multi-scalar multiplication of n points is cut: parts of about the same size. Long
// ones cost a little less a point, short ones let a cancelled proof end sooner and need less memory beside the points; of
// this size, one takes about half a second on any number of cores.
func partPoints(n, tasks int) int {
	most := min(max(1<<18, 1<<16<<bits.Len(uint(tasks-1))), 1<<22)
	parts := max(1, (n+most-1)/most)
	return max(1, (n+parts-1)/parts)
}

// addAll adds Σ scalars[i]·points[i] over a whole run of points, part by part. step is called with the number of points
// done.
func addAll(ctx context.Context, to sum, g group, points []byte, scalars []curve.Scalar, tasks int, step func(int)) error {
	size := g.pointBytes()
	part := partPoints(len(scalars), tasks)
	for start := 0; start < len(scalars); start += part {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(start+part, len(scalars))
		if err := parallel.Touch(ctx, points[start*size:end*size]); err != nil {
			return err
		}
		if err := to.addProducts(points[start*size:end*size], scalars[start:end], 2*tasks); err != nil {
			return err
		}
		step(end - start)
	}
	return ctx.Err()
}

// selection is what a section's sum consists of for one witness.
type selection struct {
	*section
	sum sum
	// ones and others are the numbers of useful points with such a scalar.
	ones, others int
	// whole says that nearly all points have a scalar that is neither zero nor one, so that picking those out would not
	// pay: the multi-scalar multiplication then takes all of the section as it is.
	whole bool
}

func (s *section) choose(w *witness) *selection {
	c := &selection{section: s, sum: s.group.newSum(), ones: s.countOf(w.ones), others: s.countOf(w.others)}
	c.whole = 8*c.others >= 7*s.count
	return c
}

// addOnes adds the points whose scalar is one.
func (c *selection) addOnes(ctx context.Context, w *witness) error {
	if c.whole || c.ones == 0 {
		return nil
	}
	// At least a thousand wires a step, so that the inversion's cost is shared; enough steps for all cores.
	const wordsPerStep = 1 << 10
	return parallel.Ranges(ctx, len(c.useful), wordsPerStep, func(start, end int) error {
		var indices []uint32
		for i := start; i < end; i++ {
			for word := c.useful[i] & w.ones[i]; word != 0; word &= word - 1 {
				indices = append(indices, uint32(c.position(i, bits.TrailingZeros64(word))))
			}
		}
		c.sum.addIndexed(c.points, indices)
		return nil
	})
}

// addOthers adds the products with the other scalars.
func (c *selection) addOthers(ctx context.Context, w *witness, tasks int, step func(int)) error {
	switch {
	case c.whole && c.present == nil:
		return addAll(ctx, c.sum, c.group, c.points, w.values[c.first:], tasks, step)
	case c.whole:
		return c.addPicked(ctx, w, c.present, true, tasks, step)
	case c.others == 0:
		return nil
	}
	picked := make(bitset, len(c.useful))
	for i := range picked {
		picked[i] = c.useful[i] & w.others[i]
	}
	defer clear(picked)
	return c.addPicked(ctx, w, picked, false, tasks, step)
}

// addPicked adds the products of the picked wires, part by part. Scalars are copied together; so are points, unless they
// are contiguous already because the picked wires are just those that have a point.
func (c *selection) addPicked(ctx context.Context, w *witness, picked bitset, contiguous bool, tasks int, step func(int)) error {
	size := c.group.pointBytes()
	total := c.others
	if contiguous {
		total = c.count
	}
	part := partPoints(total, tasks)
	scalars, err := buffer.New(part)
	if err != nil {
		return err
	}
	defer scalars.Free()
	var points []byte
	if !contiguous {
		points = make([]byte, part*size)
	}
	n, first := 0, 0 // picked for this part; position of the first of them
	flush := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		run := points
		if contiguous {
			run = c.points[first*size : (first+n)*size]
			if err := parallel.Touch(ctx, run); err != nil {
				return err
			}
		}
		if err := c.sum.addProducts(run, scalars.Scalars()[:n], 2*tasks); err != nil {
			return err
		}
		step(n)
		first += n
		n = 0
		return nil
	}
	err = mapped.Guard(func() error {
		for i, word := range picked {
			for ; word != 0; word &= word - 1 {
				bit := bits.TrailingZeros64(word)
				scalars.Scalars()[n] = w.values[64*i+bit]
				if !contiguous {
					copy(points[n*size:(n+1)*size], c.points[c.position(i, bit)*size:])
				}
				if n++; n == part {
					if err := flush(); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil || n == 0 {
		return err
	}
	return flush()
}
