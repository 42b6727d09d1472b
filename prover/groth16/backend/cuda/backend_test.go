package cuda

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/instance"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// realLibrary says that the tests run with the library that CUZK_LIBRARY names.
var realLibrary = os.Getenv(libcuzk.Env) != ""

// onRealLibrary is shared, since a self-test on the emulator takes seconds.
var onRealLibrary = sync.OnceValues(func() (*Backend, error) { return New(Config{}) })

// open makes a backend on the real library or else on a fake one, until the test ends.
func open(t *testing.T, config Config) *Backend {
	t.Helper()
	if realLibrary && config.library == nil {
		b, err := onRealLibrary()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if config.library == nil {
		config.library = &fakeLibrary{engines: []*fakeEngine{{}}}
	}
	b, err := New(config)
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

func random(t testing.TB, id curve.ID) curve.Scalar {
	t.Helper()
	n, err := rand.Int(rand.Reader, id.ScalarModulus())
	if err != nil {
		t.Fatal(err)
	}
	return curve.ScalarFromBig(n)
}

var layouts = map[string]groth16.Layout{
	"snarkjs": groth16.LayoutSnarkjs, "gnark": groth16.LayoutGnark, "coefficients": groth16.LayoutCoefficients,
}

var ordinary = instance.Shape{Public: 2, Private: 90, Constraints: 30, Density: 10, Small: 40}

// Proofs are those of the processor, byte for byte, and verify, whatever form the assignment has.
func TestProvesAsTheProcessorDoes(t *testing.T) {
	b := open(t, Config{})
	shapes := map[string]instance.Shape{
		"no constraint, alone": {},
		"one constraint":       {Public: 1, Private: 2, Constraints: 1, Density: 100},
		"every wire public":    {Public: 5, Constraints: 4, Density: 60},
		"one over a power":     {Public: 3, Private: 9, Constraints: 9, Density: 30},
		"all small":            {Public: 2, Private: 80, Constraints: 20, Density: 10, Small: 100},
		"sparse":               {Public: 5, Private: 70, Constraints: 30, Density: 2, Small: 30},
		"word boundary":        {Public: 63, Private: 64, Constraints: 12, Density: 5, Small: 50},
	}
	if realLibrary { // the emulator takes half a second for the least proof
		for _, name := range []string{"one constraint", "every wire public", "all small", "word boundary"} {
			delete(shapes, name)
		}
	}
	for name, layout := range layouts {
		for _, id := range curve.All {
			for description, shape := range shapes {
				t.Run(fmt.Sprintf("%s/%s/%s", name, id, description), func(t *testing.T) {
					in := instance.New(t, id, layout, shape, uint64(len(description)))
					r, s := random(t, id), random(t, id)
					onCPU := in.Load(t, cpu.New(cpu.Config{}))
					want := onCPU.Prove(t, onCPU.Packed(), r, s)
					if err := groth16.Verify(in.VK, want, in.Public, ""); err != nil {
						t.Fatal(err)
					}
					l := in.Load(t, b)
					forms := map[string]groth16.Assignment{
						"canonical":             l.Packed(),
						"Montgomery":            groth16.Packed{Structure: l.Structure, Witness: in.Montgomery()},
						"bits":                  in.Bits(l.Structure),
						"evaluated, canonical":  in.Evaluated(groth16.Canonical),
						"evaluated, Montgomery": in.Evaluated(groth16.Montgomery),
					}
					if realLibrary {
						delete(forms, "canonical")
						delete(forms, "evaluated, canonical")
					}
					for form, a := range forms {
						got := l.Prove(t, a, r, s)
						for point, equal := range map[string]bool{
							"A": bytes.Equal(got.A, want.A), "B": bytes.Equal(got.B, want.B), "C": bytes.Equal(got.C, want.C),
						} {
							if !equal {
								t.Errorf("%s: another point %s", form, point)
							}
						}
					}
				})
			}
		}
	}
}

// log is an observer that remembers.
type log struct {
	mu      sync.Mutex
	begun   []stage.Name
	kernels []stage.Kernel
	stages  []stage.Name
}

func (l *log) Begin(s stage.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = append(l.begun, s)
}
func (l *log) Progress(stage.Name, int64, int64) {}
func (l *log) Done(s stage.Span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Kernel == "" {
		l.stages = append(l.stages, s.Stage)
	} else {
		l.kernels = append(l.kernels, s.Kernel)
	}
}

func TestTellsItsStages(t *testing.T) {
	l := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1).Load(t, open(t, Config{}))
	seen := &log{}
	ticket, err := l.Backend.Submit(t.Context(), l.Key, l.Packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{Observer: seen})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ticket.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]stage.Name{stage.GPU}, seen.begun); diff != "" {
		t.Errorf("begun: %s", diff)
	}
	if n := len(seen.stages); n == 0 || seen.stages[n-1] != stage.GPU {
		t.Errorf("stages %v do not end with gpu", seen.stages)
	}
	for _, want := range []stage.Kernel{stage.PrepMSM, stage.NTTMSMH, stage.BatchAdd, stage.BG2MSM, stage.TailMSM, stage.GPUTotal} {
		if !slices.Contains(seen.kernels, want) {
			t.Errorf("%s is not among %v", want, seen.kernels)
		}
	}
}

