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
	"github.com/cuzk-dev/cuzk/prover/internal/progresstest"
	"github.com/cuzk-dev/cuzk/prover/internal/samples"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

func TestOpenReadsRealKeys(t *testing.T) {
	for _, c := range samples.All(t) {
		t.Run(c.Name, func(t *testing.T) {
			k, err := zkey.Open(t.Context(), c.Key, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			circuit, err := circom.OpenConstraints(t.Context(), c.R1CS)
			if err != nil {
				t.Fatal(err)
			}
			type facts struct {
				Curve                      curve.ID
				Wires, Public, Constraints int
				Warnings                   []string
			}
			m := circuit.Matrices
			got := facts{k.Curve(), k.Wires(), k.Public(), k.Constraints(), k.Warnings()}
			want := facts{c.Curve, m.Wires, m.Public, m.Constraints, nil}
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
			checkBindingRows(t, fromKey, k.Public())
		})
	}
}

// Opening a key tells of the bytes of its points and coefficients, which the sections of the file hold; its digest tells of all.
func TestTellsWhatIsRead(t *testing.T) {
	for _, name := range []string{"bn128/multiplier", "bls12381/merkle16"} {
		data := ownKey(t, name)
		want := int64(-4) // the number of coefficients
		for _, id := range []uint32{3, 4, 5, 6, 7, 8, 9} {
			_, size := section(t, data, id)
			want += int64(size)
		}
		var opened, digested progresstest.Work
		k, err := zkey.Parse(t.Context(), name, data, opened.Tell)
		if err != nil {
			t.Fatal(err)
		}
		opened.Whole(t, want)
		if _, err := k.ComputeDigest(t.Context(), digested.Tell); err != nil {
			t.Fatal(err)
		}
		digested.Whole(t, int64(len(data)))
	}
}

// checkBindingRows checks the rows behind the constraints: wire s alone in A, nothing in B, for the one and each public
// input, as snarkjs appends them.
func checkBindingRows(t *testing.T, m *r1cs.Matrices, public int) {
	t.Helper()
	first := m.Constraints - public - 1
	for s := range public + 1 {
		a, coefficients := m.A.Row(first + s)
		b, _ := m.B.Row(first + s)
		if len(a) != 1 || a[0] != uint32(s) || len(b) != 0 {
			t.Errorf("row %d: A has wires %v and B %v, want %d and none", first+s, a, b, s)
			continue
		}
		one := []curve.Scalar{m.Coefficients[coefficients[0]]}
		m.Curve.FromMontgomery(one)
		if one[0] != (curve.Scalar{1}) {
			t.Errorf("row %d: the coefficient is %v, want 1", first+s, one[0])
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
	for id, dir := range samples.Malformed(t) {
		expect, err := os.Open(filepath.Join(dir, "EXPECT.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		defer expect.Close()
		for lines := bufio.NewScanner(expect); lines.Scan(); {
			name, verdict, _ := strings.Cut(lines.Text(), "\t")
			if !strings.HasPrefix(name, "z") {
				continue
			}
			t.Run(string(id)+"/"+name, func(t *testing.T) {
				path := filepath.Join(dir, name)
				k, err := zkey.Open(t.Context(), path, nil)
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

func TestVerifyingKeyIsThatOfSnarkjs(t *testing.T) {
	for _, c := range samples.All(t) {
		k, err := zkey.Open(t.Context(), c.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		vk, err := k.VerifyingKey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		got := [][]byte{vk.AlphaG1, vk.BetaG2, vk.GammaG2, vk.DeltaG2}
		for _, p := range vk.IC {
			got = append(got, p)
		}
		if diff := cmp.Diff(readVerifyingKeyJSON(t, c.Curve, c.VerifyingKey), got); diff != "" {
			t.Errorf("%s (-vk.json +zkey):\n%s", c.Name, diff)
		}
	}
}
