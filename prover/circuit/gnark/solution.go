package gnark

import (
	"context"
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// Solution is the values of all wires of a circuit, solved by the program that has the circuit's hints. It is what
//
//	solution, err := ccs.Solve(witness)
//	_, err = solution.(io.WriterTo).WriteTo(file)
//
// writes with gnark: a big-endian 32-bit number of wires and as many big-endian canonical values, the one first. The
// vectors A, B and C that gnark writes behind them may be there or not; they are computed again.
//
// The values are secret: no error tells any.
type Solution struct {
	name     string
	file     *mapped.File
	id       curve.ID
	wires    int
	elements []byte
}

const fixSolution = "hand in the file that gnark's R1CSSolution.WriteTo, or WriteTo of its vector W, wrote"

// OpenSolution maps a solution and checks its lengths, that each value is below r of the curve, which the file does not
// tell, and that the first is 1. Errors are of class Input.
func OpenSolution(ctx context.Context, path string, id curve.ID) (*Solution, error) {
	f, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := ParseSolution(ctx, path, f.Bytes(), id)
	if err != nil {
		_ = f.Close() // Why the solution cannot be used matters more.
		return nil, err
	}
	s.file = f
	return s, nil
}

// ParseSolution is OpenSolution for a solution in memory, which must not change until Close. The name is for messages.
func ParseSolution(ctx context.Context, name string, data []byte, id curve.ID) (*Solution, error) {
	s := &Solution{name: name, id: id}
	if err := mapped.Guard(func() error { return s.parse(data) }); err != nil {
		return nil, err
	}
	if err := checkElements(ctx, s.elements, id, s.name, "wires", 4); err != nil {
		return nil, err
	}
	if one := bigEndianScalar(s.elements); one != (curve.Scalar{1}) {
		return nil, failure.New(failure.Input, "wire 0 is not 1").In(name).At("wires", 4).WithFix("%s", fixSolution)
	}
	return s, nil
}

func (s *Solution) parse(data []byte) error {
	vectors := []string{"wires", "A", "B", "C"}
	at := uint64(0)
	var lengths []uint64
	for _, vector := range vectors {
		left := uint64(len(data)) - at
		if len(lengths) == 1 && left == 0 {
			break // The wires alone.
		}
		if left < 4 {
			return failure.New(failure.Input, "the file ends inside a length").In(s.name).At(vector, int64(at)).WithFix("%s", fixSolution)
		}
		n := uint64(binary.BigEndian.Uint32(data[at:]))
		if n > (left-4)/curve.ScalarBytes {
			return failure.New(failure.Input, "%d values are claimed, but the file has only %d bytes more: it is truncated, or is no solution", n, left-4).
				In(s.name).At(vector, int64(at)).WithFix("%s", fixSolution)
		}
		lengths = append(lengths, n)
		at += 4 + n*curve.ScalarBytes
	}
	if left := uint64(len(data)) - at; left > 0 {
		return failure.New(failure.Input, "%d bytes follow the end of the solution", left).In(s.name).At("end", int64(at)).WithFix("%s", fixSolution)
	}
	if lengths[0] == 0 {
		return failure.New(failure.Input, "it has no wires").In(s.name).At("wires", 0).WithFix("%s", fixSolution)
	}
	s.wires = int(lengths[0])
	s.elements = data[4 : 4+s.wires*curve.ScalarBytes]
	return nil
}

// Name is the path of the file.
func (s *Solution) Name() string { return s.name }

// Wires counts all wires with the one.
func (s *Solution) Wires() int { return s.wires }

func (s *Solution) fits(sys *System) error {
	if s.id != sys.Curve {
		return failure.New(failure.Internal, "the solution was read for %s, but the constraint system is for %s", s.id, sys.Curve).In(s.name)
	}
	if s.wires != sys.Wires() {
		return failure.New(failure.Input, "it has %d wires, but the constraint system %s has %d", s.wires, sys.name, sys.Wires()).
			In(s.name).At("wires", 0).WithFix("hand in a solution of this circuit")
	}
	return nil
}

// Close unmaps the file.
func (s *Solution) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