// The compiling of kernels is told once.
func TestTellsCompiling(t *testing.T) {
	library := &fakeLibrary{engines: []*fakeEngine{{openError: &libcuzk.Error{Code: libcuzk.ArchNotBuilt, Message: "sm_70"}}, {}}}
	l := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1).Load(t, open(t, Config{library: library}))
	for i, want := range [][]stage.Name{{stage.JIT, stage.GPU}, {stage.GPU}} {
		seen := &log{}
		ticket, err := l.Backend.Submit(t.Context(), l.Key, l.Packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{Observer: seen})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ticket.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, seen.stages); diff != "" {
			t.Errorf("proof %d: %s", i, diff)
		}
	}
}

func TestRefusesWhatDoesNotFit(t *testing.T) { instance.RefusesAssignments(t, open(t, Config{})) }

func TestLoadKeyRefusesWhatDoesNotFit(t *testing.T) { instance.RefusesKeys(t, open(t, Config{})) }

// inParts is a key that can be read in parts alone.
type inParts struct {
	*instance.Key
	fault error
	mu    sync.Mutex
	read  int // bytes
}

func (k *inParts) Points(groth16.Section) ([]byte, error) {
	return nil, errors.New("all points at once")
}

func (k *inParts) ReadPoints(_ context.Context, s groth16.Section, first int, dst []byte) error {
	size := k.Curve().G1Bytes()
	if s == groth16.SectionB2 {
		size = k.Curve().G2Bytes()
	}
	copy(dst, k.Sections[s][first*size:][:len(dst)])
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read += len(dst)
	return k.fault
}

// A key that can be read in parts is never decoded as a whole; what its reader says went wrong is the error.
func TestReadsKeysInParts(t *testing.T) {
	b := open(t, Config{})
	in := instance.New(t, curve.BLS12381, groth16.LayoutCoefficients, ordinary, 1)
	source := &inParts{Key: in.Source, fault: failure.New(failure.Key, "point 3 of B is none")}
	if _, err := b.LoadKey(t.Context(), source, groth16.Budget{}); !errors.Is(err, source.fault) {
		t.Errorf("got %v", err)
	}
	source.fault, source.read = nil, 0
	key, err := b.LoadKey(t.Context(), source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { key.Close() })
	all := 0
	for _, points := range in.Source.Sections {
		all += len(points)
	}
	if source.read != all {
		t.Errorf("%d bytes were read of %d", source.read, all)
	}
	l := in.Load(t, b)
	l.Key = key
	proof := l.Prove(t, l.Packed(), curve.Scalar{1}, curve.Scalar{2})
	if err := groth16.Verify(in.VK, proof, in.Public, ""); err != nil {
		t.Error(err)
	}
}

