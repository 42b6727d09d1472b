package worker

import (
	"context"
	"slices"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
	"github.com/cuzk-dev/cuzk/prover/worker/statement"
)

// sharedInput are the partitions of a Filecoin proof, which have one input. It is read, and compared with the statement,
// once for all of them.
type sharedInput struct {
	order   *order.Order
	spec    *v1alpha1.ProofJobSpec
	files   *files
	engine  *Filecoin
	todo    []int            // the partitions that are to be proved
	job     *job.Job         // nil until the input is read
	digest  string           // of the input
	session *filecoinSession // nil until the key is loaded
}

func (s *sharedInput) prove(ctx context.Context, rep *reporter, index int) (*Proved, string, error) {
	if s.job == nil {
		if err := s.read(ctx); err != nil {
			return nil, s.digest, err
		}
	}
	rep.update(false, func(r *v1alpha1.PartitionReport) { r.InputDigest = s.digest })
	if s.session == nil {
		if err := s.load(ctx, rep); err != nil {
			return nil, s.digest, err
		}
	}
	proved, err := s.session.prove(ctx, s.job, index, rep, rep.nextRun)
	return proved, s.digest, err
}

// read reads the input; its files are not needed afterwards.
func (s *sharedInput) read(ctx context.Context) error {
	claim, err := statement.Of(s.order.Statement(s.spec))
	if err != nil {
		return failure.New(failure.Key, "%w", err).WithFix("submit another job with a right statement")
	}
	if n := claim.Statement.Partitions(); n != s.order.Partitions {
		return failure.New(failure.Key, "the order is for %d partitions, but the statement has %d", s.order.Partitions, n).
			WithFix("use a prover image of the operator's release")
	}
	in, err := inputOf(s.order, s.spec, 0)
	if err != nil {
		return err
	}
	opened, fetched := s.files.mark()
	defer s.files.release(opened, fetched)
	pieces, digest, err := s.files.pieces(ctx, in)
	s.digest = digest
	if err != nil {
		return err
	}
	defer func() { _ = pieces.Close() }()
	j, err := s.engine.read(ctx, pieces.Pieces, claim)
	if err != nil {
		return err
	}
	s.job = j
	return s.complete()
}

// complete refuses an input that lacks the vanilla proofs of a partition that is to be proved.
func (s *sharedInput) complete() error {
	for _, k := range s.todo {
		if !slices.Contains(s.job.Partitions, k) {
			return failure.New(failure.Input, "the input lacks vanilla proofs of sectors of partition %d; it is complete for partitions %v", k, s.job.Partitions).
				WithFix("put the vanilla proofs of all sectors into one folder")
		}
	}
	return nil
}

func (s *sharedInput) load(ctx context.Context, rep *reporter) error {
	key, err := s.files.keyFiles(ctx, s.order.Key)
	if err != nil {
		return err
	}
	s.session, err = s.engine.load(ctx, key, s.job.Shape, s.order, rep)
	return err
}

// ends is always true: a Filecoin proof is whole or none, so that no other partition is worth the time.
func (s *sharedInput) ends(error) bool { return true }

func (s *sharedInput) withdrawn() []groth16.Withdrawal { return withdrawn(s.engine.Backend) }

func (s *sharedInput) Close() error {
	if s.session == nil {
		return nil
	}
	return s.session.Close()
}
