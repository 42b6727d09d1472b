package pipeline

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
)

// evaluator turns a witness into what the backend takes.
type evaluator interface {
	// evaluate makes an assignment that must be freed before the witness is.
	evaluate(ctx context.Context, w *witness.Witness) (a groth16.Assignment, free func(), err error)
	// bytes is the memory that an assignment takes beside the witness.
	bytes() int64
	Close() error
}

// mostEntries bounds the matrices that are written out for a device that evaluates constraints itself: 1 GiB of them, more
// than small sectors need. Larger circuits repeat blocks, which matrices cannot say.
const mostEntries = 1 << 27

// newEvaluator leaves the evaluation to devices where the circuit is small, and else evaluates here.
func newEvaluator(ctx context.Context, s *structure.Structure, backend groth16.Backend) (evaluator, error) {
	entries := s.Entries()
	if _, isCPU := backend.(*cpu.Backend); isCPU || entries[0]+entries[1]+entries[2] > mostEntries {
		return compressing{s}, nil
	}
	matrices, err := s.Matrices(ctx)
	if err != nil {
		return nil, err
	}
	loaded, err := backend.LoadStructure(ctx, matrices)
	if err != nil {
		return nil, err
	}
	return &packing{structure: s, bits: synthesis.BitWires(s), loaded: loaded}, nil
}

// compressing evaluates a and b here, in about a byte a row.
type compressing struct{ structure *structure.Structure }

func (e compressing) evaluate(ctx context.Context, w *witness.Witness) (groth16.Assignment, func(), error) {
	c, err := synthesis.Compress(ctx, e.structure, w)
	if err != nil {
		return nil, nil, err
	}
	return c.Evaluated, c.Free, nil
}

func (e compressing) bytes() int64 { return synthesis.CompressedBytes(e.structure) }
func (compressing) Close() error   { return nil }

// packing hands over the bits and elements of the witness.
type packing struct {
	structure *structure.Structure
	bits      []uint64
	loaded    groth16.Structure
}

func (e *packing) evaluate(_ context.Context, w *witness.Witness) (groth16.Assignment, func(), error) {
	p := synthesis.Pack(e.structure, w, e.bits)
	p.Structure = e.loaded
	return p, func() { clear(p.Values) }, nil
}

func (e *packing) bytes() int64 { return int64(len(e.bits)) * 8 }
func (e *packing) Close() error { return e.loaded.Close() }
