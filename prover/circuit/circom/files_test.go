package circom_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/samples"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
)

func readAll(t *testing.T, w *circom.Witness) []curve.Scalar {
	t.Helper()
	out := make([]curve.Scalar, w.Len())
	if err := w.Read(t.Context(), 0, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWitnessesSatisfyTheirConstraints(t *testing.T) {
	for _, c := range samples.All(t) {
		t.Run(c.Name, func(t *testing.T) {
			circuit, err := circom.OpenConstraints(t.Context(), c.R1CS)
			if err != nil {
				t.Fatal(err)
			}
			w, err := circom.OpenWitness(t.Context(), c.Witness)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if w.Curve() != c.Curve || circuit.Matrices.Curve != c.Curve {
				t.Errorf("the witness is on %s and the constraints on %s, want %s", w.Curve(), circuit.Matrices.Curve, c.Curve)
			}
			values := readAll(t, w)
			if err := circuit.Matrices.Satisfied(t.Context(), values); err != nil {
				t.Errorf("circom's own witness: %v", err)
			}
			values[len(values)-1][0] ^= 1
			var e *failure.Error
			if err := circuit.Matrices.Satisfied(t.Context(), values); !errors.As(err, &e) || e.Constraint < 0 {
				t.Errorf("a changed witness gives %v, want an error that names the constraint", err)
			}
			if c.Public != "" {
				checkPublic(t, w, circuit.Matrices.Public, c.Public)
			}
		})
	}
}

func checkPublic(t *testing.T, w *circom.Witness, n int, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	public, err := w.Public(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, s := range public {
		got = append(got, curve.ScalarToBig(s).String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("public signals (-snarkjs +witness):\n%s", diff)
	}
}

var wantError = map[string]string{
	"w01_empty.wtns":       "the file is empty",
	"w02_truncated.wtns":   "truncated",
	"w03_count_plus1.wtns": "elements of 32 bytes each",
	"w04_elem_plus_r.wtns": "is not below the field's prime r (not canonical)",
	"w09_version3.wtns":    "version 3",
	"w10_wrong_prime.wtns": "the scalar field of no supported curve",
	"w12_all_zero.wtns":    "element 0 must be 1",
}

func TestOpenWitnessJudgesDamagedFilesAsExpected(t *testing.T) {
	for id, dir := range samples.Malformed(t) {
		expect, err := os.Open(filepath.Join(dir, "EXPECT.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		defer expect.Close()
		for lines := bufio.NewScanner(expect); lines.Scan(); {
			name, verdict, _ := strings.Cut(lines.Text(), "\t")
			if !strings.HasPrefix(name, "w") {
				continue
			}
			t.Run(string(id)+"/"+name, func(t *testing.T) {
				path := filepath.Join(dir, name)
				w, err := circom.OpenWitness(t.Context(), path)
				if strings.HasPrefix(verdict, "valid") {
					if err != nil {
						t.Fatalf("%s, but OpenWitness says %v", verdict, err)
					}
					if err := w.Close(); err != nil {
						t.Error(err)
					}
					return
				}
				var e *failure.Error
				want := wantError[name]
				if !errors.As(err, &e) || want == "" || !strings.Contains(err.Error(), want) || e.Class != failure.Input || e.File != path {
					t.Errorf("got %v, want an input error that says %q and names the file", err, want)
				}
			})
		}
	}
}

func TestKeysOfOtherCircuitsAreRefused(t *testing.T) {
	circuits := samples.Own(t)
	for _, a := range circuits {
		w, err := circom.OpenWitness(t.Context(), a.Witness)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		system, err := circom.OpenConstraints(t.Context(), a.R1CS)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range circuits {
			k, err := zkey.Open(t.Context(), b.Key, nil)
			if err != nil {
				t.Fatal(err)
			}
			witness := w.Match(k, b.Key)
			constraints := circom.MatchConstraints(system.Matrices, a.R1CS, k, k.Constraints(), b.Key)
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
			if a.Name == b.Name {
				if witness != nil || constraints != nil {
					t.Errorf("%s: its own key is refused: %v, %v", a.Name, witness, constraints)
				}
				continue
			}
			for what, err := range map[string]error{"witness": witness, "constraints": constraints} {
				wantText := "another circuit"
				if a.Curve != b.Curve {
					wantText = "is on " + string(a.Curve) + " but the key"
				}
				if err == nil || !strings.Contains(err.Error(), wantText) {
					t.Errorf("%s of %s with the key of %s: got %v, want %q", what, a.Name, b.Name, err, wantText)
				}
			}
		}
	}
}

func TestWitnessReadsPieces(t *testing.T) {
	w, err := circom.OpenWitness(t.Context(), samples.Own(t)[0].Witness)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	all := readAll(t, w)
	piece := make([]curve.Scalar, 7)
	if err := w.Read(t.Context(), 11, piece); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all[11:18], piece); diff != "" {
		t.Errorf("elements 11 to 17 (-of all +read):\n%s", diff)
	}
	for _, offset := range []int{-1, w.Len() - 6, w.Len() + 1} {
		if err := w.Read(t.Context(), offset, piece); err == nil {
			t.Errorf("7 elements from %d on were read of %d", offset, w.Len())
		}
	}
	if _, err := w.Public(t.Context(), w.Len()); err == nil {
		t.Error("a witness has as many public signals as elements")
	}
}
