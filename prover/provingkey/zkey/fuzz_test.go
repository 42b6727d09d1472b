package zkey_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
)

// FuzzZkey damages small keys: the reader either names what is wrong or hands out a key whose parts agree.
func FuzzZkey(f *testing.F) {
	// The smallest keys give the most runs.
	for _, id := range curve.All {
		data := newTiny(id).bytes()
		f.Add(data, uint32(0), uint64(0), byte(8))
		// Sizes, counts and indices are what a damage hurts most.
		for _, id := range []uint32{1, 2, 3, 4, 5, 9} {
			offset, _ := section(f, data, id)
			f.Add(data, uint32(offset), uint64(1)<<63, byte(4))
			f.Add(data, uint32(offset-8), uint64(1)<<63, byte(8))
		}
		f.Add(data[:len(data)/2], uint32(8), uint64(3), byte(4))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value uint64, width byte) {
		// Mutations of a file rarely meet a number that matters, so each run sets one of its own.
		data = bytes.Clone(data)
		if i := int(at); i < len(data)-8 && width <= 8 {
			var number [8]byte
			binary.LittleEndian.PutUint64(number[:], value)
			copy(data[i:], number[:width])
		}
		k, err := zkey.Parse(t.Context(), "key", data, nil)
		if err != nil {
			var e *failure.Error
			if !errors.As(err, &e) || e.Class != failure.Key || e.File != "key" {
				t.Fatalf("an error without class or file: %v", err)
			}
			return
		}
		m, err := k.Matrices()
		if err != nil {
			t.Fatal(err)
		}
		if m.A.Entries()+m.B.Entries() != k.Coefficients() || m.A.Rows() != k.Rows() || k.Rows() > k.Domain() {
			t.Fatalf("matrices of %d and %d entries in %d rows from %d coefficients in %d rows", m.A.Entries(), m.B.Entries(),
				m.A.Rows(), k.Coefficients(), k.Rows())
		}
		if _, err := m.Digest(t.Context()); err != nil {
			t.Fatal(err)
		}
		for s, want := range map[groth16.Section]int{
			groth16.SectionA: k.Wires() * k.Curve().G1Bytes(), groth16.SectionB2: k.Wires() * k.Curve().G2Bytes(),
			groth16.SectionL: (k.Wires() - k.Public() - 1) * k.Curve().G1Bytes(), groth16.SectionH: k.Domain() * k.Curve().G1Bytes(),
		} {
			if points, err := k.Points(s); err != nil || len(points) != want {
				t.Fatalf("section %d has %d bytes (%v), want %d", s, len(points), err, want)
			}
		}
		_, _ = k.VerifyingKey(t.Context())
	})
}
