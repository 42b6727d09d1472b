package worker

import (
	"context"
	"os"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/stage"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// Engine proves inputs, of which each partition has its own; it is the pipeline of circom's and gnark's circuits, seen from
// a pod.
type Engine interface {
	// Load takes the key's files. They stay the caller's, who closes them after the session.
	Load(ctx context.Context, key KeyFiles, o *order.Order, obs stage.Observer) (Session, error)
	// Withdrawn lists the devices that take no more work by now.
	Withdrawn() []groth16.Withdrawal
}

// Session is a key with its circuit in memory, proving one input after the other.
type Session interface {
	// Prove proves an input as often as the order says and returns the last run's proof. onRun is told of each run,
	// warm-up runs included, as it begins, counted from 0.
	Prove(ctx context.Context, in InputFile, obs stage.Observer, onRun func(run int)) (*Proved, error)
	Close() error
}

// NamedFile is an open file and the name that messages give it.
type NamedFile struct {
	*os.File
	Name string
}

// KeyFiles are a key's files; all but ProvingKey may be nil.
type KeyFiles struct {
	ProvingKey       *NamedFile
	VerifyingKey     *NamedFile
	ConstraintSystem *NamedFile
	WitnessGenerator *NamedFile
}

// InputFile is an input: a file, or bytes that came with the job.
type InputFile struct {
	Name string
	File *NamedFile
	Data []byte
}

// Proved is a verified proof, in the forms of the report.
type Proved struct {
	// Proof is proof.json without white space (snarkjs), or base64 of gnark's or Filecoin's binary form.
	Proof string
	// PublicInputs in decimal, in the circuit's order; none for Filecoin, whose statement tells them.
	PublicInputs []string
	// Backend is what computed it.
	Backend v1alpha1.BackendType
	// Runs are the times of each run, warm-up runs first; the last one is the proof's.
	Runs []v1alpha1.RunTimings
	// Refusals counts the proofs, of all runs, that did not verify and were computed again.
	Refusals int
}
