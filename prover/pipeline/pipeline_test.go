package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// gnark's solver runs in a child, which is this program.
func TestMain(m *testing.M) {
	gnark.Main()
	if os.Getenv("CUZK_TEST_CRASH") != "" {
		crash()
	}
	os.Exit(m.Run())
}

func read(t *testing.T, path string) *pipeline.File {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &pipeline.File{Name: filepath.Base(path), Data: data}
}

func onDisk(t *testing.T, path string) *pipeline.File {
	t.Helper()
	f, err := pipeline.OpenFile(path, failure.Key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func open(t *testing.T, files pipeline.Files, config pipeline.Config) *pipeline.Prover {
	t.Helper()
	if config.Backend == nil {
		config.Backend = cpu.New(cpu.Config{})
	}
	p, err := pipeline.Open(t.Context(), files, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// checked verifies a result against a verifying key that snarkjs exported.
func checked(t *testing.T, folder string, r *pipeline.Result) {
	t.Helper()
	vk, err := snarkjs.ParseVerifyingKey(read(t, filepath.Join(folder, "vk.json")).Data)
	if err != nil {
		t.Fatal(err)
	}
	public, err := snarkjs.ParsePublic(read(t, filepath.Join(folder, "public.json")).Data, vk.Curve)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(public, r.Public, cmp.Transformer("nil", func(s []curve.Scalar) []curve.Scalar { return append([]curve.Scalar{}, s...) })); diff != "" {
		t.Errorf("public inputs: %s", diff)
	}
	if err := groth16.Verify(vk, r.Proof, public, ""); err != nil {
		t.Error(err)
	}
	if !r.Verified {
		t.Error("the result does not say that it was verified")
	}
}

func TestProvesCircomFixtures(t *testing.T) {
	fixture.Circom(t, func(t *testing.T, _, _, folder string) {
		p := open(t, pipeline.Files{ProvingKey: onDisk(t, filepath.Join(folder, "circuit_final.zkey"))}, pipeline.Config{})
		r, err := p.Prove(t.Context(), onDisk(t, filepath.Join(folder, "witness.wtns")), pipeline.Runs{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		checked(t, folder, r)
	})
}

// Runs: warm-up first, then a cold one only if nothing ran before, then warm ones; every stage has its time.
func TestRunsAndTheirTimes(t *testing.T) {
	folder := fixture.Path(t, "circom", "bn128", "mulchain_1")
	p := open(t, pipeline.Files{ProvingKey: read(t, filepath.Join(folder, "circuit_final.zkey"))}, pipeline.Config{})
	witness := read(t, filepath.Join(folder, "witness.wtns"))
	kinds := func(runs pipeline.Runs) (out []pipeline.Kind) {
		t.Helper()
		var begun []int
		runs.Begin = func(i int) { begun = append(begun, i) }
		r, err := p.Prove(t.Context(), witness, runs, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, run := range r.Runs {
			out = append(out, run.Kind)
			if begun[i] != i {
				t.Errorf("run %d was told as %d", i, begun[i])
			}
			for _, s := range []stage.Name{stage.Queue, stage.SRS, stage.Synth, stage.GPU, stage.Verify} {
				if _, ok := run.Stages[s]; !ok {
					t.Errorf("run %d has no time of stage %s", i, s)
				}
			}
			for _, k := range []stage.Kernel{stage.PrepMSM, stage.NTTMSMH, stage.BatchAdd, stage.BG2MSM, stage.TailMSM, stage.GPUTotal} {
				if _, ok := run.Kernels[k]; !ok {
					t.Errorf("run %d has no time of kernel %s", i, k)
				}
			}
			if loaded := run.Stages[stage.SRS] > 0; loaded != (run.Kind == pipeline.Cold) {
				t.Errorf("run %d is %s and carries %s of loading", i, run.Kind, run.Stages[stage.SRS])
			}
			sum := run.Stages[stage.Queue] + run.Stages[stage.Synth] + run.Stages[stage.GPU] + run.Stages[stage.Verify] + run.Stages[stage.SRS]
			if sum > run.Total {
				t.Errorf("run %d: the stages take %s, the run %s", i, sum, run.Total)
			}
		}
		return out
	}
	if diff := cmp.Diff([]pipeline.Kind{pipeline.Cold, pipeline.Warm, pipeline.Warm}, kinds(pipeline.Runs{Measured: 3})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]pipeline.Kind{pipeline.Warmup, pipeline.Warm}, kinds(pipeline.Runs{Measured: 1, Warmup: 1})); diff != "" {
		t.Error(diff)
	}
}

// seeded is a source of randomness that can be had twice; only tests may have one.
func seeded(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func TestBlinding(t *testing.T) {
	folder := fixture.Path(t, "circom", "bls12381", "mulchain_1")
	key := read(t, filepath.Join(folder, "circuit_final.zkey"))
	witness := read(t, filepath.Join(folder, "witness.wtns"))
	prove := func(p *pipeline.Prover) *groth16.Proof {
		t.Helper()
		r, err := p.Prove(t.Context(), witness, pipeline.Runs{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Proof
	}
	first := prove(open(t, pipeline.Files{ProvingKey: key}, pipeline.Config{Random: seeded(1)}))
	again := prove(open(t, pipeline.Files{ProvingKey: key}, pipeline.Config{Random: seeded(1)}))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("equal randomness, but another proof: %s", diff)
	}
	p := open(t, pipeline.Files{ProvingKey: key}, pipeline.Config{})
	a, b := prove(p), prove(p)
	if bytes.Equal(a.A, b.A) || bytes.Equal(a.B, b.B) || bytes.Equal(a.C, b.C) {
		t.Error("two runs share a point of their proofs")
	}
}

// spoiledWitness is a witness with one bit of one element changed.
func spoiledWitness(t *testing.T, folder string, element int) *pipeline.File {
	t.Helper()
	w := read(t, filepath.Join(folder, "witness.wtns"))
	w.Data[len(w.Data)-32*element] ^= 1
	return w
}

func TestExplainsRefusedProofs(t *testing.T) {
	folder := fixture.Path(t, "circom", "bn128", "mulchain_1000")
	key := read(t, filepath.Join(folder, "circuit_final.zkey"))
	constraints := read(t, filepath.Join(folder, "mulchain_1000.r1cs"))
	// The last point of section 9 (H), 64 bytes from the end of that section.
	spoiled := &pipeline.File{Name: "spoiled.zkey", Data: bytes.Clone(key.Data)}
	h := section(t, spoiled.Data, 9)
	swap(h[:64], h[64:128])
	offCurve := &pipeline.File{Name: "off.zkey", Data: bytes.Clone(key.Data)}
	section(t, offCurve.Data, 9)[8] ^= 1
	for _, test := range []struct {
		name    string
		files   pipeline.Files
		witness *pipeline.File
		class   failure.Class
		want    []string
	}{
		{"constraint named", pipeline.Files{ProvingKey: key, ConstraintSystem: constraints}, spoiledWitness(t, folder, 3), failure.Input, []string{"constraint 99"}},
		{"without constraints", pipeline.Files{ProvingKey: key}, spoiledWitness(t, folder, 3), failure.Verification, []string{"the proof does not verify", ".r1cs"}},
		{"two points swapped", pipeline.Files{ProvingKey: spoiled, ConstraintSystem: constraints}, read(t, filepath.Join(folder, "witness.wtns")), failure.Key, []string{"spoiled.zkey", "though the witness satisfies"}},
		{"point off its curve", pipeline.Files{ProvingKey: offCurve}, read(t, filepath.Join(folder, "witness.wtns")), failure.Key, []string{"off.zkey", "point 0", "not on the curve"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := open(t, test.files, pipeline.Config{})
			r, err := p.Prove(t.Context(), test.witness, pipeline.Runs{}, nil)
			if err == nil || r != nil {
				t.Fatal("a proof left")
			}
			if class := failure.ClassOf(err); class != test.class {
				t.Errorf("class %s, want %s", class, test.class)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			// The prover goes on with the next input.
			if test.files.ProvingKey == key {
				if _, err := p.Prove(t.Context(), read(t, filepath.Join(folder, "witness.wtns")), pipeline.Runs{}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func swap(a, b []byte) {
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
}

// section finds a section of a .zkey: u32 number, u64 size, payload, after a head of twelve bytes.
func section(t *testing.T, data []byte, number uint32) []byte {
	t.Helper()
	for at := 12; at+12 <= len(data); {
		size := int(data[at+4]) | int(data[at+5])<<8 | int(data[at+6])<<16 | int(data[at+7])<<24
		if uint32(data[at]) == number {
			return data[at+12 : at+12+size]
		}
		at += 12 + size
	}
	t.Fatalf("no section %d", number)
	return nil
}

func TestReservesMemoryForAllStages(t *testing.T) {
	folder := fixture.Path(t, "circom", "bn128", "mulchain_1")
	budget := memory.NewBudget(0)
	p := open(t, pipeline.Files{ProvingKey: read(t, filepath.Join(folder, "circuit_final.zkey"))},
		pipeline.Config{Backend: cpu.New(cpu.Config{Memory: budget})})
	witness := read(t, filepath.Join(folder, "witness.wtns"))
	if _, err := p.Prove(t.Context(), witness, pipeline.Runs{Measured: 2}, nil); err != nil {
		t.Fatal(err)
	}
	held := budget.Total() - budget.Room()
	used, peak := budget.Used()
	if used != held || held == 0 || peak <= held {
		t.Errorf("%d bytes are still taken, the key holds %d, the peak was %d", used, held, peak)
	}
	_, err := pipeline.Open(t.Context(), pipeline.Files{ProvingKey: read(t, filepath.Join(folder, "circuit_final.zkey"))},
		pipeline.Config{Backend: cpu.New(cpu.Config{Memory: memory.NewBudget(peak - 1)})}, nil)
	if failure.ClassOf(err) != failure.Memory {
		t.Errorf("with a byte less than the peak: %v", err)
	}
	// Concurrent proofs in memory for one take turns, and none waits for ever.
	exact := open(t, pipeline.Files{ProvingKey: read(t, filepath.Join(folder, "circuit_final.zkey"))},
		pipeline.Config{Backend: cpu.New(cpu.Config{Memory: memory.NewBudget(peak), Proofs: 4})})
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() {
			_, err := exact.Prove(t.Context(), witness, pipeline.Runs{Measured: 2}, nil)
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// canceller ends the context when a stage begins.
type canceller struct {
	stage.Nop
	at     stage.Name
	cancel context.CancelFunc
}

func (c *canceller) Begin(s stage.Name) {
	if s == c.at {
		c.cancel()
	}
}

func TestCancelledInEveryStage(t *testing.T) {
	folder := fixture.Path(t, "circom", "bn128", "mulchain_1000")
	budget := memory.NewBudget(0)
	p := open(t, pipeline.Files{ProvingKey: read(t, filepath.Join(folder, "circuit_final.zkey"))},
		pipeline.Config{Backend: cpu.New(cpu.Config{Memory: budget})})
	witness := read(t, filepath.Join(folder, "witness.wtns"))
	held, _ := budget.Used()
	for _, at := range []stage.Name{stage.Queue, stage.Synth, stage.GPU} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := p.Prove(ctx, witness, pipeline.Runs{}, &canceller{at: at, cancel: cancel})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled in %s: %v", at, err)
		}
		if used, _ := budget.Used(); used != held {
			t.Errorf("cancelled in %s: %d bytes are still reserved", at, used-held)
		}
	}
	if _, err := p.Prove(t.Context(), witness, pipeline.Runs{}, nil); err != nil {
		t.Error(err)
	}
}

func TestProvesGnarkFixtures(t *testing.T) {
	for id, name := range map[curve.ID]string{curve.BN254: "bn254", curve.BLS12381: "bls12_381"} {
		for _, key := range []string{"pk.bin", "pk.raw.bin", "pk.dump.bin"} {
			t.Run(name+"/"+key, func(t *testing.T) {
				path := func(file string) string { return fixture.Path(t, "gnark", name, "mulchain_1000", file) }
				p := open(t, pipeline.Files{
					ProvingKey: onDisk(t, path(key)), ConstraintSystem: onDisk(t, path("ccs.bin")), VerifyingKey: onDisk(t, path("vk.bin")),
				}, pipeline.Config{Curve: id})
				r, err := p.Prove(t.Context(), read(t, path("witness.bin")), pipeline.Runs{Measured: 2}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Verified || len(r.Runs) != 2 {
					t.Errorf("verified %t, %d runs", r.Verified, len(r.Runs))
				}
			})
		}
	}
}
