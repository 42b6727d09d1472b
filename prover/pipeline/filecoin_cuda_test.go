//go:build cuda

package pipeline_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
)

// Filecoin's proof on a device, here the emulator, is the processor's: constraints are evaluated there, of a packed
// witness.
func TestFilecoinOnTheEmulator(t *testing.T) {
	if os.Getenv("CUZK_LIBRARY") == "" {
		t.Skip("CUZK_LIBRARY does not name a library")
	}
	device, err := cuda.New(cuda.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := device.Close(); err != nil {
			t.Error(err)
		}
	})
	loadsFilecoin(t, device)
	j := tinyJob(t, 3)
	var proofs [][]byte
	for _, backend := range []groth16.Backend{cpu.New(cpu.Config{}), device} {
		random := bytes.NewReader(bytes.Repeat([]byte{7}, 64))
		f := openFilecoin(t, tinyParams(t), tinyPoSt, pipeline.Config{Backend: backend, Random: random})
		made, err := f.Prove(t.Context(), j, pipeline.FilecoinOptions{})
		if err != nil {
			t.Fatal(err)
		}
		proofs = append(proofs, made.Proof)
		if made.Partitions[0].Backend != backend.Name() {
			t.Errorf("computed by %s, not by %s", made.Partitions[0].Backend, backend.Name())
		}
	}
	if !bytes.Equal(proofs[0], proofs[1]) {
		t.Errorf("the device's proof is\n%x, the processor's\n%x", proofs[1], proofs[0])
	}
}
