package zkey_test

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
)

// fixtures returns the folder of real files made by circom and snarkjs, or skips the test.
func fixtures(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("CUZK_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "fixtures")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no fixtures (set CUZK_FIXTURES to their folder): %v", err)
	}
	return dir
}

var folders = map[curve.ID]string{curve.BN254: "bn128", curve.BLS12381: "bls12381"}

// Each circuit's numbers, from `snarkjs r1cs info`.
var circuits = []struct {
	name                       string
	wires, public, constraints int
}{
	{"mulchain_1", 4, 2, 1},
	{"mulchain_1000", 1003, 2, 1000},
	{"no_public", 4, 0, 2},
	{"bits", 4081, 1, 4096},
	{"poseidon_merkle5", 2607, 1, 2612},
}

func TestOpenReadsRealKeys(t *testing.T) {
	dir := fixtures(t)
	for id, folder := range folders {
		for _, c := range circuits {
			t.Run(folder+"/"+c.name, func(t *testing.T) {
				base := filepath.Join(dir, "circom", folder, c.name)
				k, err := zkey.Open(t.Context(), filepath.Join(base, "circuit_final.zkey"))
				if err != nil {
					t.Fatal(err)
				}
				defer k.Close()
				circuit, err := circom.OpenConstraints(t.Context(), filepath.Join(base, c.name+".r1cs"))
				if err != nil {
					t.Fatal(err)
				}
				type facts struct {
					Curve                      curve.ID
					Wires, Public, Constraints int
					Warnings                   []string
				}
				got := facts{k.Curve(), k.Wires(), k.Public(), k.Constraints(), k.Warnings()}
				m := circuit.Matrices
				want := facts{id, m.Wires, m.Public, m.Constraints, nil}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the key's facts differ from its .r1cs (-r1cs +key):\n%s", diff)
				}
				fromKey, err := k.Matrices()
				if err != nil {
					t.Fatal(err)
				}
				if row, err := m.FirstDifferentRow(t.Context(), fromKey, m.Constraints); err != nil || row != -1 {
					t.Errorf("row %d of the key's matrices differs from its .r1cs (%v)", row, err)
				}
				if err := k.Check(t.Context(), nil); err != nil {
					t.Errorf("the full check refuses snarkjs's key: %v", err)
				}
			})
		}
	}
}

// wantError is what the message must say about each damaged file, beyond the file's name.
var wantError = map[string]string{
	"z01_empty.zkey":               "the file is empty",
	"z02_truncated_half.zkey":      "truncated",
	"z03_truncated_last_byte.zkey": "truncated",
	"z05_bad_magic.zkey":           `must begin with "zkey"`,
	"z06_version99.zkey":           "version 99",
	"z07_nsections_plus1.zkey":     "the number of sections is wrong",
	"z08_dup_section5.zkey":        "section 5 (A points) is there 2 times",
	"z09_missing_section9.zkey":    "section 9 (H points) is missing",
	"z10_section_size_2_63.zkey":   "says it has 9223372036854775808 bytes",
	"z11_domain_not_pow2.zkey":     "not a power of two",
	"z13_nvars_plus1.zkey":         "wires of",
	"z14_npublic_gt_nvars.zkey":    "public inputs do not fit",
	"z15_coef_row_oob.zkey":        "but the domain has only",
	"z17_coef_matrix2.zkey":        "belongs to matrix 2",
	"z18_ncoefs_too_big.zkey":      "section 4 (coefficients)",
	"z21_A0_x_ge_q.zkey":           "coordinate x of point 0 is not below the prime",
	"z23_protocol_plonk.zkey":      "protocol PLONK",
	"z24_unknown_prime.zkey":       "of no supported curve",
}

// wantWarning is what must be said about odd files that are read.
var wantWarning = map[string]string{
	"z04_trailing_garbage.zkey": "bytes follow the last section",
	"z20_A0_infinity.zkey":      "the point of public wire 0 is infinity",
}

func TestOpenJudgesDamagedKeysAsExpected(t *testing.T) {
	dir := fixtures(t)
	for _, folder := range folders {
		expect, err := os.Open(filepath.Join(dir, "malformed", folder, "EXPECT.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		defer expect.Close()
		for lines := bufio.NewScanner(expect); lines.Scan(); {
			name, verdict, _ := strings.Cut(lines.Text(), "\t")
			if !strings.HasPrefix(name, "z") {
				continue
			}
			t.Run(folder+"/"+name, func(t *testing.T) {
				path := filepath.Join(dir, "malformed", folder, name)
				k, err := zkey.Open(t.Context(), path)
				if strings.HasPrefix(verdict, "reject:") {
					expectError(t, err, path, wantError[name])
					return
				}
				if err != nil {
					t.Fatalf("%s, but Open says %v", verdict, err)
				}
				defer k.Close()
				if want, got := wantWarning[name], strings.Join(k.Warnings(), "\n"); (want == "") != (got == "") || !strings.Contains(got, want) {
					t.Errorf("warnings are %q, want %q", got, want)
				}
				if _, err := k.VerifyingKey(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func expectError(t *testing.T, err error, path, want string) {
	t.Helper()
	var e *failure.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error of class Key", err)
	}
	if want == "" || !strings.Contains(err.Error(), want) || e.Class != failure.Key || e.File != path {
		t.Errorf("the error is %q of class %s; want one of class Key that says %q and names the file", err, e.Class, want)
	}
}

// The points of the fixtures are those of snarkjs's own vk.json.
func TestVerifyingKeyIsThatOfSnarkjs(t *testing.T) {
	dir := fixtures(t)
	for id, folder := range folders {
		for _, c := range circuits {
			base := filepath.Join(dir, "circom", folder, c.name)
			k, err := zkey.Open(t.Context(), filepath.Join(base, "circuit_final.zkey"))
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			vk, err := k.VerifyingKey(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := readVerifyingKeyJSON(t, id, filepath.Join(base, "vk.json"))
			got := [][]byte{vk.AlphaG1, vk.BetaG2, vk.GammaG2, vk.DeltaG2}
			for _, p := range vk.IC {
				got = append(got, p)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s/%s (-vk.json +zkey):\n%s", folder, c.name, diff)
			}
			var _ groth16.KeySource = k
		}
	}
}
