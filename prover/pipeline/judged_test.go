package pipeline_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/internal/samples"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
)

// doubtful is a backend whose first computations of a proof are wrong.
type doubtful struct {
	groth16.Backend
	wrong int
	// last is what it says when nothing is left to ask.
	last     error
	verdicts []bool
}

func (b *doubtful) Withdrawn() []groth16.Withdrawal {
	return []groth16.Withdrawal{{Device: "GPU-a", Reason: errors.New("it computed a wrong proof")}}
}

type doubtfulTicket struct {
	groth16.Ticket
	backend *doubtful
	again   func(ctx context.Context) (groth16.Ticket, error)
	wrong   int
}

func (b *doubtful) Submit(ctx context.Context, key groth16.Key, a groth16.Assignment, r, s curve.Scalar, o groth16.Options) (groth16.Ticket, error) {
	return b.submit(ctx, key, a, r, s, o, b.wrong)
}

func (b *doubtful) submit(ctx context.Context, key groth16.Key, a groth16.Assignment, r, s curve.Scalar, o groth16.Options, wrong int) (groth16.Ticket, error) {
	ticket, err := b.Backend.Submit(ctx, key, a, r, s, o)
	again := func(ctx context.Context) (groth16.Ticket, error) { return b.submit(ctx, key, a, r, s, o, wrong-1) }
	return &doubtfulTicket{ticket, b, again, wrong}, err
}

func (t *doubtfulTicket) Wait(ctx context.Context) (*groth16.Proof, error) {
	proof, err := t.Ticket.Wait(ctx)
	if err == nil && t.wrong > 0 {
		proof.A, proof.C = proof.C, proof.A
	}
	return proof, err
}

func (t *doubtfulTicket) Computer() string {
	if t.wrong > 0 {
		return "doubtful"
	}
	return "sound"
}

func (t *doubtfulTicket) Judge(ctx context.Context, refusal error) (groth16.Ticket, error) {
	t.backend.verdicts = append(t.backend.verdicts, refusal == nil)
	if refusal == nil {
		return nil, nil
	}
	if t.backend.last != nil {
		return nil, t.backend.last
	}
	return t.again(ctx)
}

// A refused proof is computed again until one verifies; only that one leaves.
func TestRefusedProofsAreComputedAgain(t *testing.T) {
	folder := filepath.Join(samples.Root(), "test", "circuits", "bn128", "multiplier")
	files := pipeline.Files{ProvingKey: read(t, filepath.Join(folder, "multiplier.zkey"))}
	witness := read(t, filepath.Join(folder, "witness.wtns"))

	b := &doubtful{Backend: cpu.New(cpu.Config{}), wrong: 2}
	r, err := open(t, files, pipeline.Config{Backend: b}).Prove(t.Context(), witness, pipeline.Runs{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Backend != "sound" || !r.Verified || len(b.verdicts) != 3 || !b.verdicts[2] {
		t.Errorf("computed by %s, verified %t, verdicts %v", r.Backend, r.Verified, b.verdicts)
	}
	if r.Runs[0].Refusals != 2 || len(r.Withdrawn) != 1 || r.Withdrawn[0].Device != "GPU-a" {
		t.Errorf("%d refusals, withdrawn %v", r.Runs[0].Refusals, r.Withdrawn)
	}

	b = &doubtful{Backend: cpu.New(cpu.Config{}), wrong: 1, last: failure.New(failure.Backend, "the devices disagree")}
	if _, err := open(t, files, pipeline.Config{Backend: b}).Prove(t.Context(), witness, pipeline.Runs{}, nil); failure.ClassOf(err) != failure.Backend {
		t.Errorf("got %v", err)
	}
}
