package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// Runs says how often an input is proved.
type Runs struct {
	// Measured is at least 1; 0 means 1.
	Measured int
	// Warmup runs come first and are told apart.
	Warmup int
	// Begin, if not nil, is told of each run, from 0, warm-up runs included.
	Begin func(run int)
}

// Result is a verified proof.
type Result struct {
	Proof *groth16.Proof
	// Public inputs, canonical, in the circuit's order, without the one.
	Public []curve.Scalar
	// Verified is false only for a gnark circuit without a verifying key: only the form of the proof can be checked then.
	Verified bool
	// Backend is the name of the one that computed the proof.
	Backend string
	// Runs are the times of each run; the proof is the last one's.
	Runs []Run
	// Withdrawn is the backend's hardware that takes no more work by now, because it failed or computed wrongly.
	Withdrawn []groth16.Withdrawal
}

// Prove proves an input, which may be a witness or what the front end makes one from. A run that fails ends the whole;
// no proof leaves that does not verify. obs is told of every stage of every run.
func (p *Prover) Prove(ctx context.Context, in *File, runs Runs, obs stage.Observer) (*Result, error) {
	return p.prove(ctx, work{
		bytes:  p.front.demand(in),
		assign: func(ctx context.Context) (*assignment, error) { return p.front.assign(ctx, in) },
	}, runs, obs)
}

// work is a proof to be made.
type work struct {
	// bytes is the memory that the assignment takes.
	bytes  int64
	assign func(context.Context) (*assignment, error)
}

func (p *core) prove(ctx context.Context, w work, runs Runs, obs stage.Observer) (*Result, error) {
	if obs == nil {
		obs = stage.Nop{}
	}
	result := &Result{Verified: p.verifier != nil}
	total := max(1, runs.Measured) + max(0, runs.Warmup)
	for i := range total {
		if runs.Begin != nil {
			runs.Begin(i)
		}
		srs, first, err := p.loaded(ctx)
		if err != nil {
			return nil, err
		}
		run := Run{Kind: Warm, Backend: p.config.Backend.Name()}
		switch {
		case i < runs.Warmup:
			run.Kind = Warmup
		case first:
			run.Kind = Cold
		}
		run.add(stage.SRS, srs)
		if result.Proof, result.Public, err = p.once(ctx, w, &run, obs); err != nil {
			return nil, err
		}
		result.Runs, result.Backend = append(result.Runs, run), run.Backend
	}
	if w, ok := p.config.Backend.(groth16.Watched); ok {
		result.Withdrawn = w.Withdrawn()
	}
	return result, nil
}

// loaded is the time that loading took, told to the first run alone.
func (p *core) loaded(ctx context.Context) (srs time.Duration, first bool, _ error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return 0, false, context.Cause(ctx)
	}
	first, p.began = !p.began, true
	srs, p.srs = p.srs, 0
	return srs, first, nil
}

// once is one run: queue, synth, queue, gpu, verify. It waits twice: for the memory of all its stages, reserved at once so
// that no proof holds a part of what another one needs, and for its turn at the backend.
func (p *core) once(ctx context.Context, w work, run *Run, to stage.Observer) (*groth16.Proof, []curve.Scalar, error) {
	obs := &recorder{to: to, run: run}
	start := time.Now()
	to.Begin(stage.Queue)
	backend := p.config.Backend
	reservation, err := backend.Memory().Reserve(ctx, w.bytes+backend.Demand(p.key).HostBytes, "the proof")
	if err != nil {
		return nil, nil, err
	}
	defer reservation.Release()
	obs.finish(stage.Queue, start)

	synthStart := time.Now()
	to.Begin(stage.Synth)
	a, err := w.assign(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = a.close() }() // the memory is the kernel's to clear; there is nothing to do about a failure
	obs.finish(stage.Synth, synthStart)

	r, err := p.scalar()
	if err != nil {
		return nil, nil, err
	}
	s, err := p.scalar()
	if err != nil {
		return nil, nil, err
	}
	obs.submitted = time.Now()
	to.Begin(stage.Queue)
	ticket, err := backend.Submit(ctx, p.key, a.Assignment, r, s, groth16.Options{Observer: obs, Reservation: reservation})
	if err != nil {
		return nil, nil, err
	}
	proof, refusal, err := p.verified(ctx, ticket, run, a.public, obs)
	if err != nil {
		return nil, nil, err
	}
	if refusal != nil {
		return nil, nil, p.explain(ctx, a, refusal, to)
	}
	run.Total = time.Since(start) + run.Stages[stage.SRS]
	return proof, a.public, nil
}

// verified waits for a proof and verifies it. A backend whose hardware may err hears of it, and computes a refused proof
// again; what is left to explain is a refusal on which all that was asked agrees.
func (p *core) verified(ctx context.Context, ticket groth16.Ticket, run *Run, public []curve.Scalar, obs *recorder) (_ *groth16.Proof, refusal, _ error) {
	for {
		// The backend gives the assignment up before it answers: waiting with another context would free it too early.
		proof, err := ticket.Wait(context.WithoutCancel(ctx))
		if err != nil {
			return nil, nil, err
		}
		start := time.Now()
		obs.Begin(stage.Verify)
		refusal := p.verify(proof, public)
		obs.finish(stage.Verify, start)
		judged, ok := ticket.(groth16.Judged)
		if !ok {
			return proof, refusal, nil
		}
		run.Backend = judged.Computer()
		if ticket, err = judged.Judge(ctx, refusal); ticket == nil {
			return proof, refusal, err
		}
		run.Refusals++
	}
}

func (p *core) verify(proof *groth16.Proof, public []curve.Scalar) error {
	if p.verifier == nil {
		return groth16.CheckPoints(proof)
	}
	return p.verifier.Verify(proof, public)
}

// explain says why a proof did not verify.
func (p *core) explain(ctx context.Context, a *assignment, cause error, to stage.Observer) error {
	p.config.Log.Warn("The proof did not verify; looking for the reason", "refusal", cause.Error())
	err := p.circuit.explain(ctx, a, cause, func(done, total int64) { to.Progress(stage.Verify, done, total) })
	if ctx.Err() != nil {
		return errors.Join(failure.New(failure.Verification, "%w", cause), context.Cause(ctx))
	}
	return err
}
