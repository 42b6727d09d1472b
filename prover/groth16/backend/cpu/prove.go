package cpu

import (
	"context"
	"math/big"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// Lanes of the spans: the multiplications in G1 and in G2 run side by side.
const (
	laneG1 = "cpu-g1"
	laneG2 = "cpu-g2"
)

// observer tells spans and progress one at a time.
type observer struct {
	mu          sync.Mutex
	to          stage.Observer
	done, total int64
}

// kernel runs a family of work, which may have begun before, and tells its span.
func (o *observer) kernel(name stage.Kernel, lane string, start time.Time, work func() error) error {
	err := work()
	if err == nil {
		o.span(stage.Span{Stage: stage.GPU, Kernel: name, Lane: lane, Start: start, End: time.Now()})
	}
	return err
}

func (o *observer) span(s stage.Span) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to.Done(s)
}

// step tells that n points more are done, each counted with a weight.
func (o *observer) step(weight int64) func(n int) {
	return func(n int) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.done += weight * int64(n)
		o.to.Progress(stage.GPU, min(o.done, o.total), max(1, o.total))
	}
}

// Weights of a point in the progress: one in G2 costs about three in G1.
const (
	weightG1 = 1
	weightG2 = 3
)

// proof is one proof under way.
type proof struct {
	key         *provingKey
	assignment  groth16.Assignment
	r, s        curve.Scalar
	tasks       int
	observer    observer
	reservation *memory.Reservation

	witness      *witness
	quotient     *quotient
	scalars      []curve.Scalar // of section H, in the quotient's memory
	a, b1, b2, l *selection
	h            sum
}

func (p *proof) compute(ctx context.Context, b *Backend) (*groth16.Proof, error) {
	start := time.Now()
	p.observer.to.Begin(stage.GPU)
	defer p.free()
	if err := p.observer.kernel(stage.PrepMSM, laneG1, time.Now(), func() error { return p.prepare(ctx) }); err != nil {
		return nil, err
	}
	if err := p.observer.kernel(stage.BatchAdd, laneG1, time.Now(), func() error { return p.addOnes(ctx) }); err != nil {
		return nil, err
	}
	quotientStart := time.Now()
	if err := p.divide(ctx); err != nil {
		return nil, err
	}
	p.reservation.Reduce(quotientBytes(p.key.shape) - b.productBytes(p.key.shape))
	// Multiplications in G1 and in G2 run side by side: where one leaves cores idle, at its end, the other fills them.
	lanes, laneCtx := errgroup.WithContext(ctx)
	lanes.Go(func() error {
		return p.observer.kernel(stage.BG2MSM, laneG2, time.Now(), func() error {
			return p.b2.addOthers(laneCtx, p.witness, p.tasks, p.observer.step(weightG2))
		})
	})
	lanes.Go(func() error {
		if err := p.observer.kernel(stage.NTTMSMH, laneG1, quotientStart, func() error { return p.multiplyQuotient(laneCtx) }); err != nil {
			return err
		}
		return p.observer.kernel(stage.TailMSM, laneG1, time.Now(), func() error { return p.addOthers(laneCtx) })
	})
	if err := lanes.Wait(); err != nil {
		return nil, err
	}
	out := p.assemble()
	end := time.Now()
	p.observer.span(stage.Span{Stage: stage.GPU, Kernel: stage.GPUTotal, Lane: laneG1, Start: start, End: end})
	p.observer.span(stage.Span{Stage: stage.GPU, Start: start, End: end})
	return out, nil
}

// free clears what is left of the witness.
func (p *proof) free() {
	if p.quotient != nil {
		p.quotient.free()
	}
	if p.witness != nil {
		p.witness.free()
	}
}

// prepare reads the witness and finds out what each section's sum consists of.
func (p *proof) prepare(ctx context.Context) (err error) {
	if p.witness, err = loadWitness(ctx, p.key, p.assignment); err != nil {
		return err
	}
	k := p.key
	p.a, p.b1, p.b2, p.l = k.a.choose(p.witness), k.b1.choose(p.witness), k.b2.choose(p.witness), k.l.choose(p.witness)
	p.h = k.arith.g1.newSum()
	points := int64(k.quotientLength())
	for _, c := range []*selection{p.a, p.b1, p.l} {
		points += c.work()
	}
	p.observer.total = weightG1*points + weightG2*p.b2.work()
	return nil
}

// work is the number of points in the selection's multi-scalar multiplication.
func (c *selection) work() int64 {
	if c.whole {
		return int64(c.count)
	}
	return int64(c.others)
}

// divide evaluates the constraints and computes the quotient.
func (p *proof) divide(ctx context.Context) (err error) {
	if p.quotient, err = newQuotient(p.key, p.tasks); err != nil {
		return err
	}
	p.scalars, err = p.quotient.compute(ctx, p.assignment, p.witness)
	return err
}

// multiplyQuotient multiplies the quotient with section H.
func (p *proof) multiplyQuotient(ctx context.Context) error {
	defer p.quotient.free()
	return addAll(ctx, p.h, p.key.arith.g1, p.key.h, p.scalars, p.tasks, p.observer.step(weightG1))
}

// addOthers adds the products of the sections in G1 with scalars that are neither zero nor one. Short ones run side by
// side, as one alone does not keep many cores busy; of long ones that would only cost memory.
func (p *proof) addOthers(ctx context.Context) error {
	sections, sectionCtx := errgroup.WithContext(ctx)
	if p.key.wires > sideBySide {
		sections.SetLimit(1)
	}
	for _, c := range []*selection{p.a, p.b1, p.l} {
		sections.Go(func() error { return c.addOthers(sectionCtx, p.witness, p.tasks, p.observer.step(weightG1)) })
	}
	return sections.Wait()
}

// sideBySide is the number of wires up to which the multiplications in G1 run at once.
const sideBySide = 1 << 18

// addOnes adds up the points whose scalar is one.
func (p *proof) addOnes(ctx context.Context) error {
	for _, c := range []*selection{p.a, p.b1, p.b2, p.l} {
		if err := c.addOnes(ctx, p.witness); err != nil {
			return err
		}
	}
	return nil
}

// assemble blinds the sums: A = α + Σ w·A + rδ, B = β + Σ w·B + sδ, C = Σ w·L + Σ h·H + sA + rB₁ − rsδ.
func (p *proof) assemble() *groth16.Proof {
	k := p.key
	r, s := curve.ScalarToBig(p.r), curve.ScalarToBig(p.s)
	modulus := k.curve.ScalarModulus()
	minusRS := new(big.Int).Mul(r, s)
	minusRS.Neg(minusRS).Mod(minusRS, modulus)

	a, b1, b2, c := p.a.sum, p.b1.sum, p.b2.sum, p.l.sum
	a.addPoint(k.alphaG1)
	a.addScaled(k.deltaG1, r)
	b1.addPoint(k.betaG1)
	b1.addScaled(k.deltaG1, s)
	b2.addPoint(k.betaG2)
	b2.addScaled(k.deltaG2, s)
	c.addSum(p.h, big.NewInt(1))
	c.addSum(a, s)
	c.addSum(b1, r)
	c.addScaled(k.deltaG1, minusRS)

	out := &groth16.Proof{Curve: k.curve, A: a.affine(), B: b2.affine(), C: c.affine()}
	if e, ok := p.assignment.(groth16.Evaluated); ok && e.Commitments != nil {
		out.Commitments, out.PoK = e.Commitments.Points, e.Commitments.PoK
	}
	return out
}
