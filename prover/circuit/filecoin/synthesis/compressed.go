package synthesis

import (
	"context"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// Compressed is a witness with a, b and c evaluated on it, of which a and b are kept in about a byte a row and written out
// as the backend reads them: 240 MB instead of 12.5 GB for a partition of a 32 GiB PoRep.
type Compressed struct {
	groth16.Evaluated
	values *structure.Compressed
}

// Compress evaluates the constraints of a witness that satisfies them. Compressed must be freed before the witness is.
func Compress(ctx context.Context, s *structure.Structure, w *witness.Witness) (*Compressed, error) {
	values, err := s.Compress(ctx, w)
	if err != nil {
		return nil, err
	}
	rows := &evaluations{values: values, inputs: w.Inputs, constraints: s.Constraints}
	return &Compressed{
		Evaluated: groth16.Evaluated{A: factorA{rows}, B: factorB{rows}, C: product{rows}, Witness: &wires{s, w}},
		values:    values,
	}, nil
}

// Free clears the evaluations and gives their memory back.
func (c *Compressed) Free() { c.values.Free() }

// evaluations are the rows of a circuit, then those that bellman adds: input·0 = 0.
type evaluations struct {
	values      *structure.Compressed
	inputs      []fr.Element
	constraints int
}

func (e *evaluations) Len() int           { return e.constraints + len(e.inputs) }
func (e *evaluations) Form() groth16.Form { return groth16.Montgomery }

// circuit is the part of rows offset, offset+1, … that belongs to the circuit itself.
func (e *evaluations) circuit(offset int, rows []fr.Element) int {
	return min(len(rows), max(0, e.constraints-offset))
}

// readA writes rows of a, readB of b.
func (e *evaluations) readA(offset int, dst []fr.Element) {
	n := e.circuit(offset, dst)
	e.values.Expand(offset, dst[:n], nil)
	copy(dst[n:], e.inputs[max(0, offset-e.constraints):])
}

func (e *evaluations) readB(offset int, dst []fr.Element) {
	n := e.circuit(offset, dst)
	e.values.Expand(offset, nil, dst[:n])
	clear(dst[n:])
}

type factorA struct{ *evaluations }

func (v factorA) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	v.readA(offset, elements(dst))
	return nil
}

type factorB struct{ *evaluations }

func (v factorB) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	v.readB(offset, elements(dst))
	return nil
}

// product is c, which is a∘b, since the witness satisfies the constraints.
type product struct{ *evaluations }

// productStep is how many rows of b are written out at a time.
const productStep = 512

func (v product) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	out := elements(dst)
	v.readA(offset, out)
	var b [productStep]fr.Element
	for start := 0; start < len(out); start += productStep {
		piece := out[start:min(start+productStep, len(out))]
		v.readB(offset+start, b[:len(piece)])
		for i := range piece {
			switch {
			case b[i].IsZero():
				piece[i].SetZero()
			case !b[i].IsOne():
				piece[i].Mul(&piece[i], &b[i])
			}
		}
	}
	clear(b[:])
	return nil
}
