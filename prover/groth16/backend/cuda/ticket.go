package cuda

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// ticket is a proof under way, and then a proof that waits to be judged.
type ticket struct {
	backend *Backend
	task    *task
	done    chan struct{}

	opinion
	err error
	// refused are the proofs of the same task that did not verify.
	refused []opinion
}

// opinion is a proof with what computed it.
type opinion struct {
	proof *groth16.Proof
	// device is nil for the fallback.
	device *device
}

var _ groth16.Judged = (*ticket)(nil)

// start computes a task, away from the devices that computed refused proofs of it if there are others.
func (b *Backend) start(ctx context.Context, t *task, refused []opinion) (groth16.Ticket, error) {
	release, err := t.hold()
	if err != nil {
		return nil, err
	}
	out := &ticket{backend: b, task: t, done: make(chan struct{}), refused: refused}
	go func() {
		defer close(out.done)
		defer release()
		out.opinion, out.err = b.compute(ctx, t, refused)
		if ctx.Err() != nil && out.err != nil {
			out.err = ctx.Err()
		}
	}()
	return out, nil
}

func (t *ticket) Wait(ctx context.Context) (*groth16.Proof, error) {
	select {
	case <-t.done:
		return t.proof, t.err
	default:
	}
	select {
	case <-t.done:
		return t.proof, t.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// compute goes from device to device until one has computed the proof, and then to the fallback.
func (b *Backend) compute(ctx context.Context, t *task, refused []opinion) (opinion, error) {
	avoid := b.avoid(refused)
	var last error
	for {
		d, err := b.queue.acquire(ctx, &claim{
			priority: t.options.Priority,
			refuses:  func(d *device) bool { return slices.Contains(avoid, d) },
			prefers:  func(d *device) bool { _, has := t.key.copies.find(d); return has },
		})
		if errors.Is(err, errNowhere) {
			break
		}
		if err != nil {
			return opinion{}, err
		}
		proof, err := t.on(ctx, b, d)
		b.queue.release(d)
		if err == nil {
			return opinion{proof, d}, nil
		}
		possible, withdraw := elsewhere(err)
		if withdraw {
			b.withdraw(d, err)
		}
		if last = explain(err, d.String()); !possible || ctx.Err() != nil {
			return opinion{}, last
		}
		avoid = append(avoid, d)
	}
	if last == nil {
		last = b.noneLeft()
	}
	if b.fallback == nil {
		return opinion{}, last
	}
	if len(refused) == 0 {
		b.log.Warn("Computing a proof without a GPU", "backend", b.fallback.Name(), "reason", last.Error())
	}
	proof, err := b.fallBack(ctx, t)
	return opinion{proof: proof}, err
}

// avoid are the devices that are not to compute a task (again). Another device has the second word and the fallback the
// third; where there is neither, the same device computes a second time, which at least tells whether it is reliable.
func (b *Backend) avoid(refused []opinion) []*device {
	switch {
	case len(refused) == 0:
		return nil
	case len(refused) > 1:
		return b.queue.devices
	case b.fallback == nil && !slices.ContainsFunc(b.queue.usable(), func(d *device) bool { return d != refused[0].device }):
		return nil
	}
	return []*device{refused[0].device}
}

// Computer is the name of the backend that computed the proof.
func (t *ticket) Computer() string {
	if t.device == nil && t.backend.fallback != nil {
		return t.backend.fallback.Name()
	}
	return name
}

// Judge hears whether the proof verified; see groth16.Judged. Who is wrong is not guessed: a device is withdrawn when a proof
// that verified, or that of the fallback, differs from the one that it computed.
func (t *ticket) Judge(ctx context.Context, refusal error) (groth16.Ticket, error) {
	b := t.backend
	if refusal == nil {
		for _, o := range t.refused {
			b.withdraw(o.device, wrong("another computation of the same proof verifies"))
		}
		return nil, nil
	}
	refused := append(slices.Clone(t.refused), t.opinion)
	if t.device != nil && (len(refused) == 1 || b.fallback != nil) {
		b.log.Warn("A proof of a GPU did not verify; computing it again", "gpu", t.device.UUID, "name", t.device.Name, "refusal", refusal.Error())
		return b.start(ctx, t.task, refused)
	}
	return nil, b.compare(ctx, refused)
}

// compare looks at proofs of one task of which none verified. If they are equal, and the devices are sound, it is the
// input's fault; an error says that it is not.
func (b *Backend) compare(ctx context.Context, refused []opinion) error {
	last := refused[len(refused)-1]
	differ := false
	for _, o := range refused[:len(refused)-1] {
		if equal(o.proof, last.proof) {
			continue
		}
		differ = true
		if last.device == nil || last.device == o.device {
			b.withdraw(o.device, wrong("another computation of the same proof differs"))
		}
	}
	if last.device == nil {
		return nil
	}
	if differ {
		return failure.New(failure.Backend, "GPUs computed different proofs of one input, and none verifies").
			WithFix("prove with --backend cpu, and have the GPUs checked")
	}
	for _, o := range refused {
		if err := b.testAgain(ctx, o.device); err != nil {
			return err
		}
	}
	return nil
}

// testAgain runs the self-test of a device that is at work, on a lane of its own, and withdraws the device if it fails. An error
// that says nothing of the device, such as short memory, leaves open who was wrong.
func (b *Backend) testAgain(ctx context.Context, d *device) error {
	_, err := b.queue.acquire(ctx, &claim{
		refuses: func(other *device) bool { return other != d },
		prefers: func(*device) bool { return false },
	})
	if errors.Is(err, errNowhere) {
		return b.queue.reason(d)
	}
	if err != nil {
		return err
	}
	defer b.queue.release(d)
	err = d.engine.SelfTest()
	if _, withdraw := elsewhere(err); withdraw {
		b.withdraw(d, err)
	}
	return explain(err, d.String())
}

func wrong(evidence string) error {
	return failure.New(failure.Backend, "it computed a wrong proof: %s", evidence)
}

func equal(a, b *groth16.Proof) bool {
	return bytes.Equal(a.A, b.A) && bytes.Equal(a.B, b.B) && bytes.Equal(a.C, b.C) &&
		slices.EqualFunc(a.Commitments, b.Commitments, func(x, y curve.G1) bool { return bytes.Equal(x, y) })
}
