package pipeline

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// FilecoinOptions of a proof. The zero value proves all partitions, one after the other.
type FilecoinOptions struct {
	// Partitions to prove, in the order of the output; nil is all that the input can prove.
	Partitions []int
	// AtOnce is how many partitions are under way at a time: while one computes, the next one's witness is made. Memory
	// bounds it too. 0 is one on the processor, whose cores a proof fills, and two elsewhere.
	AtOnce int
	Runs   Runs
	// Observer, if not nil, makes the observer of a partition.
	Observer func(partition int) stage.Observer
}

// FilecoinProof is the proof of a job, or of some of its partitions.
type FilecoinProof struct {
	// Partitions in the order that was asked for.
	Partitions []PartitionProof
	// Proof is the partitions' proofs in a row, proof.Bytes each.
	Proof []byte
	// Whole says that Proof proves the job's whole statement; it has been verified as such.
	Whole bool
}

// PartitionProof is a verified proof of one partition.
type PartitionProof struct {
	Partition int
	// Proof is in Filecoin's form, of proof.Bytes.
	Proof []byte
	*Result
}

// Prove proves partitions of a job. The first that fails ends the whole.
func (f *Filecoin) Prove(ctx context.Context, j *job.Job, o FilecoinOptions) (*FilecoinProof, error) {
	partitions := o.Partitions
	if partitions == nil {
		partitions = j.Partitions
	}
	for _, k := range partitions {
		if !slices.Contains(j.Partitions, k) {
			return nil, failure.New(failure.Usage, "partition %d: the input holds %v of the statement's %d", k, j.Partitions, j.Statement.Partitions())
		}
	}
	out := &FilecoinProof{Partitions: make([]PartitionProof, len(partitions))}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(f.atOnce(&o))
	for i, k := range partitions {
		group.Go(func() error {
			if groupCtx.Err() != nil {
				return context.Cause(groupCtx)
			}
			r, err := f.ProvePartition(groupCtx, j, k, o.Runs, o.observer(k))
			if err != nil {
				return ofPartition(err, k, len(partitions))
			}
			out.Partitions[i] = PartitionProof{Partition: k, Proof: proof.Encode([]*groth16.Proof{r.Proof}), Result: r}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, p := range out.Partitions {
		out.Proof = append(out.Proof, p.Proof...)
	}
	if !wholeProof(partitions, j.Statement.Partitions()) {
		return out, nil
	}
	out.Whole = true
	return out, f.Verify(j.Statement, out.Proof)
}

func (f *Filecoin) atOnce(o *FilecoinOptions) int {
	switch _, isCPU := f.config.Backend.(*cpu.Backend); {
	case o.AtOnce > 0:
		return o.AtOnce
	case isCPU:
		return 1
	}
	return 2
}

// wholeProof tells whether these are all n partitions in their order.
func wholeProof(partitions []int, n int) bool {
	for i, k := range partitions {
		if i != k {
			return false
		}
	}
	return len(partitions) == n
}

func (o *FilecoinOptions) observer(partition int) stage.Observer {
	if o.Observer == nil {
		return stage.Nop{}
	}
	return o.Observer(partition)
}

// ofPartition says which partition of several an error is of.
func ofPartition(err error, partition, partitions int) error {
	if partitions == 1 {
		return err
	}
	return fmt.Errorf("partition %d: %w", partition, err)
}
