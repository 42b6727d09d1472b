// Package circom is the front end for circuits compiled by circom: it reads their constraints (.r1cs) and witnesses
// (.wtns), and computes witnesses from inputs (input.json) with the circuit's WebAssembly program.
package circom

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/binfile"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

var witnessFormat = binfile.Format{
	Magic:      "wtns",
	Kind:       "circom witness",
	MaxVersion: 2,
	Class:      failure.Input,
	Sections:   map[uint32]string{1: "header", 2: "witness"},
}

// scanElements is how many elements one step of a scan takes.
const scanElements = 1 << 15

// Witness is a value for each wire of a circuit: wire 0 (the one), outputs, public inputs, then the rest. Elements are
// canonical. It is safe for concurrent use until Close.
type Witness struct {
	name  string
	curve curve.ID
	raw   []byte // little-endian elements, back to back
	file  *mapped.File
	owned bool // raw is ours to clear
}

var _ groth16.Vector = (*Witness)(nil)

// OpenWitness maps a .wtns and checks it: structure, prime, that every element is below r, and that element 0 is 1.
// Errors are *failure.Error of class Input (its content), Usage or IO (the file itself).
func OpenWitness(ctx context.Context, path string) (*Witness, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	return openWitness(ctx, path, file)
}

// OpenWitnessFile is OpenWitness for a file that is open already; the caller may close it afterwards.
func OpenWitnessFile(ctx context.Context, f *os.File, name string) (*Witness, error) {
	file, err := mapped.FromFile(f, name)
	if err != nil {
		return nil, err
	}
	return openWitness(ctx, name, file)
}

func openWitness(ctx context.Context, name string, file *mapped.File) (*Witness, error) {
	w, err := ParseWitness(ctx, name, file.Bytes())
	if err != nil {
		file.Close()
		return nil, err
	}
	w.file = file
	return w, nil
}

// ParseWitness is OpenWitness for a witness in memory, which must stay unchanged until Close; name is for messages.
func ParseWitness(ctx context.Context, name string, data []byte) (*Witness, error) {
	w := &Witness{name: name}
	var section *binfile.Section
	err := mapped.Guard(func() (err error) { section, err = w.readStructure(data); return err })
	if err == nil {
		w.raw = section.Bytes()
		err = w.check(ctx, section.Errorf)
	}
	if err != nil {
		return nil, failure.InFile(err, name)
	}
	return w, nil
}

func (w *Witness) readStructure(data []byte) (*binfile.Section, error) {
	c, err := binfile.Parse(w.name, data, witnessFormat)
	if err != nil {
		return nil, err
	}
	header, err := c.Section(1)
	if err != nil {
		return nil, err
	}
	cur := header.Cursor()
	if w.curve, err = readCurve(header, cur); err != nil {
		return nil, err
	}
	n := cur.Uint32("the number of elements")
	if err := cur.End(); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, header.Errorf(cur.At()-4, "the witness has no elements, but element 0 (the one) is always there")
	}
	values, err := c.Section(2)
	if err != nil {
		return nil, err
	}
	return values, values.Expect(uint64(n)*curve.ScalarBytes, "%d elements of %d bytes each", n, curve.ScalarBytes)
}

// readCurve reads a length and a scalar field's prime, as .wtns and .r1cs begin, and finds the curve.
func readCurve(s *binfile.Section, cur *binfile.Cursor) (curve.ID, error) {
	size := cur.Uint32("the size of the prime")
	if cur.Err() == nil && size != curve.ScalarBytes {
		return "", s.Errorf(0, "field elements of %d bytes belong to no supported curve", size).
			WithFix("compile the circuit with --prime bn128 or --prime bls12381")
	}
	b := slices.Clone(cur.Bytes(int(size), "the prime"))
	if cur.Err() != nil {
		return "", cur.Err()
	}
	slices.Reverse(b)
	prime := new(big.Int).SetBytes(b)
	id, ok := curve.FromScalarModulus(prime)
	if !ok {
		return "", s.Errorf(4, "the prime %s is the scalar field of no supported curve", prime).
			WithFix("compile the circuit with --prime bn128 or --prime bls12381")
	}
	return id, nil
}

// check checks the elements; errorf makes an error about the byte at an offset in them.
func (w *Witness) check(ctx context.Context, errorf func(offset int, msg string, args ...any) *failure.Error) error {
	err := parallel.Ranges(ctx, w.Len(), scanElements, func(start, end int) error {
		raw := w.raw[start*curve.ScalarBytes : end*curve.ScalarBytes]
		if i := w.curve.FirstUnreducedScalar(raw); i >= 0 {
			i += start
			return errorf(i*curve.ScalarBytes, "element %d is not below the field's prime r (not canonical)", i).
				WithFix("compute the witness again")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return mapped.Guard(func() error {
		if w.at(0) != (curve.Scalar{1}) {
			return errorf(0, "element 0 must be 1: wire 0 is the constant one").
				WithFix("compute the witness again; the file is not a witness of a circom circuit, or it is damaged")
		}
		return nil
	})
}

func (w *Witness) at(i int) curve.Scalar {
	return curve.Load[curve.Scalar](w.raw[i*curve.ScalarBytes:])
}

// Name is the file's path, or what the witness was made from.
func (w *Witness) Name() string { return w.name }

// Curve is the curve whose scalar field the elements are of.
func (w *Witness) Curve() curve.ID { return w.curve }

// Len is the number of elements, which is the number of the circuit's wires.
func (w *Witness) Len() int { return len(w.raw) / curve.ScalarBytes }

// Form is groth16.Canonical.
func (w *Witness) Form() groth16.Form { return groth16.Canonical }

// Read fills dst with the elements from offset on.
func (w *Witness) Read(ctx context.Context, offset int, dst []curve.Scalar) error {
	if offset < 0 || offset > w.Len() || len(dst) > w.Len()-offset {
		return fmt.Errorf("elements %d to %d of a witness of %d are asked for", offset, offset+len(dst), w.Len())
	}
	return failure.InFile(parallel.Ranges(ctx, len(dst), scanElements, func(start, end int) error {
		for i := start; i < end; i++ {
			dst[i] = w.at(offset + i)
		}
		return nil
	}), w.name)
}

// Public returns the first n signals behind the one, canonical: a circuit's public outputs and inputs.
func (w *Witness) Public(ctx context.Context, n int) ([]curve.Scalar, error) {
	if n < 0 || n >= w.Len() {
		return nil, failure.New(failure.Input, "has %d elements, too few for %d public signals and the one", w.Len(), n).In(w.name)
	}
	out := make([]curve.Scalar, n)
	return out, w.Read(ctx, 1, out)
}

// Close unmaps the file, or clears the memory of a witness that was computed here: a witness is often secret.
func (w *Witness) Close() error {
	if w.owned {
		clear(w.raw)
	}
	w.raw = nil
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}
