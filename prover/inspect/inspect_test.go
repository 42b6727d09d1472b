package inspect_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/inspect"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

func n(v int) *int { return &v }

// The counts are those that snarkjs's r1cs info and gnark print for these circuits; 1001 constraints are 1000 steps and
// the output's.
func TestFile(t *testing.T) {
	for _, c := range []struct {
		path  []string
		curve curve.ID
		want  inspect.Report
	}{
		{[]string{"circom", "bn128", "mulchain_1000", "circuit_final.zkey"}, "", inspect.Report{Kind: inspect.Zkey, Curve: curve.BN254,
			Circuit: &inspect.Circuit{Constraints: n(1000), Wires: n(1003), PublicInputs: n(2), DomainSize: n(1024)}}},
		{[]string{"circom", "bls12381", "mulchain_1000", "mulchain_1000.r1cs"}, "", inspect.Report{Kind: inspect.R1CS, Curve: curve.BLS12381,
			Circuit: &inspect.Circuit{Constraints: n(1000), Wires: n(1003), PublicInputs: n(2), Outputs: n(1), PrivateInputs: n(1)}}},
		{[]string{"circom", "bls12381", "bits", "witness.wtns"}, "", inspect.Report{Kind: inspect.Wtns, Curve: curve.BLS12381, Elements: n(4081)}},
		{[]string{"circom", "bn128", "bits", "vk.json"}, "", inspect.Report{Kind: inspect.SnarkjsVerifyingKey, Curve: curve.BN254, Circuit: &inspect.Circuit{PublicInputs: n(1)}}},
		{[]string{"circom", "bn128", "bits", "proof.json"}, "", inspect.Report{Kind: inspect.SnarkjsProof, Curve: curve.BN254}},
		{[]string{"circom", "inputs", "sha256_512.json"}, "", inspect.Report{Kind: inspect.CircomInput, Elements: n(1)}},
		{[]string{"gnark", "bn254", "mulchain_1000", "pk.bin"}, "", inspect.Report{Kind: inspect.GnarkProvingKey, Curve: curve.BN254, Encoding: "compressed",
			Circuit: &inspect.Circuit{Wires: n(1004), PublicInputs: n(2), DomainSize: n(1024), Commitments: n(0)}}},
		{[]string{"gnark", "bls12_381", "mulchain_1000", "pk.raw.bin"}, "", inspect.Report{Kind: inspect.GnarkProvingKey, Curve: curve.BLS12381, Encoding: "raw",
			Circuit: &inspect.Circuit{Wires: n(1004), PublicInputs: n(2), DomainSize: n(1024), Commitments: n(0)}}},
		{[]string{"gnark", "bls12_381", "mulchain_1000", "pk.dump.bin"}, "", inspect.Report{Kind: inspect.GnarkProvingKey, Curve: curve.BLS12381, Encoding: "dump",
			Circuit: &inspect.Circuit{Wires: n(1004), PublicInputs: n(2), DomainSize: n(1024), Commitments: n(0)}}},
		{[]string{"gnark", "bn254", "mulchain_1000", "ccs.bin"}, "", inspect.Report{Kind: inspect.GnarkConstraints, Curve: curve.BN254, GnarkVersion: "0.14.0",
			Circuit: &inspect.Circuit{Constraints: n(1001), Wires: n(1004), PublicInputs: n(2), PrivateInputs: n(1), Commitments: n(0)}}},
		{[]string{"gnark", "bls12_381", "mulchain_1000", "vk.bin"}, "", inspect.Report{Kind: inspect.GnarkVerifyingKey, Curve: curve.BLS12381, Encoding: "compressed",
			Circuit: &inspect.Circuit{PublicInputs: n(2), Commitments: n(0)}}},
		{[]string{"gnark", "bn254", "mulchain_1000", "proof.raw.bin"}, "", inspect.Report{Kind: inspect.GnarkProof, Curve: curve.BN254, Encoding: "raw",
			Circuit: &inspect.Circuit{Commitments: n(0)}}},
		{[]string{"gnark", "bn254", "mulchain_1000", "witness.bin"}, curve.BN254, inspect.Report{Kind: inspect.GnarkWitness, Curve: curve.BN254, Elements: n(3),
			Circuit: &inspect.Circuit{PublicInputs: n(2), PrivateInputs: n(1)}}},
	} {
		t.Run(strings.Join(c.path, "/"), func(t *testing.T) {
			path := fixture.Path(t, c.path...)
			got, err := inspect.File(context.Background(), path, inspect.Options{Curve: c.curve})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(got.Digests.SHA256, "sha256:") || !strings.HasPrefix(got.Digests.BLAKE2, "blake2b-512:") {
				t.Errorf("digests %+v", got.Digests)
			}
			if got.Circuit != nil {
				got.Circuit.Entries = nil
			}
			c.want.File, c.want.Format, c.want.SizeBytes = path, c.want.Kind.Title(), got.SizeBytes
			c.want.Digests, c.want.Sections, c.want.PublicInputs = got.Digests, got.Sections, got.PublicInputs
			if d := cmp.Diff(&c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// The digests of a whole file are those in the fixtures' manifest.
func TestDigestsAreThoseOfTheManifest(t *testing.T) {
	manifest := string(fixture.Read(t, "MANIFEST.tsv"))
	name := filepath.Join("circom", "bn128", "bits", "circuit_final.zkey")
	got, err := inspect.File(context.Background(), fixture.Path(t, name), inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := strings.TrimPrefix(got.Digests.SHA256, "sha256:")
	for line := range strings.Lines(manifest) {
		if strings.Contains(line, name) {
			if !strings.Contains(line, sum) {
				t.Errorf("digest %s, the manifest says %s", sum, line)
			}
			return
		}
	}
	t.Skip("the manifest does not list the file")
}

func TestPublicInputsOfAWitnessAreNotShown(t *testing.T) {
	path := fixture.Path(t, "gnark", "bn254", "mulchain_1000", "witness.bin")
	got, err := inspect.File(context.Background(), path, inspect.Options{Curve: curve.BN254})
	if err != nil || got.PublicInputs != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCheckIsRememberedByDigest(t *testing.T) {
	ctx := context.Background()
	memory := inspect.NewMemory(t.TempDir())
	path := filepath.Join(t.TempDir(), "circuit.zkey")
	data := fixture.Read(t, "circom", "bls12381", "mulchain_1", "circuit_final.zkey")
	check := func() (*inspect.Report, error) {
		return inspect.File(ctx, path, inspect.Options{Check: true, SkipDigests: true, Memory: memory})
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, remembered := range []bool{false, true} {
		got, err := check()
		if err != nil {
			t.Fatal(err)
		}
		if !got.Check.OK || got.Check.Remembered != remembered || got.Check.Points == 0 {
			t.Errorf("check %d: %+v", i, got.Check)
		}
	}
	// Another content at the same path is looked at: the first point of the last section becomes one that is not on
	// the curve, with coordinates below the prime.
	other := append([]byte(nil), data...)
	at := lastSection(t, other, 9)
	for i := range 96 {
		other[at+i] = 0
	}
	other[at] = 1
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := check()
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Key || !strings.Contains(e.Section, "section 9") || e.Offset != int64(at) {
			t.Errorf("got %v, want section 9 at offset %d", err, at)
		}
	}
}

// lastSection finds where a section's content begins: id, size, content.
func lastSection(t *testing.T, data []byte, id byte) int {
	t.Helper()
	for at := 12; at+12 <= len(data); {
		size := 0
		for i := 7; i >= 0; i-- {
			size = size<<8 | int(data[at+4+i])
		}
		if data[at] == id {
			return at + 12
		}
		at += 12 + size
	}
	t.Fatalf("no section %d", id)
	return 0
}

func TestUnknownFiles(t *testing.T) {
	for name, data := range map[string]string{
		"empty": "", "text": "hello, world", "JSON text": `"hello"`, "half JSON": `{"vk_alpha_1": [`, "zeros": string(make([]byte, 1000)),
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := inspect.File(context.Background(), path, inspect.Options{})
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("zkey\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(`{"pi_a": []}`))
	f.Add([]byte(`["1", "2"]`))
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := inspect.File(context.Background(), path, inspect.Options{Check: true})
		if err != nil && failure.ClassOf(err) == failure.Internal {
			t.Errorf("an error without a class: %v", err)
		}
	})
}
