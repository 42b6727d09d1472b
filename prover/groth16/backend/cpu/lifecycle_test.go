package cpu_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// log is an observer that remembers, and can act on what it sees.
type log struct {
	begun    []stage.Name
	kernels  []stage.Kernel
	stages   []stage.Name
	progress []float64
	onKernel func(stage.Kernel)
}

func (l *log) Begin(s stage.Name)               { l.begun = append(l.begun, s) }
func (l *log) Progress(_ stage.Name, f float64) { l.progress = append(l.progress, f) }
func (l *log) Done(s stage.Span) {
	if s.Kernel == "" {
		l.stages = append(l.stages, s.Stage)
		return
	}
	l.kernels = append(l.kernels, s.Kernel)
	if l.onKernel != nil {
		l.onKernel(s.Kernel)
	}
}

var ordinary = shape{public: 2, private: 90, constraints: 30, density: 10, small: 40}

func (l *loaded) packed() groth16.Packed {
	return groth16.Packed{Structure: l.structure, Witness: l.canonical()}
}

func TestTellsItsStages(t *testing.T) {
	in := newInstance(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
	l := in.load(t, cpu.New(cpu.Config{}))
	seen := &log{}
	ticket, err := l.backend.Submit(t.Context(), l.key, l.packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{Observer: seen})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ticket.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]stage.Name{stage.GPU}, seen.begun); diff != "" {
		t.Errorf("begun: %s", diff)
	}
	if diff := cmp.Diff([]stage.Name{stage.GPU}, seen.stages); diff != "" {
		t.Errorf("stages: %s", diff)
	}
	count := map[stage.Kernel]int{}
	for _, k := range seen.kernels {
		count[k]++
	}
	want := map[stage.Kernel]int{stage.PrepMSM: 1, stage.NTTMSMH: 1, stage.BatchAdd: 1, stage.BG2MSM: 1, stage.TailMSM: 1, stage.GPUTotal: 1}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("kernels: %s", diff)
	}
	last := 0.0
	for _, f := range seen.progress {
		if f < last {
			t.Errorf("progress goes back from %g to %g", last, f)
		}
		last = f
	}
	if last != 1 {
		t.Errorf("progress ends at %g", last)
	}
}

