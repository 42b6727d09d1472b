package worker

import (
	"context"
	"encoding/base64"
	"log/slog"
	"strings"
	"time"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/stage"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// Pipeline is the engine of pods.
type Pipeline struct {
	Backend groth16.Backend
	// CacheFolder keeps compiled witness generators; it lies in the pod's scratch volume.
	CacheFolder string
	Log         *slog.Logger
}

// Load implements Engine.
func (e *Pipeline) Load(ctx context.Context, key KeyFiles, o *order.Order, obs stage.Observer) (Session, error) {
	id, err := curve.Parse(o.Key.Curve)
	if err != nil {
		return nil, failure.New(failure.Key, "%w", err)
	}
	config := pipeline.Config{
		Backend: e.Backend, Format: pipeline.Format(o.Key.Format), Curve: id, CacheFolder: e.CacheFolder, Log: e.Log,
		WitnessTimeout: time.Duration(o.Circuit.WitnessTimeoutSeconds) * time.Second,
	}
	if h := o.Circuit.CommitmentHash; h != "" {
		if config.CommitmentHash, err = groth16.ParseCommitmentHash(strings.ToLower(h)); err != nil {
			return nil, failure.New(failure.Usage, "%w", err)
		}
	}
	p, err := pipeline.Open(ctx, pipeline.Files{
		ProvingKey: key.ProvingKey.file(), VerifyingKey: key.VerifyingKey.file(),
		ConstraintSystem: key.ConstraintSystem.file(), WitnessGenerator: key.WitnessGenerator.file(),
	}, config, obs)
	if err != nil {
		return nil, err
	}
	return &pipelineSession{prover: p, runs: o.Runs, warmup: o.WarmupRuns}, nil
}

// Withdrawn implements Engine.
func (e *Pipeline) Withdrawn() []groth16.Withdrawal { return withdrawn(e.Backend) }

// file is the pipeline's form of a file.
func (f *NamedFile) file() *pipeline.File {
	if f == nil {
		return nil
	}
	return &pipeline.File{Name: f.Name, File: f.File}
}

type pipelineSession struct {
	prover       *pipeline.Prover
	runs, warmup int
}

func (s *pipelineSession) Close() error { return s.prover.Close() }

func (s *pipelineSession) Prove(ctx context.Context, in InputFile, obs stage.Observer, onRun func(int)) (*Proved, error) {
	file := &pipeline.File{Name: in.Name, Data: in.Data}
	if in.File != nil {
		file.File = in.File.File
	}
	r, err := s.prover.Prove(ctx, file, pipeline.Runs{Measured: s.runs, Warmup: s.warmup, Begin: onRun}, obs)
	if err != nil {
		return nil, err
	}
	proof, err := formatProof(s.prover.Format(), r.Proof)
	if err != nil {
		return nil, failure.New(failure.Internal, "write the proof: %w", err)
	}
	return &Proved{
		Proof: proof, PublicInputs: snarkjs.Decimals(r.Public), Backend: backendType(r.Backend),
		Runs: runTimings(r.Runs), Refusals: refusals(r.Runs),
	}, nil
}

// formatProof writes a proof in the form that its key's tools know.
func formatProof(format pipeline.Format, p *groth16.Proof) (string, error) {
	if format == pipeline.Gnark {
		return base64.StdEncoding.EncodeToString(gnarkfmt.FormatProof(p, true)), nil
	}
	data, err := snarkjs.FormatProof(p, true)
	return string(data), err
}

func backendType(name string) v1alpha1.BackendType {
	if name == "cuda" {
		return v1alpha1.BackendCUDA
	}
	return v1alpha1.BackendCPU
}

func runTimings(runs []pipeline.Run) []v1alpha1.RunTimings {
	out := make([]v1alpha1.RunTimings, len(runs))
	for i, run := range runs {
		out[i] = v1alpha1.RunTimings{Type: v1alpha1.RunType(run.Kind), Timings: timingsOf(run)}
	}
	return out
}

func refusals(runs []pipeline.Run) int {
	n := 0
	for _, run := range runs {
		n += run.Refusals
	}
	return n
}

func timingsOf(r pipeline.Run) v1alpha1.Timings {
	stageMS := func(s stage.Name) *int64 {
		d, ok := r.Stages[s]
		return wholeMilliseconds(d, ok)
	}
	kernelMS := func(k stage.Kernel) *int64 {
		d, ok := r.Kernels[k]
		return wholeMilliseconds(d, ok)
	}
	return v1alpha1.Timings{
		QueueMilliseconds: stageMS(stage.Queue), SRSMilliseconds: stageMS(stage.SRS), SynthMilliseconds: stageMS(stage.Synth),
		GPUMilliseconds: stageMS(stage.GPU), VerifyMilliseconds: stageMS(stage.Verify),
		TotalMilliseconds:   wholeMilliseconds(r.Total, true),
		PrepMSMMilliseconds: kernelMS(stage.PrepMSM), NTTMSMHMilliseconds: kernelMS(stage.NTTMSMH),
		BatchAddMilliseconds: kernelMS(stage.BatchAdd), BG2MSMMilliseconds: kernelMS(stage.BG2MSM),
		TailMSMMilliseconds: kernelMS(stage.TailMSM), GPUTotalMilliseconds: kernelMS(stage.GPUTotal),
	}
}

// wholeMilliseconds rounds up, so that what was measured is never shown as nothing.
func wholeMilliseconds(d time.Duration, measured bool) *int64 {
	if !measured {
		return nil
	}
	ms := min(int64((d+time.Millisecond-1)/time.Millisecond), 999_999_999)
	return &ms
}
