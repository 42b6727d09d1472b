package zkey_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/samples"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
)

// ownKey returns the bytes of one of our keys.
func ownKey(t testing.TB, name string) []byte {
	t.Helper()
	for _, c := range samples.Own(t) {
		if c.Name == name {
			data, err := os.ReadFile(c.Key)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	t.Fatalf("no circuit %s", name)
	return nil
}

// section finds a section by walking the file, independently of the reader under test.
func section(t testing.TB, data []byte, id uint32) (offset, size int) {
	t.Helper()
	for at := 12; at < len(data); {
		length := int(binary.LittleEndian.Uint64(data[at+4:]))
		if binary.LittleEndian.Uint32(data[at:]) == id {
			return at + 12, length
		}
		at += 12 + length
	}
	t.Fatalf("no section %d", id)
	return 0, 0
}

func TestCheckAcceptsRealKeys(t *testing.T) {
	for _, c := range samples.Own(t) {
		k, err := zkey.Open(t.Context(), c.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		var last, total int64
		if err := k.Check(t.Context(), func(done, of int64) {
			if done <= last || done > of {
				t.Errorf("%s: progress goes from %d to %d of %d", c.Name, last, done, of)
			}
			last, total = done, of
		}); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		want := int64(k.Public() + 1 + 3*k.Wires() + k.Wires() - k.Public() - 1 + k.Domain())
		if last != want || total != want {
			t.Errorf("%s: progress ends at %d of %d, want %d", c.Name, last, total, want)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckNamesTheBadPoint(t *testing.T) {
	data := ownKey(t, "bls12381/multiplier")
	var x fp.Element
	x.SetUint64(99)
	jac1, jac2 := bls12381.GeneratePointNotInG1(x), bls12381.GeneratePointNotInG2(bls12381.E2{A0: x, A1: x})
	var g1 bls12381.G1Affine
	var g2 bls12381.G2Affine
	g1.FromJacobian(&jac1)
	g2.FromJacobian(&jac2)
	for name, c := range map[string]struct {
		section uint32
		index   int
		point   []byte
		want    error
		label   string
	}{
		"A off the curve":     {5, 3, append(make([]byte, 88), 1, 0, 0, 0, 0, 0, 0, 0), curve.ErrNotOnCurve, "section 5 (A points)"},
		"B2 not in the group": {7, 50, curve.Store(&g2), curve.ErrNotInSubgroup, "section 7 (B2 points)"},
		"H not in the group":  {9, 127, curve.Store(&g1), curve.ErrNotInSubgroup, "section 9 (H points)"},
		"L off the curve":     {8, 0, append(make([]byte, 88), 1, 0, 0, 0, 0, 0, 0, 0), curve.ErrNotOnCurve, "section 8 (L points)"},
		"IC not in the group": {3, 2, curve.Store(&g1), curve.ErrNotInSubgroup, "section 3 (IC)"},
		"B1 not in the group": {6, 102, curve.Store(&g1), curve.ErrNotInSubgroup, "section 6 (B1 points)"},
	} {
		damaged := bytes.Clone(data)
		offset, _ := section(t, damaged, c.section)
		offset += c.index * len(c.point)
		copy(damaged[offset:], c.point)
		k, err := zkey.Parse(t.Context(), "key", damaged, nil)
		if err != nil {
			t.Fatalf("%s: the cheap checks refuse it: %v", name, err)
		}
		err = k.Check(t.Context(), nil)
		var e *failure.Error
		if !errors.As(err, &e) || !errors.Is(err, c.want) || e.Class != failure.Key || e.Section != c.label || e.Offset != int64(offset) ||
			e.File != "key" {
			t.Errorf("%s: got %v, want %v in %s at offset %d", name, err, c.want, c.label, offset)
		}
		if _, err := k.VerifyingKey(t.Context()); (err != nil) != (c.section == 3) {
			t.Errorf("%s: the verifying key gives %v", name, err)
		}
	}
}

func TestCheckEndsWhenCancelled(t *testing.T) {
	k, err := zkey.Parse(t.Context(), "key", ownKey(t, "bn128/multiplier"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Check(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestOpenRefusesBadVertices(t *testing.T) {
	data := ownKey(t, "bls12381/multiplier")
	header, size := section(t, data, 2)
	points := header + size - 3*96 - 3*192
	for name, c := range map[string]struct {
		offset, size int
	}{
		"alpha in G1": {0, 96}, "beta in G1": {96, 96}, "beta in G2": {192, 192}, "gamma in G2": {384, 192},
		"delta in G1": {576, 96}, "delta in G2": {672, 192},
	} {
		infinite, off, unreduced := bytes.Clone(data), bytes.Clone(data), bytes.Clone(data)
		clear(infinite[points+c.offset:][:c.size])
		off[points+c.offset] ^= 1
		for i := range 8 {
			unreduced[points+c.offset+40+i] = 0xff
		}
		for what, damaged := range map[string][]byte{"infinity": infinite, "not on the curve": off, "not below": unreduced} {
			_, err := zkey.Parse(t.Context(), "key", damaged, nil)
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: got %v, want an error that says %q", name, err, what)
			}
		}
	}
}

func TestDigestIsSHA256OfTheFile(t *testing.T) {
	data := ownKey(t, "bn128/merkle3")
	path := filepath.Join(t.TempDir(), "key.zkey")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := zkey.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if k.Digest() != [32]byte{} {
		t.Error("there is a digest before it was computed")
	}
	if _, err := k.ComputeDigest(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sha256.Sum256(data), k.Digest()); diff != "" {
		t.Errorf("(-sha256 +digest):\n%s", diff)
	}
}

// A file that shrinks under a key must be an error of each call that reads it, not the end of the process.
func TestAShrinkingFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.zkey")
	if err := os.WriteFile(path, ownKey(t, "bls12381/merkle16"), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := zkey.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if !k.Resident() {
		t.Skip("this platform reads files instead of mapping them")
	}
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	_, matrices := k.Matrices()
	_, digest := k.ComputeDigest(t.Context(), nil)
	for what, err := range map[string]error{"Matrices": matrices, "ComputeDigest": digest, "Check": k.Check(t.Context(), nil)} {
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.IO || e.File != path {
			t.Errorf("%s: got %v, want an IO error that names the file", what, err)
		}
	}
}