// A proof under way keeps the key; the last user closes its file, once, and the device has its memory back.
func TestKeyOutlivesItsClose(t *testing.T) {
	engine := &fakeEngine{}
	in := instance.New(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
	l := in.Load(t, open(t, Config{library: &fakeLibrary{engines: []*fakeEngine{engine}}}))
	engine.atCompute = func() {
		for range 2 {
			if err := errors.Join(l.Key.Close(), l.Structure.Close()); err != nil {
				t.Error(err)
			}
		}
		if in.Source.Closed != 0 || engine.keys != 1 {
			t.Error("the key was closed under a proof")
		}
	}
	proof := l.Prove(t, l.Packed(), curve.Scalar{1}, curve.Scalar{2})
	if err := groth16.Verify(in.VK, proof, in.Public, ""); err != nil {
		t.Error(err)
	}
	if in.Source.Closed != 1 {
		t.Errorf("the file was closed %d times", in.Source.Closed)
	}
	if engine.keys != 0 || engine.structures != 0 || engine.proofs != 0 {
		t.Errorf("%d keys, %d structures and %d proofs are left on the device", engine.keys, engine.structures, engine.proofs)
	}
	if _, err := l.Backend.Submit(t.Context(), l.Key, l.Packed(), curve.Scalar{}, curve.Scalar{}, groth16.Options{}); err == nil {
		t.Error("a closed key was taken")
	}
}

func TestCancelled(t *testing.T) {
	engine := &fakeEngine{}
	l := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1).Load(t, open(t, Config{library: &fakeLibrary{engines: []*fakeEngine{engine}}}))
	ctx, cancel := context.WithCancel(t.Context())
	engine.atCompute = cancel
	ticket, err := l.Backend.Submit(ctx, l.Key, l.Packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ticket.Wait(t.Context()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	engine.atCompute = nil
	if proof := l.Prove(t, l.Packed(), curve.Scalar{1}, curve.Scalar{2}); groth16.Verify(l.VK, proof, l.Public, "") != nil {
		t.Error("the device does not go on")
	}
}

// Proofs of eight keys at once, on both curves, do not disturb each other, and leave nothing on the device. Each key proves
// twice, or as often as CUZK_TEST_ROUNDS says.
func TestConcurrentProofs(t *testing.T) {
	rounds := 2
	if s := os.Getenv("CUZK_TEST_ROUNDS"); s != "" {
		var err error
		if rounds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, Config{})
	engine, err := b.queue.devices[0].ready()
	if err != nil {
		t.Fatal(err)
	}
	before, err := engine.Info()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("proofs", func(t *testing.T) {
		type job struct {
			*instance.Loaded
			ticket groth16.Ticket
		}
		var jobs []job
		for i := range 8 {
			id := curve.All[i%2]
			l := instance.New(t, id, groth16.Layout(i%3), ordinary, uint64(i)).Load(t, b)
			for range rounds {
				ticket, err := b.Submit(t.Context(), l.Key, l.Packed(), random(t, id), curve.ScalarFromBig(big.NewInt(int64(i))), groth16.Options{Priority: i % 4})
				if err != nil {
					t.Fatal(err)
				}
				jobs = append(jobs, job{l, ticket})
			}
		}
		for i, j := range jobs {
			proof, err := j.ticket.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := groth16.Verify(j.VK, proof, j.Public, ""); err != nil {
				t.Errorf("proof %d: %v", i, err)
			}
		}
	})
	after, err := engine.Info()
	if err != nil {
		t.Fatal(err)
	}
	before.PrepareMilliseconds, after.PrepareMilliseconds = 0, 0
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the device is not as it was (-before +after):\n%s", diff)
	}
}
