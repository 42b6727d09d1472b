package worker

import (
	"context"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// partitions proves the partitions of a pod, one after the other. Files are opened, and the key is loaded, when a partition
// first needs them.
type partitions interface {
	// prove proves a partition. The digest is that of its input, as soon as the input has been read.
	prove(ctx context.Context, rep *reporter, index int) (p *Proved, inputDigest string, err error)
	// ends tells whether no other partition is tried after one that failed in this way.
	ends(err error) bool
	// withdrawn lists the devices that take no more work by now. They are told where a proof fails too: there may be no
	// other device to prove on.
	withdrawn() []groth16.Withdrawal
	Close() error
}

// partitions are those of the order's kind of circuit, of which some are to be proved.
func (w *Worker) partitions(fs *files, spec *v1alpha1.ProofJobSpec, todo []int) partitions {
	if w.Order.Circuit.IsFilecoin() {
		return &sharedInput{order: w.Order, spec: spec, files: fs, engine: w.Filecoin, todo: todo}
	}
	return &ownInputs{order: w.Order, spec: spec, files: fs, engine: w.Engine}
}
