// Package job joins what a Filecoin proof claims with what it is proved from.
//
// A job is read from its input: the output of a seal's first commit phase, the vanilla proofs of sectors (PoSt) or of an
// update's partitions (SnapDeals). What the caller knows of the statement is compared with what the input says before any
// work; the public inputs of a partition always come from the statement, and a witness that disagrees with them is refused.
// Package pipeline proves jobs, package proof verifies what comes out.
package job

import (
	"context"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
)

// Piece is one file of an input; Name is for messages. Data must stay unchanged while the input is read.
type Piece struct {
	Name string
	Data []byte
}

// Job is a proof to be made. It is safe for concurrent use.
type Job struct {
	Circuit filecoin.Circuit
	// Shape is that of each partition's circuit; it names the parameters.
	Shape filecoin.Shape
	// Statement gives the number of partitions and the public inputs of each; proof.Verify takes it.
	Statement proof.Statement
	// Partitions are those that the input can prove, ascending: all, but for a window PoSt that was given the sectors of
	// some alone.
	Partitions []int

	input input
}

// input is what the three kinds of proofs differ in.
type input interface {
	// assign computes the witness of a partition.
	assign(ctx context.Context, layout []witness.Part, partition int) (*witness.Witness, error)
	// check compares the partition's input with the statement, field by field. It costs about what assign does, so it is
	// only done to say what is wrong.
	check(ctx context.Context, partition int) error
}

// Assign computes the witness of a partition, with the constraint system of the job's shape, and the public inputs that its
// proof has to be about: canonical, without the one, as the statement gives them. An input that does not fit the statement
// is an error of class Input. The witness must be freed.
func (j *Job) Assign(ctx context.Context, s *structure.Structure, partition int) (*witness.Witness, []curve.Scalar, error) {
	public, err := j.Statement.PublicInputs(partition)
	if err != nil {
		return nil, nil, failure.New(failure.Usage, "%w", err)
	}
	w, err := j.input.assign(ctx, s.Layout(), partition)
	if err != nil {
		return nil, nil, j.explain(ctx, partition, err)
	}
	for i, e := range w.Inputs[1:] {
		if e.Bits() != public[i] {
			w.Free()
			return nil, nil, j.explain(ctx, partition, fmt.Errorf("it is about another statement: public input %d differs", i+1))
		}
	}
	return w, public, nil
}

// explain names the field of the input for which there is no witness.
func (j *Job) explain(ctx context.Context, partition int, cause error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := j.input.check(ctx, partition); err != nil {
		return err
	}
	return failure.New(failure.Input, "partition %d: %w", partition, cause)
}

// all lists the numbers below n.
func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
