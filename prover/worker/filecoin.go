package worker

import (
	"context"
	"encoding/base64"
	"log/slog"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/stage"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
	"github.com/cuzk-dev/cuzk/prover/worker/statement"
)

// Filecoin is the engine of pods that prove partitions of a Filecoin proof.
type Filecoin struct {
	Backend groth16.Backend
	// CacheFolder keeps constraint systems; it lies in the pod's scratch volume.
	CacheFolder string
	Log         *slog.Logger
}

// read reads an input, and refuses one that is not about the statement.
func (e *Filecoin) read(ctx context.Context, in []job.Piece, s *statement.Filecoin) (*job.Job, error) {
	switch {
	case s.PoRep != nil:
		return readPoRep(ctx, in, s)
	case s.PoSt != nil:
		return job.ReadPoSt(ctx, in, s.PoSt)
	}
	return job.ReadSnap(ctx, in, job.Snap{
		Proof: s.UpdateProof, Shape: &s.Snap.Shape, CommROld: &s.Snap.CommROld, CommRNew: &s.Snap.CommRNew, CommDNew: &s.Snap.CommDNew,
	})
}

func readPoRep(ctx context.Context, in []job.Piece, s *statement.Filecoin) (*job.Job, error) {
	if len(in) != 1 {
		return nil, failure.New(failure.Input, "a proof of replication is made from one file, not from a folder of %d", len(in)).
			WithFix("name the file with the output of the first commit phase")
	}
	p := s.PoRep
	want := job.PoRep{
		Proof: &s.SealProof, Prover: p.Prover, Sector: &p.Sector, Ticket: &p.Ticket, Seed: &p.Seed, CommD: &p.CommD, CommR: &p.CommR,
	}
	if p.Shape != s.SealProof.Shape() {
		want.Shape = &p.Shape
	}
	return job.ReadPoRep(ctx, in[0], want)
}

// load loads a key, as Engine does, for a circuit of a shape.
func (e *Filecoin) load(ctx context.Context, key KeyFiles, shape filecoin.Shape, o *order.Order, obs stage.Observer) (*filecoinSession, error) {
	p, err := pipeline.OpenFilecoin(ctx, pipeline.Files{ProvingKey: key.ProvingKey.file(), VerifyingKey: key.VerifyingKey.file()},
		shape, pipeline.Config{Backend: e.Backend, CacheFolder: e.CacheFolder, Log: e.Log}, obs)
	if err != nil {
		return nil, err
	}
	return &filecoinSession{prover: p, runs: o.Runs, warmup: o.WarmupRuns}, nil
}

// filecoinSession is a key with its circuit in memory, proving one partition after the other.
type filecoinSession struct {
	prover       *pipeline.Filecoin
	runs, warmup int
}

func (s *filecoinSession) Close() error { return s.prover.Close() }

// prove proves a partition of a job, as a Session does an input. The statement tells the public inputs, so that none are
// reported.
func (s *filecoinSession) prove(ctx context.Context, j *job.Job, partition int, obs stage.Observer, onRun func(int)) (*Proved, error) {
	r, err := s.prover.ProvePartition(ctx, j, partition, pipeline.Runs{Measured: s.runs, Warmup: s.warmup, Begin: onRun}, obs)
	if err != nil {
		return nil, err
	}
	return &Proved{
		Proof:   base64.StdEncoding.EncodeToString(proof.Encode([]*groth16.Proof{r.Proof})),
		Backend: backendType(r.Backend), Runs: runTimings(r.Runs), Refusals: refusals(r.Runs),
	}, nil
}
