package cuda_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
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

// openReal makes a backend on the library that CUZK_LIBRARY names, or skips the test.
func openReal(t *testing.T) *cuda.Backend {
	t.Helper()
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
	return b
}

// loaded is a circuit that is ready to be proved.
type loaded struct {
	circuit
	prover  *pipeline.Prover
	witness *pipeline.File
	files   []*pipeline.File
}

func load(ctx context.Context, b *cuda.Backend, c circuit) (*loaded, error) {
	l := &loaded{circuit: c}
	var errs []error
	file := func(path string) *pipeline.File {
		if path == "" {
			return nil
		}
		f, err := pipeline.OpenFile(path, failure.Key)
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		l.files = append(l.files, f)
		return f
	}
	files := pipeline.Files{ProvingKey: file(c.key), ConstraintSystem: file(c.constraints), VerifyingKey: file(c.verifyingKey)}
	l.witness = file(c.witness)
	if len(errs) == 0 {
		var err error
		if l.prover, err = pipeline.Open(ctx, files, pipeline.Config{Backend: b}, nil); err == nil {
			return l, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(append(errs, l.close())...)
}

func (l *loaded) close() error {
	var errs []error
	if l.prover != nil {
		errs = append(errs, l.prover.Close())
	}
	for _, f := range l.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// prove wants a proof of the device that verifies at the first go.
func (l *loaded) prove(t *testing.T) *pipeline.Result {
	t.Helper()
	r, err := l.prover.Prove(t.Context(), l.witness, pipeline.Runs{}, nil)
	if err != nil {
		t.Errorf("%s: %v", l.name, err)
		return nil
	}
	// A proof that did not verify would have been computed a second time, which the times of the run tell.
	computed := 0
	for _, s := range r.Runs[0].Spans {
		if s.Kernel == "gpu_total" {
			computed++
		}
	}
	if r.Backend != "cuda" || !r.Verified || computed != 1 {
		t.Errorf("%s: backend %s, verified %t, computed %d times", l.name, r.Backend, r.Verified, computed)
	}
	return r
}

// proofsEnv names a folder that proofs are left in, for other programs to verify (test/interop).
const proofsEnv = "CUZK_PROOFS"

// leave writes a proof in the format of the key's program, its public inputs and the verifying key.
func (l *loaded) leave(folder string, r *pipeline.Result) error {
	proof, extension := gnarkfmt.FormatProof(r.Proof, true), ".bin"
	var err error
	if l.constraints == "" {
		if proof, err = snarkjs.FormatProof(r.Proof, false); err != nil {
			return err
		}
		extension = ".json"
	}
	public, err := snarkjs.FormatPublic(r.Public, false)
	if err != nil {
		return err
	}
	vk, err := os.ReadFile(l.verifyingKey)
	if err != nil {
		return err
	}
	folder = filepath.Join(folder, string(r.Proof.Curve), strings.ReplaceAll(l.name, "/", "-"))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"proof" + extension: proof, "public.json": public, "vk" + extension: vk} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Every circuit of snarkjs and gnark is proved by the device, and the proof verifies at the first go.
func TestProvesRealCircuits(t *testing.T) {
	b := openReal(t)
	for _, c := range circuits(t) {
		t.Run(c.name, func(t *testing.T) {
			l, err := load(t.Context(), b, c)
			if err != nil {
				t.Fatal(err)
			}
			r := l.prove(t)
			if folder := os.Getenv(proofsEnv); folder != "" && r != nil {
				if err := l.leave(folder, r); err != nil {
					t.Error(err)
				}
			}
			if err := l.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Eight circuits are proved at once, each as often as CUZK_TEST_ROUNDS says, and the device has its memory back.
func TestProvesRealCircuitsAtOnce(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("CUZK_TEST_ROUNDS"))
	if err != nil {
		t.Skip("CUZK_TEST_ROUNDS does not say how often")
	}
	b := openReal(t)
	all := circuits(t)
	all = all[len(all)-8:]
	atOnce := func(rounds int) {
		var done sync.WaitGroup
		for _, c := range all {
			done.Go(func() {
				l, err := load(t.Context(), b, c)
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
					return
				}
				for range rounds {
					l.prove(t)
				}
				if err := l.close(); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			})
		}
		done.Wait()
	}
	free := func() (bytes []int64) {
		s, err := cuda.Look(false)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range s.Devices {
			bytes = append(bytes, d.FreeBytes)
		}
		return bytes
	}
	// The driver takes memory when kernels first run, and when they first run beside each other, and keeps it. What a proof or a
	// key lost would be lost by every round.
	const most = 6
	last := free()
	for range most {
		atOnce(rounds)
		now := free()
		t.Logf("free bytes of the devices: %d", now)
		if slices.Equal(now, last) {
			return
		}
		last = now
	}
	t.Errorf("memory of the devices still goes after %d rounds", most)
}
