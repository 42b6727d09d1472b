package worker

import (
	"context"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// ownInputs are partitions of which each has an input of its own: those of circom and gnark.
type ownInputs struct {
	order   *order.Order
	spec    *v1alpha1.ProofJobSpec
	files   *files
	engine  Engine
	session Session // nil until the first input is there
}

func (o *ownInputs) prove(ctx context.Context, rep *reporter, index int) (*Proved, string, error) {
	in, err := inputOf(o.order, o.spec, index)
	if err != nil {
		return nil, "", err
	}
	opened, fetched := o.files.mark()
	input, digest, err := o.files.input(ctx, in)
	if err != nil {
		o.files.release(opened, fetched)
		return nil, digest, err
	}
	rep.update(false, func(r *v1alpha1.PartitionReport) { r.InputDigest = digest })
	if o.session == nil {
		// The key's files stay open, and this first input with them, since it was opened before.
		if err := o.load(ctx, rep); err != nil {
			return nil, digest, err
		}
	} else {
		defer o.files.release(opened, fetched)
	}
	proved, err := o.session.Prove(ctx, input, rep, rep.nextRun)
	return proved, digest, err
}

func (o *ownInputs) load(ctx context.Context, rep *reporter) error {
	key, err := o.files.keyFiles(ctx, o.order.Key)
	if err != nil {
		return err
	}
	o.session, err = o.engine.Load(ctx, key, o.order, rep)
	return err
}

// ends is false for a bad input, which concerns its partition alone.
func (o *ownInputs) ends(err error) bool { return failure.ClassOf(err) != failure.Input }

func (o *ownInputs) withdrawn() []groth16.Withdrawal { return o.engine.Withdrawn() }

func (o *ownInputs) Close() error {
	if o.session == nil {
		return nil
	}
	return o.session.Close()
}
