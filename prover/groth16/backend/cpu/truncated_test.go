package cpu_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
)

// A key file that is cut while it is in use, or whose storage fails, ends the proof and not the process.
func TestKeyThatVanishesIsAnError(t *testing.T) {
	for _, name := range []string{"mulchain_1000", "bits"} {
		t.Run(name, func(t *testing.T) {
			folder := fixture.Path(t, "circom", "bn128", name)
			data, err := os.ReadFile(filepath.Join(folder, "circuit_final.zkey"))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "key.zkey")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			source, err := zkey.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := source.Matrices()
			if err != nil {
				t.Fatal(err)
			}
			b := cpu.New(cpu.Config{})
			key, err := b.LoadKey(t.Context(), source, groth16.Budget{})
			if err != nil {
				t.Fatal(err)
			}
			defer key.Close()
			structure, err := b.LoadStructure(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			defer structure.Close()
			witness, err := circom.OpenWitness(t.Context(), filepath.Join(folder, "witness.wtns"))
			if err != nil {
				t.Fatal(err)
			}
			defer witness.Close()
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
			ticket, err := b.Submit(t.Context(), key, groth16.Packed{Structure: structure, Witness: witness}, curve.Scalar{1}, curve.Scalar{1}, groth16.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ticket.Wait(t.Context()); failure.ClassOf(err) != failure.IO {
				t.Errorf("got %v, want an error of class IO", err)
			}
		})
	}
}