func TestCancelledBetweenKernels(t *testing.T) {
	for _, at := range []stage.Kernel{stage.PrepMSM, stage.BatchAdd, stage.NTTMSMH} {
		t.Run(string(at), func(t *testing.T) {
			in := newInstance(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
			budget := memory.NewBudget(0)
			l := in.load(t, cpu.New(cpu.Config{Memory: budget}))
			ctx, cancel := context.WithCancel(t.Context())
			seen := &log{onKernel: func(k stage.Kernel) {
				if k == at {
					cancel()
				}
			}}
			ticket, err := l.backend.Submit(ctx, l.key, l.packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{Observer: seen})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ticket.Wait(t.Context()); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			if slices.Contains(seen.kernels, stage.TailMSM) || slices.Contains(seen.kernels, stage.GPUTotal) {
				t.Errorf("it went on: %v", seen.kernels)
			}
			if used, peak := budget.Used(); used != 0 || peak == 0 {
				t.Errorf("%d bytes are still reserved, peak %d", used, peak)
			}
			// The key and the backend go on.
			proof := submit(t, l.backend, l.key, l.packed(), curve.Scalar{1}, curve.Scalar{2})
			if err := groth16.Verify(in.vk, proof, in.public, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

// A proof under way keeps the key; the last user closes its file, once.
func TestKeyOutlivesItsClose(t *testing.T) {
	in := newInstance(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
	l := in.load(t, cpu.New(cpu.Config{}))
	seen := &log{onKernel: func(k stage.Kernel) {
		if k != stage.PrepMSM {
			return
		}
		for range 2 {
			if err := errors.Join(l.key.Close(), l.structure.Close()); err != nil {
				t.Error(err)
			}
		}
		if in.source.closed != 0 {
			t.Error("the file was closed under a proof")
		}
	}}
	ticket, err := l.backend.Submit(t.Context(), l.key, l.packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{Observer: seen})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := ticket.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := groth16.Verify(in.vk, proof, in.public, ""); err != nil {
		t.Error(err)
	}
	if in.source.closed != 1 {
		t.Errorf("the file was closed %d times", in.source.closed)
	}
	if _, err := l.backend.Submit(t.Context(), l.key, l.packed(), curve.Scalar{}, curve.Scalar{}, groth16.Options{}); err == nil {
		t.Error("a closed key was taken")
	}
}

func TestRefusesWhatDoesNotFit(t *testing.T) {
	in := newInstance(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
	other := newInstance(t, curve.BN254, groth16.LayoutGnark, shape{public: 1, private: 3, constraints: 100, density: 50}, 1)
	foreign := newInstance(t, curve.BLS12381, groth16.LayoutGnark, ordinary, 1)
	b := cpu.New(cpu.Config{})
	l, o, f := in.load(t, b), other.load(t, b), foreign.load(t, b)
	short := in.canonical()
	short.scalars = short.scalars[1:]
	shifted := in.canonical()
	shifted.scalars[0] = curve.Scalar{2}
	long := in.evaluated(groth16.Canonical)
	long.A = vector{scalars: make([]curve.Scalar, 1000)}
	withoutC := in.evaluated(groth16.Canonical)
	withoutC.C = nil
	uneven := in.evaluated(groth16.Canonical)
	uneven.B = vector{scalars: make([]curve.Scalar, 1)}
	tooFew := in.bits(l.structure)
	tooFew.Witness = vector{}
	for _, test := range []struct {
		name  string
		a     groth16.Assignment
		r     curve.Scalar
		class failure.Class
		want  string
	}{
		{"short witness", groth16.Packed{Structure: l.structure, Witness: short}, curve.Scalar{}, failure.Input, "the witness has 92 elements, the key is of a circuit with 93 wires"},
		{"no one", groth16.Packed{Structure: l.structure, Witness: shifted}, curve.Scalar{}, failure.Input, "element 0 of the witness must be 1"},
		{"other structure", groth16.Packed{Structure: o.structure, Witness: in.canonical()}, curve.Scalar{}, failure.Key, "the constraint system has 5 wires, the proving key 93"},
		{"other curve", groth16.Packed{Structure: f.structure, Witness: in.canonical()}, curve.Scalar{}, failure.Key, "the constraint system is on BLS12-381, the proving key on BN254"},
		{"no structure", groth16.Packed{Witness: in.canonical()}, curve.Scalar{}, failure.Internal, "a structure of another backend"},
		{"too many rows", long, curve.Scalar{}, failure.Key, "the constraint system has 1000 rows, the proving key's domain holds 32"},
		{"no C", withoutC, curve.Scalar{}, failure.Input, "the assignment lacks C"},
		{"uneven rows", uneven, curve.Scalar{}, failure.Internal, "different lengths"},
		{"bits that do not add up", tooFew, curve.Scalar{}, failure.Input, "the witness has 0 elements that are not bits"},
		{"r not canonical", in.evaluated(groth16.Canonical), curve.ScalarFromBig(curve.BN254.ScalarModulus()), failure.Internal, "r and s must be canonical"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ticket, err := b.Submit(t.Context(), l.key, test.a, test.r, curve.Scalar{}, groth16.Options{})
			if err == nil {
				_, err = ticket.Wait(t.Context())
			}
			if err == nil {
				t.Fatal("it was proved")
			}
			if class := failure.ClassOf(err); class != test.class || !strings.Contains(err.Error(), test.want) {
				t.Errorf("class %s, error %q, want %s and %q", class, err, test.class, test.want)
			}
		})
	}
}

func TestLoadKeyRefusesWhatDoesNotFit(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(k *testKey)
		budget groth16.Budget
		class  failure.Class
		want   string
	}{
		{"short A", func(k *testKey) { k.sections[groth16.SectionA] = k.sections[groth16.SectionA][64:] }, groth16.Budget{}, failure.Key, "section A has"},
		{"long B2", func(k *testKey) {
			k.sections[groth16.SectionB2] = append(k.sections[groth16.SectionB2], make([]byte, 128)...)
		}, groth16.Budget{}, failure.Key, "section B2 has"},
		{"short H", func(k *testKey) { k.sections[groth16.SectionH] = k.sections[groth16.SectionH][64:] }, groth16.Budget{}, failure.Key, "section H has"},
		{"few bits", func(k *testKey) { k.absent[groth16.SectionB1] = k.absent[groth16.SectionB1][:1] }, groth16.Budget{}, failure.Key, "section B1: 1 words tell the absent points of 93 wires"},
		{"domain", func(k *testKey) { k.domain = 48 }, groth16.Budget{}, failure.Key, "a domain of 48 elements, which is no power of two"},
		{"huge domain", func(k *testKey) { k.domain = 1 << 40 }, groth16.Budget{}, failure.Key, "more than the field of BN254 allows"},
		{"all public", func(k *testKey) { k.public = 93 }, groth16.Budget{}, failure.Key, "93 wires with 93 public inputs"},
		{"budget", func(*testKey) {}, groth16.Budget{HostBytes: 5000}, failure.Memory, "4.9 KiB are allowed for it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := newInstance(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
			test.change(in.source)
			_, err := cpu.New(cpu.Config{}).LoadKey(t.Context(), in.source, test.budget)
			if err == nil {
				t.Fatal("it was loaded")
			}
			if class := failure.ClassOf(err); class != test.class || !strings.Contains(err.Error(), test.want) {
				t.Errorf("class %s, error %q, want %s and %q", class, err, test.class, test.want)
			}
			if in.source.closed != 0 {
				t.Error("the source was closed, though it is still the caller's")
			}
		})
	}
}

func TestReservesBeforeItComputes(t *testing.T) {
	in := newInstance(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
	budget := memory.NewBudget(1000)
	l := in.load(t, cpu.New(cpu.Config{Memory: budget}))
	need := l.backend.Demand(l.key).HostBytes
	if need <= 1000 {
		t.Fatalf("a proof needs %d bytes", need)
	}
	ticket, err := l.backend.Submit(t.Context(), l.key, l.packed(), curve.Scalar{}, curve.Scalar{}, groth16.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ticket.Wait(t.Context()); failure.ClassOf(err) != failure.Memory {
		t.Errorf("got %v, want an error of class Memory", err)
	}
	// With memory that the caller has reserved, it asks for none.
	own, err := memory.NewBudget(0).Reserve(t.Context(), need+500, "the test")
	if err != nil {
		t.Fatal(err)
	}
	ticket, err = l.backend.Submit(t.Context(), l.key, l.packed(), curve.Scalar{}, curve.Scalar{}, groth16.Options{Reservation: own})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ticket.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if left := own.Bytes(); left < 500 || left > need+500 {
		t.Errorf("%d bytes are left of the caller's reservation of %d", left, need+500)
	}
}

// Proofs of several keys and curves at once do not disturb each other.
func TestConcurrentProofs(t *testing.T) {
	b := cpu.New(cpu.Config{Proofs: 3, Memory: memory.NewBudget(64 << 20)})
	type job struct {
		*loaded
		ticket groth16.Ticket
	}
	var jobs []job
	for i := range 12 {
		in := newInstance(t, curve.All[i%2], groth16.Layout(i%3), ordinary, uint64(i))
		l := in.load(t, b)
		ticket, err := b.Submit(t.Context(), l.key, l.packed(), random(t, curve.All[i%2]), curve.ScalarFromBig(big.NewInt(int64(i))), groth16.Options{Priority: i % 4})
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job{l, ticket})
	}
	for i, j := range jobs {
		proof, err := j.ticket.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := groth16.Verify(j.vk, proof, j.public, ""); err != nil {
			t.Errorf("proof %d: %v", i, err)
		}
	}
}
