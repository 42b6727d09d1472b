//go:build interop

package circom_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/internal/samples"
)

// The programs are compiled here, for a wasm that circom writes is not checked in; the witnesses are those that snarkjs
// computed with them.
func TestGeneratorComputesTheWitnessOfSnarkjs(t *testing.T) {
	programs := t.TempDir()
	build := exec.Command(filepath.Join(samples.Root(), "test", "circuits", "build.sh"), "wasm", programs)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	for _, c := range samples.Own(t) {
		t.Run(c.Name, func(t *testing.T) {
			g, err := circom.OpenGenerator(t.Context(), filepath.Join(programs, c.Name+".wasm"), circom.GeneratorOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			in, err := circom.OpenInput(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.Witness(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			want, err := circom.OpenWitness(t.Context(), c.Witness)
			if err != nil {
				t.Fatal(err)
			}
			defer want.Close()
			if diff := cmp.Diff(readAll(t, want), readAll(t, got)); diff != "" {
				t.Errorf("(-snarkjs +generator):\n%s", diff)
			}
		})
	}
}
