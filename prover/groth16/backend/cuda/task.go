package cuda

import (
	"context"
	"fmt"
	"time"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// task is what a proof is made of; it can be computed any number of times.
type task struct {
	key        *provingKey
	structure  *structure // nil for an evaluated assignment
	assignment groth16.Assignment
	witness    groth16.Vector
	proof      libcuzk.ProofOptions
	r, s       curve.Scalar
	options    groth16.Options
}

// prepare checks that key and assignment fit each other, before they wait for a device.
func (t *task) prepare() error {
	switch a := t.assignment.(type) {
	case groth16.Packed:
		return t.preparePacked(a)
	case groth16.Evaluated:
		return t.prepareEvaluated(a)
	}
	return fmt.Errorf("unknown kind of assignment %T", t.assignment)
}

func (t *task) preparePacked(a groth16.Packed) error {
	k := t.key
	s, ok := a.Structure.(*structure)
	if !ok {
		return fmt.Errorf("a structure of another backend: %T", a.Structure)
	}
	m := s.matrices
	switch {
	case m.Curve != k.curve:
		return failure.New(failure.Key, "the constraint system is on %s, the proving key on %s", m.Curve, k.curve)
	case m.Wires != k.wires:
		return failure.New(failure.Key, "the constraint system has %d wires, the proving key %d: they are of different circuits", m.Wires, k.wires)
	case k.layout != groth16.LayoutSnarkjs && m.C == nil:
		return failure.New(failure.Key, "the constraint system lacks its matrix C, which this kind of key needs")
	}
	if err := t.checkRows(m.Constraints); err != nil {
		return err
	}
	t.structure, t.witness = s, a.Witness
	t.proof = libcuzk.ProofOptions{Bits: a.Bits != nil, Witness: a.Witness.Len()}
	if a.Bits == nil {
		return t.checkWires()
	}
	words := (k.wires + 63) / 64
	if len(a.Bits) < words || len(a.Values) < words {
		return fmt.Errorf("%d and %d words tell the bits of %d wires", len(a.Bits), len(a.Values), k.wires)
	}
	if rest := k.wires - countBits(a.Bits, k.wires); a.Witness.Len() != rest {
		return failure.New(failure.Input, "the witness has %d elements that are not bits, the bit map leaves %d", a.Witness.Len(), rest)
	}
	if a.Bits[0]&1 == 1 && a.Values[0]&1 == 0 {
		return errNoOne
	}
	return nil
}

func (t *task) prepareEvaluated(a groth16.Evaluated) error {
	n := a.A.Len()
	if err := t.checkRows(n); err != nil {
		return err
	}
	switch {
	case a.B.Len() != n || a.C != nil && a.C.Len() != n:
		return fmt.Errorf("the evaluated constraints have different lengths: %d in A, %d in B", n, a.B.Len())
	case t.key.layout != groth16.LayoutSnarkjs && a.C == nil:
		return failure.New(failure.Input, "the assignment lacks C, which this kind of key needs")
	}
	t.witness = a.Witness
	t.proof = libcuzk.ProofOptions{Constraints: n, Witness: a.Witness.Len()}
	return t.checkWires()
}

func (t *task) checkRows(rows int) error {
	if rows > t.key.domain {
		return failure.New(failure.Key, "the constraint system has %d rows, the proving key's domain holds %d: they are of different circuits", rows, t.key.domain)
	}
	return nil
}

func (t *task) checkWires() error {
	if n := t.witness.Len(); n != t.key.wires {
		return failure.New(failure.Input, "the witness has %d elements, the key is of a circuit with %d wires", n, t.key.wires).
			WithFix("use the key and the witness of the same circuit")
	}
	return nil
}

var errNoOne = failure.New(failure.Input, "element 0 of the witness must be 1: wire 0 is the constant one")

// checkOne looks at the first element of the witness, which is wire 0 unless that is among the bits.
func (t *task) checkOne(first curve.Scalar) error {
	if a, ok := t.assignment.(groth16.Packed); ok && a.Bits != nil && a.Bits[0]&1 == 1 {
		return nil
	}
	one := curve.Scalar{1}
	if t.witness.Form() == groth16.Montgomery {
		one = t.key.one
	}
	if first != one {
		return errNoOne
	}
	return nil
}

// hold keeps key and structure until release.
func (t *task) hold() (release func(), err error) {
	if err := t.key.Acquire(); err != nil {
		return nil, fmt.Errorf("use the proving key: %w", err)
	}
	// The last hold's end may close the key's file, which fails only if it is not open.
	if t.structure == nil {
		return func() { _ = t.key.Done() }, nil
	}
	if err := t.structure.Acquire(); err != nil {
		_ = t.key.Done()
		return nil, fmt.Errorf("use the constraint system: %w", err)
	}
	return func() { _, _ = t.key.Done(), t.structure.Done() }, nil
}

// on computes the proof on a lane of a device.
func (t *task) on(ctx context.Context, b *Backend, d *device) (*groth16.Proof, error) {
	engine, err := d.ready()
	if err != nil {
		return nil, err
	}
	key, err := b.keyOn(ctx, t.key, d)
	if err != nil {
		return nil, err
	}
	options := t.proof
	if t.structure != nil {
		if options.Structure, err = b.structureOn(ctx, t.structure, d); err != nil {
			return nil, err
		}
	}
	staging := <-d.staging // one a lane, and the lane is ours
	defer func() { d.staging <- staging }()
	obs := observer{to: t.options.Observer, lane: d.UUID}
	obs.begin(d)
	proof, err := engine.Begin(key, options)
	if err != nil {
		return nil, err
	}
	cancelled := context.AfterFunc(ctx, proof.Cancel)
	defer func() {
		cancelled()
		_ = proof.Release() // fails only for a handle that is none
	}()
	if err := t.write(ctx, &feed{to: proof, staging: staging}); err != nil {
		return nil, err
	}
	result, err := proof.Compute(t.r, t.s)
	if err != nil {
		return nil, err
	}
	obs.end(result.Timings)
	return t.assemble(result), nil
}

// write hands over the assignment: the witness first, so that the sums over it can begin.
func (t *task) write(ctx context.Context, f *feed) error {
	switch a := t.assignment.(type) {
	case groth16.Packed:
		if a.Bits != nil {
			words := (t.key.wires + 63) / 64
			if err := f.to.WriteWords(libcuzk.Bits, 0, a.Bits[:words]); err != nil {
				return err
			}
			if err := f.to.WriteWords(libcuzk.Values, 0, a.Values[:words]); err != nil {
				return err
			}
		}
		return f.vector(ctx, libcuzk.Witness, t.witness, t.checkOne)
	case groth16.Evaluated:
		if err := f.vector(ctx, libcuzk.Witness, t.witness, t.checkOne); err != nil {
			return err
		}
		if err := f.vector(ctx, libcuzk.A, a.A, nil); err != nil {
			return err
		}
		if err := f.vector(ctx, libcuzk.B, a.B, nil); err != nil {
			return err
		}
		if t.key.layout != groth16.LayoutSnarkjs { // there c = a∘b, whatever C says
			return f.vector(ctx, libcuzk.C, a.C, nil)
		}
	}
	return nil
}

func (t *task) assemble(result *libcuzk.Result) *groth16.Proof {
	out := &groth16.Proof{Curve: t.key.curve, A: result.A, B: result.B, C: result.C}
	if e, ok := t.assignment.(groth16.Evaluated); ok && e.Commitments != nil {
		out.Commitments, out.PoK = e.Commitments.Points, e.Commitments.PoK
	}
	return out
}

// observer tells the stage and its kernels. The device tells how long each family took, not when: families overlap.
type observer struct {
	to    stage.Observer
	lane  string
	start time.Time
}

func (o *observer) begin(d *device) {
	select {
	case span := <-d.compiled:
		o.to.Done(span)
	default:
	}
	o.start = time.Now()
	o.to.Begin(stage.GPU)
}

func (o *observer) end(t libcuzk.Timings) {
	end := time.Now()
	at := o.start
	for _, k := range []struct {
		kernel       stage.Kernel
		milliseconds float64
	}{
		{stage.Upload, t.Upload}, {stage.Evaluate, t.Evaluate}, {stage.PrepMSM, t.PrepMSM}, {stage.BatchAdd, t.BatchAdd},
		{stage.NTTMSMH, t.NTTMSMH}, {stage.BG2MSM, t.BG2MSM}, {stage.TailMSM, t.TailMSM},
	} {
		next := at.Add(duration(k.milliseconds))
		o.to.Done(stage.Span{Stage: stage.GPU, Kernel: k.kernel, Lane: o.lane, Start: at, End: next})
		at = next
	}
	o.to.Progress(stage.GPU, 1, 1)
	o.to.Done(stage.Span{Stage: stage.GPU, Kernel: stage.GPUTotal, Lane: o.lane, Start: end.Add(-duration(t.GPUTotal)), End: end})
	o.to.Done(stage.Span{Stage: stage.GPU, Lane: o.lane, Start: o.start, End: end})
}

func duration(milliseconds float64) time.Duration {
	return time.Duration(milliseconds * float64(time.Millisecond))
}
