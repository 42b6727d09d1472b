package circom

import (
	"context"
	"encoding/binary"
	"math"
	"os"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/binfile"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

var constraintsFormat = binfile.Format{
	Magic:      "r1cs",
	Kind:       "circom constraint system",
	MaxVersion: 1,
	Class:      failure.Key,
	Sections:   map[uint32]string{1: "header", 2: "constraints", 3: "labels", 4: "custom gates", 5: "custom gates' use"},
}

// Constraints is a circuit as its .r1cs tells it.
type Constraints struct {
	// Matrices are A, B and C; public inputs are outputs and public inputs of the circuit, in this order.
	Matrices *r1cs.Matrices
	// Outputs, PublicInputs and PrivateInputs count the main component's signals by their kind.
	Outputs, PublicInputs, PrivateInputs int
	// Labels is the number of signals before simplification.
	Labels uint64
}

const (
	constraintHead = 3 * 4                  // three linear combinations' lengths
	termBytes      = 4 + curve.ScalarBytes  // wire and coefficient
	maxEntries     = uint64(math.MaxUint32) // of one matrix
)

// OpenConstraints reads a .r1cs. Errors are *failure.Error of class Key (its content), Usage or IO (the file itself).
func OpenConstraints(ctx context.Context, path string) (*Constraints, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ParseConstraints(ctx, path, file.Bytes())
}

// OpenConstraintsFile is OpenConstraints for a file that is open already.
func OpenConstraintsFile(ctx context.Context, f *os.File, name string) (*Constraints, error) {
	file, err := mapped.FromFile(f, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ParseConstraints(ctx, name, file.Bytes())
}

// ParseConstraints is OpenConstraints for a file in memory, which is not used any more once it returns.
func ParseConstraints(ctx context.Context, name string, data []byte) (*Constraints, error) {
	var c *Constraints
	err := mapped.Guard(func() (err error) { c, err = readConstraints(ctx, name, data); return err })
	if err != nil {
		return nil, failure.InFile(err, name)
	}
	return c, nil
}

func readConstraints(ctx context.Context, name string, data []byte) (*Constraints, error) {
	container, err := binfile.Parse(name, data, constraintsFormat)
	if err != nil {
		return nil, err
	}
	header, err := container.Section(1)
	if err != nil {
		return nil, err
	}
	body, err := container.Section(2)
	if err != nil {
		return nil, err
	}
	if err := refuseCustomGates(container); err != nil {
		return nil, err
	}
	c, err := readConstraintsHeader(header, body)
	if err != nil {
		return nil, err
	}
	if err := checkWires(container, header, c.Matrices.Wires, len(data)); err != nil {
		return nil, err
	}
	r := &constraintReader{section: body, data: body.Bytes(), curve: c.Matrices.Curve, wires: uint32(c.Matrices.Wires)}
	if err := r.read(ctx, c.Matrices); err != nil {
		return nil, err
	}
	return c, nil
}

// refuseCustomGates refuses PLONK's custom gates: what they constrain is not in the matrices.
func refuseCustomGates(container *binfile.Container) error {
	for _, id := range []uint32{4, 5} {
		if !container.Has(id) {
			continue
		}
		section, err := container.Section(id)
		if err != nil {
			return err
		}
		if n := section.Cursor().Uint32("the number of custom gates"); n > 0 {
			return section.Errorf(0, "the circuit uses custom gates (%d), which Groth16 cannot prove", n).
				WithFix("compile the circuit without custom templates")
		}
	}
	return nil
}

// checkWires bounds the number of wires by the file's size, so that what is allocated for it, here or later, is: the map
// of labels has eight bytes a wire. circom always writes it; without it, wires that occur take more than a byte each.
func checkWires(container *binfile.Container, header *binfile.Section, wires, size int) error {
	if !container.Has(3) {
		if wires > size {
			return header.Errorf(0, "the circuit has %d wires, more than the file has bytes", wires)
		}
		return nil
	}
	labels, err := container.Section(3)
	if err != nil {
		return err
	}
	return labels.Expect(8*uint64(wires), "8 for each of %d wires", wires)
}

func readConstraintsHeader(header, body *binfile.Section) (*Constraints, error) {
	cur := header.Cursor()
	id, err := readCurve(header, cur)
	if err != nil {
		return nil, err
	}
	at := cur.At()
	wires := cur.Uint32("the number of wires")
	outputs := cur.Uint32("the number of outputs")
	publicInputs := cur.Uint32("the number of public inputs")
	privateInputs := cur.Uint32("the number of private inputs")
	labels := cur.Uint64("the number of labels")
	n := cur.Uint32("the number of constraints")
	if err := cur.End(); err != nil {
		return nil, err
	}
	if wires == 0 {
		return nil, header.Errorf(at, "the circuit has no wires, but wire 0 is always there")
	}
	if sum := 1 + uint64(outputs) + uint64(publicInputs) + uint64(privateInputs); sum > uint64(wires) {
		return nil, header.Errorf(at+4, "the one, %d outputs, %d public and %d private inputs do not fit into %d wires",
			outputs, publicInputs, privateInputs, wires)
	}
	if uint64(n)*constraintHead > uint64(body.Len()) {
		return nil, body.Errorf(0, "has %d bytes, too few for the %d constraints of the header", body.Len(), n)
	}
	return &Constraints{
		Matrices: &r1cs.Matrices{Curve: id, Wires: int(wires), Public: int(outputs + publicInputs), Constraints: int(n)},
		Outputs:  int(outputs), PublicInputs: int(publicInputs), PrivateInputs: int(privateInputs), Labels: labels,
	}, nil
}

type constraintReader struct {
	section    *binfile.Section
	data       []byte
	at         int
	curve      curve.ID
	wires      uint32
	dictionary r1cs.Dictionary
}

func (r *constraintReader) read(ctx context.Context, m *r1cs.Matrices) error {
	matrices := [3]*r1cs.Matrix{}
	for i := range matrices {
		matrices[i] = &r1cs.Matrix{Start: make([]uint32, 1, m.Constraints+1)}
	}
	for i := range m.Constraints {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for j, x := range matrices {
			if err := r.combination(x, i, "ABC"[j:j+1]); err != nil {
				return err
			}
		}
	}
	if r.at != len(r.data) {
		return r.section.Errorf(r.at, "has %d bytes behind its %d constraints", len(r.data)-r.at, m.Constraints)
	}
	m.A, m.B, m.C = matrices[0], matrices[1], matrices[2]
	m.Coefficients = r.dictionary.Values()
	m.Curve.ToMontgomery(m.Coefficients)
	return nil
}

// combination reads one linear combination as the next row of x.
func (r *constraintReader) combination(x *r1cs.Matrix, constraint int, matrix string) error {
	left := len(r.data) - r.at
	if left < 4 {
		return r.section.Errorf(r.at, "ends before the combination %s", matrix).OnConstraint(int64(constraint))
	}
	n := binary.LittleEndian.Uint32(r.data[r.at:])
	if uint64(n)*termBytes > uint64(left-4) {
		return r.section.Errorf(r.at, "the combination %s says it has %d terms, but the section has only %d bytes more",
			matrix, n, left-4).OnConstraint(int64(constraint))
	}
	if uint64(len(x.Wire))+uint64(n) > maxEntries {
		return r.section.Errorf(r.at, "the matrix %s has more than %d entries", matrix, maxEntries)
	}
	terms := r.data[r.at+4 : r.at+4+int(n)*termBytes]
	for i := 0; i < len(terms); i += termBytes {
		wire := binary.LittleEndian.Uint32(terms[i:])
		if wire >= r.wires {
			return r.section.Errorf(r.at+4+i, "a term of %s is of wire %d, but there are only %d", matrix, wire, r.wires).
				OnConstraint(int64(constraint))
		}
		value := terms[i+4 : i+termBytes]
		if r.curve.FirstUnreducedScalar(value) >= 0 {
			return r.section.Errorf(r.at+8+i, "a coefficient of %s is not below r (not canonical)", matrix).
				OnConstraint(int64(constraint))
		}
		x.Wire = append(x.Wire, wire)
		x.Coefficient = append(x.Coefficient, r.dictionary.Number(curve.Load[curve.Scalar](value)))
	}
	r.at += 4 + len(terms)
	x.Start = append(x.Start, uint32(len(x.Wire)))
	return nil
}
