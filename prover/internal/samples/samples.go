// Package samples finds the files of real circuits for tests: our own, checked in under test/circuits, and, where it is
// there, a larger collection made with circom, snarkjs and gnark (the environment variable CUZK_FIXTURES names its folder).
package samples

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// Circuit is one circuit on one curve with its files.
type Circuit struct {
	// Name is the circuit's, with its curve.
	Name  string
	Curve curve.ID
	// Paths of files. Input is there only for our own circuits, Public and Proof (snarkjs's) only in the collection.
	R1CS, Witness, Key, VerifyingKey, Input, Public, Proof string
}

var primes = map[curve.ID]string{curve.BN254: "bn128", curve.BLS12381: "bls12381"}

// Root is the root folder of the repository: that of the sources, or, for a test that runs where they are not, what the
// environment variable CUZK_ROOT names.
func Root() string {
	if root := os.Getenv("CUZK_ROOT"); root != "" {
		return root
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Own lists the circuits of test/circuits.
func Own(t testing.TB) []Circuit {
	t.Helper()
	var out []Circuit
	for _, id := range curve.All {
		for _, dir := range folders(t, filepath.Join(Root(), "test", "circuits", primes[id])) {
			name := filepath.Base(dir)
			out = append(out, Circuit{Name: primes[id] + "/" + name, Curve: id,
				R1CS: filepath.Join(dir, name+".r1cs"), Key: filepath.Join(dir, name+".zkey"),
				Witness: filepath.Join(dir, "witness.wtns"), VerifyingKey: filepath.Join(dir, "vk.json"),
				Input: filepath.Join(dir, "input.json")})
		}
	}
	if len(out) == 0 {
		t.Fatal("there are no circuits under test/circuits")
	}
	return out
}

// Collection lists the circom circuits of the larger collection; none where it is not there.
func Collection(t testing.TB) []Circuit {
	t.Helper()
	base, ok := fixtures()
	if !ok {
		return nil
	}
	var out []Circuit
	for _, id := range curve.All {
		for _, dir := range folders(t, filepath.Join(base, "circom", primes[id])) {
			name := filepath.Base(dir)
			out = append(out, Circuit{Name: "collection/" + primes[id] + "/" + name, Curve: id,
				R1CS: filepath.Join(dir, name+".r1cs"), Key: filepath.Join(dir, "circuit_final.zkey"),
				Witness: filepath.Join(dir, "witness.wtns"), VerifyingKey: filepath.Join(dir, "vk.json"),
				Public: filepath.Join(dir, "public.json"), Proof: filepath.Join(dir, "proof.json")})
		}
	}
	return out
}

// All is Own and Collection.
func All(t testing.TB) []Circuit { return append(Own(t), Collection(t)...) }

// Malformed returns the folders of damaged files of the collection, by curve, or skips the test.
func Malformed(t testing.TB) map[curve.ID]string {
	t.Helper()
	base := Fixtures(t)
	out := make(map[curve.ID]string)
	for id, prime := range primes {
		out[id] = filepath.Join(base, "malformed", prime)
	}
	return out
}

// Fixtures returns the larger collection's folder, or skips the test.
func Fixtures(t testing.TB) string {
	t.Helper()
	base, ok := fixtures()
	if !ok {
		t.Skip("the collection of real files is not here: set CUZK_FIXTURES to its folder")
	}
	return base
}

func fixtures() (string, bool) {
	base := os.Getenv("CUZK_FIXTURES")
	if base == "" {
		base = filepath.Join(Root(), "..", "shared", "fixtures")
	}
	_, err := os.Stat(base)
	return base, err == nil
}

func folders(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}
