package circom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/samples"
)

// expectFailure checks that an error of a reader has its class and names the file.
func expectFailure(t *testing.T, err error, class failure.Class, file string) {
	t.Helper()
	var e *failure.Error
	if !errors.As(err, &e) || e.Class != class || e.File != file {
		t.Fatalf("an error without its class (%s) or file: %v", class, err)
	}
}

// damaged sets a number somewhere in a file, since mutations of a long file rarely meet a number that matters.
func damaged(data []byte, at uint32, value uint64, width byte) []byte {
	data = bytes.Clone(data)
	if i := int(at); i < len(data)-8 && width <= 8 {
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], value)
		copy(data[i:], number[:width])
	}
	return data
}

// addSeeds adds a file, and what becomes of it when its first numbers are large.
func addSeeds(f *testing.F, data []byte) {
	f.Add(data, uint32(1<<31), uint64(0), byte(0))
	for at := uint32(4); at < 100; at += 4 {
		f.Add(data, at, uint64(1)<<63|uint64(at), byte(4))
	}
}

func FuzzWtns(f *testing.F) {
	for _, id := range curve.All {
		header := slices.Concat(words(32), littleEndian(id.ScalarModulus()), words(3))
		values := slices.Concat(littleEndian(big.NewInt(1)), littleEndian(big.NewInt(7)), littleEndian(big.NewInt(8)))
		addSeeds(f, container("wtns", 2, filePart{1, header}, filePart{2, values}))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value uint64, width byte) {
		w, err := ParseWitness(t.Context(), "witness", damaged(data, at, value, width))
		if err != nil {
			expectFailure(t, err, failure.Input, "witness")
			return
		}
		all := make([]curve.Scalar, w.Len())
		if err := w.Read(t.Context(), 0, all); err != nil {
			t.Fatal(err)
		}
		if all[0] != (curve.Scalar{1}) {
			t.Fatalf("element 0 is %v", all[0])
		}
		r := w.Curve().ScalarModulus()
		for i, s := range all {
			if curve.ScalarToBig(s).Cmp(r) >= 0 {
				t.Fatalf("element %d is not below r", i)
			}
		}
	})
}

func FuzzR1CS(f *testing.F) {
	for _, id := range curve.All {
		head, body := filePart{1, header(id, 4, 1, 0, 2, 4, 0, 1)}, filePart{2, oneConstraint(id)}
		addSeeds(f, container("r1cs", 1, body, head))
		addSeeds(f, container("r1cs", 1, head, body, filePart{3, make([]byte, 32)}))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value uint64, width byte) {
		c, err := ParseConstraints(t.Context(), "circuit", damaged(data, at, value, width))
		if err != nil {
			expectFailure(t, err, failure.Key, "circuit")
			return
		}
		m := c.Matrices
		if m.A.Rows() != m.Constraints || m.B.Rows() != m.Constraints || m.C.Rows() != m.Constraints {
			t.Fatalf("%d, %d and %d rows for %d constraints", m.A.Rows(), m.B.Rows(), m.C.Rows(), m.Constraints)
		}
		if _, err := m.Digest(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := make([]curve.Scalar, m.Wires)
		w[0] = curve.Scalar{1}
		if err := m.Satisfied(t.Context(), w); err != nil && failure.ClassOf(err) != failure.Input {
			t.Fatal(err)
		}
	})
}

func FuzzInputJSON(f *testing.F) {
	for _, c := range samples.Own(f) {
		data, err := os.ReadFile(c.Input)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"a": [[-1, "0x1f"], [true, 12345678901234567890123]], "b": {"c": [{"d": 1}]}}`))
	f.Add([]byte(`{"a": 1e5, "a": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := ParseInput("input", data)
		if err != nil {
			expectFailure(t, err, failure.Input, "input")
			return
		}
		seen := make(map[string]bool)
		for _, s := range in.signals {
			if seen[s.name] {
				t.Fatalf("signal %q is there twice", s.name)
			}
			seen[s.name] = true
			for _, x := range s.values {
				if x == nil || x.BitLen() > 4*maxDigits {
					t.Fatalf("signal %q has no value, or one of too many digits", s.name)
				}
			}
		}
	})
}

func FuzzWasm(f *testing.F) {
	f.Add(program{imports: imports}.assemble())
	f.Add(wasmSection(1, leb128(1<<32-1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		module, err := boundedModule("circuit", data)
		if err != nil {
			expectFailure(t, err, failure.Key, "circuit")
			return
		}
		// What passes has no more in it, and bounding it again changes nothing.
		again, err := boundedModule("circuit", module)
		if err != nil || !bytes.Equal(module, again) || len(module) > len(data) {
			t.Fatalf("bounding twice differs: %v", err)
		}
		g, err := ParseGenerator(t.Context(), "circuit", data, GeneratorOptions{MemoryBytes: wasmPage})
		if err != nil {
			expectFailure(t, err, failure.Key, "circuit")
			return
		}
		g.Close()
	})
}
