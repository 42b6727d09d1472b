package synthesis

import (
	"context"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/buffer"
)

// Assignment is a witness with a, b and c evaluated on it, for a backend that takes them whole. The rows that bellman adds
// for the inputs, input·0 = 0, are at their end.
type Assignment struct {
	groth16.Evaluated
	// Public are the public inputs, canonical, without the one.
	Public []curve.Scalar

	memory *buffer.Buffer
}

// Evaluate evaluates the constraints. The assignment must be freed before the witness is.
func Evaluate(ctx context.Context, s *structure.Structure, w *witness.Witness) (*Assignment, error) {
	rows := s.Constraints + s.Inputs
	memory, err := buffer.New(3 * rows)
	if err != nil {
		return nil, err
	}
	a := &Assignment{memory: memory}
	all := vector(a.memory.Scalars())
	x, y, z := all[:rows], all[rows:2*rows], all[2*rows:]
	n := s.Constraints
	if err := s.Evaluate(ctx, w, structure.Vectors{A: x[:n].elements(), B: y[:n].elements(), C: z[:n].elements()}); err != nil {
		memory.Free()
		return nil, err
	}
	copy(x[n:].elements(), w.Inputs)
	a.Evaluated = groth16.Evaluated{A: x, B: y, C: z, Witness: &wires{s, w}}
	for _, e := range w.Inputs[1:] {
		a.Public = append(a.Public, e.Bits())
	}
	return a, nil
}

// Free clears the assignment and gives its memory back, but for the witness.
func (a *Assignment) Free() { a.memory.Free() }

// vector is scalars in Montgomery form.
type vector []curve.Scalar

func (v vector) Len() int           { return len(v) }
func (v vector) Form() groth16.Form { return groth16.Montgomery }

func (v vector) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	copy(dst, v[offset:offset+len(dst)])
	return nil
}

// Scalars is the vector's memory, for backends that can take it without a copy. It must not be changed.
func (v vector) Scalars() []curve.Scalar { return v }

func (v vector) elements() []fr.Element { return elements(v) }

// elements views scalars as gnark-crypto's elements, which have the same memory layout.
func elements(s []curve.Scalar) []fr.Element {
	return unsafe.Slice((*fr.Element)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// wires is a witness as a vector: inputs, then variables.
type wires struct {
	structure *structure.Structure
	witness   *witness.Witness
}

func (w *wires) Len() int           { return w.structure.Inputs + w.structure.Aux }
func (w *wires) Form() groth16.Form { return groth16.Montgomery }

func (w *wires) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	out := elements(dst)
	if offset < len(w.witness.Inputs) {
		n := copy(out, w.witness.Inputs[offset:])
		out, offset = out[n:], offset+n
	}
	w.structure.Variables(w.witness, offset-len(w.witness.Inputs), out)
	return nil
}
