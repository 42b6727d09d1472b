package cuda_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda"
	"github.com/cuzk-dev/cuzk/prover/internal/samples"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
)

// gnark's solver runs in a child, which is this program.
func TestMain(m *testing.M) {
	gnark.Main()
	os.Exit(m.Run())
}

// circuit is a real circuit's files.
type circuit struct{ name, key, constraints, verifyingKey, witness string }

func circuits(t *testing.T) []circuit {
	var all []circuit
	for _, c := range samples.All(t) {
		all = append(all, circuit{name: c.Name, key: c.Key, verifyingKey: c.VerifyingKey, witness: c.Witness})
	}
	ofGnark := func(folder, witness string) {
		in := func(name string) string { return filepath.Join(folder, name) }
		all = append(all, circuit{"gnark/" + filepath.Base(filepath.Dir(folder)) + "/" + filepath.Base(folder), in("pk.bin"), in("ccs.bin"), in("vk.bin"), in(witness)})
	}
	for _, name := range []string{"age", "merkle"} {
		ofGnark(filepath.Join(samples.Root(), "test", "circuits", "gnark", name), "witness-1.bin")
	}
	if len(samples.Collection(t)) > 0 {
		for _, curve := range []string{"bn254", "bls12_381"} {
			ofGnark(filepath.Join(samples.Fixtures(t), "gnark", curve, "mulchain_1000"), "witness.bin")
		}
	}
	return all
}

// Every circuit of snarkjs and gnark is proved by the device, and the proof verifies at the first go.
func TestProvesRealCircuits(t *testing.T) {
	if os.Getenv("CUZK_LIBRARY") == "" {
		t.Skip("CUZK_LIBRARY does not name a library")
	}
	b, err := cuda.New(cuda.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range circuits(t) {
		t.Run(c.name, func(t *testing.T) {
			file := func(path string) *pipeline.File {
				if path == "" {
					return nil
				}
				f, err := pipeline.OpenFile(path, failure.Key)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
				return f
			}
			p, err := pipeline.Open(t.Context(), pipeline.Files{
				ProvingKey: file(c.key), ConstraintSystem: file(c.constraints), VerifyingKey: file(c.verifyingKey),
			}, pipeline.Config{Backend: b}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			r, err := p.Prove(t.Context(), file(c.witness), pipeline.Runs{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			// A proof that did not verify would have been computed a second time, which the times of the run tell.
			computed := 0
			for _, s := range r.Runs[0].Spans {
				if s.Kernel == "gpu_total" {
					computed++
				}
			}
			if r.Backend != "cuda" || !r.Verified || computed != 1 {
				t.Errorf("backend %s, verified %t, computed %d times", r.Backend, r.Verified, computed)
			}
		})
	}
}
