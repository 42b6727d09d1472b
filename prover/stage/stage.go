// Package stage is the one way in which the prover tells how far it is and where the time went. A stage is taken once,
// at its source; whether it ends up in a status, on a terminal, in a log or in a trace is the observer's business.
package stage

import "time"

// Name is a stage of a proof as users see it.
type Name string

const (
	// Queue is the wait for memory and a turn.
	Queue Name = "queue"
	// SRS is loading the proving key.
	SRS Name = "srs"
	// JIT is the compiling of kernels for a GPU that the CUDA library holds no machine code for; the first proof on the GPU
	// tells it. It comes before the proof and is not part of any other stage.
	JIT Name = "jit"
	// Synth is witness generation and constraint evaluation.
	Synth Name = "synth"
	// GPU is the computation of the proof; it keeps this name on every backend, so that columns stay comparable.
	GPU Name = "gpu"
	// Verify is the check of the finished proof.
	Verify Name = "verify"
)

// Kernel is a family of work inside the GPU stage.
type Kernel string

const (
	// Upload and Evaluate are told by GPUs: the copying of the assignment, and A·w, B·w, C·w.
	Upload   Kernel = "upload"
	Evaluate Kernel = "evaluate"
	PrepMSM  Kernel = "prep_msm"
	NTTMSMH  Kernel = "ntt_msm_h"
	BatchAdd Kernel = "batch_add"
	BG2MSM   Kernel = "b_g2_msm"
	TailMSM  Kernel = "tail_msm"
	GPUTotal Kernel = "gpu_total"
)

// Span is a piece of work with its start and end. Lane tells spans of concurrent workers apart.
type Span struct {
	Stage  Name
	Kernel Kernel // empty for the stage itself
	Lane   string
	Start  time.Time
	End    time.Time
}

// Observer is told of stages as they happen. Calls for one proof come in order from one goroutine at a time; an observer
// must return quickly and must not fail the proof.
type Observer interface {
	// Begin says that a stage of work has started.
	Begin(Name)
	// Progress says how much of the current stage is done, of a total that stays and is not 0; it never falls, and may never
	// be called. Of SRS it is told in bytes of the key's file, of other stages in units of their own.
	Progress(s Name, done, total int64)
	// Done hands over a finished span.
	Done(Span)
}

// Nop is the observer that does not look.
type Nop struct{}

func (Nop) Begin(Name)                  {}
func (Nop) Progress(Name, int64, int64) {}
func (Nop) Done(Span)                   {}
