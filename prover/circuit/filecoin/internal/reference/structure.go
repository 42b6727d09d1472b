// Package reference reads what the reference implementation tells of the structure of circuits, for tests.
package reference

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

// Structure is a line of the reference's file. Inputs count the one.
type Structure struct {
	Circuit     string `json:"circuit"`
	Inputs      int    `json:"num_inputs"`
	Aux         int    `json:"num_aux"`
	Constraints int    `json:"num_constraints"`
	A           int    `json:"nnz_a"`
	B           int    `json:"nnz_b"`
	C           int    `json:"nnz_c"`
	// ZeroTerms have the coefficient 0 and are in none of the counts.
	ZeroTerms int  `json:"zero_terms"`
	InA       int  `json:"pop_a_aux"`
	InputsInB int  `json:"pop_b_input"`
	OnlyOneB  bool `json:"b_input_one_only"`
	InB       int  `json:"pop_b_aux"`
	// DensityA and DensityB are digests of the bitmaps, Digest that of all entries; empty where the reference was not asked.
	DensityA string `json:"a_aux_density_sha256,omitempty"`
	DensityB string `json:"b_aux_density_sha256,omitempty"`
	Digest   string `json:"digest,omitempty"`
}

// Structures are the lines of the file; an unknown field fails the test.
func Structures(t *testing.T) []Structure {
	t.Helper()
	var out []Structure
	lines := bufio.NewScanner(bytes.NewReader(fixture.Read(t, "filecoin", "structure.jsonl")))
	for lines.Scan() {
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		var s Structure
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// IsGadget tells whether the line is about a hash alone.
func (want *Structure) IsGadget() bool {
	return strings.HasPrefix(want.Circuit, "poseidon_") || strings.HasPrefix(want.Circuit, "sha256_")
}

// Compare compares all fields.
func (want *Structure) Compare(t *testing.T, s *structure.Structure) {
	t.Helper()
	a, b := s.DensityA(), s.DensityB()
	entries := s.Entries()
	got := Structure{
		Circuit: want.Circuit, Inputs: s.Inputs, Aux: s.Aux, Constraints: s.Constraints,
		A: entries[0], B: entries[1], C: entries[2], InA: a.Count(), InB: b.Count(),
		// A recorder refuses inputs in B, but for the one, which every circuit has there.
		InputsInB: 1, OnlyOneB: true,
	}
	// Terms without effect are dropped when they are recorded. An update's first digest has one: 0 times the one.
	if strings.HasPrefix(want.Circuit, "snap_") {
		got.ZeroTerms = 1
	}
	if want.DensityA != "" {
		got.DensityA, got.DensityB = bitmapDigest(a.Bits()), bitmapDigest(b.Bits())
	}
	if want.Digest != "" {
		d, err := s.Digest(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Digest = hex.EncodeToString(d[:])
	}
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", want.Circuit, diff)
	}
}

func bitmapDigest(words []uint64) string {
	h := sha256.New()
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b[:0], w)
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}
