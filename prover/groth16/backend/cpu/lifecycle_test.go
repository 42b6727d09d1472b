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
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/instance"
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

var ordinary = instance.Shape{Public: 2, Private: 90, Constraints: 30, Density: 10, Small: 40}

func TestTellsItsStages(t *testing.T) {
	in := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
	l := in.Load(t, cpu.New(cpu.Config{}))
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
			in := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
			budget := memory.NewBudget(0)
			l := in.Load(t, cpu.New(cpu.Config{Memory: budget}))
			ctx, cancel := context.WithCancel(t.Context())
			seen := &log{onKernel: func(k stage.Kernel) {
				if k == at {
					cancel()
				}
			}}
			ticket, err := l.Backend.Submit(ctx, l.Key, l.Packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{Observer: seen})
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
			proof := l.Prove(t, l.Packed(), curve.Scalar{1}, curve.Scalar{2})
			if err := groth16.Verify(in.VK, proof, in.Public, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

// A proof under way keeps the key; the last user closes its file, once.
func TestKeyOutlivesItsClose(t *testing.T) {
	in := instance.New(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
	l := in.Load(t, cpu.New(cpu.Config{}))
	seen := &log{onKernel: func(k stage.Kernel) {
		if k != stage.PrepMSM {
			return
		}
		for range 2 {
			if err := errors.Join(l.Key.Close(), l.Structure.Close()); err != nil {
				t.Error(err)
			}
		}
		if in.Source.Closed != 0 {
			t.Error("the file was closed under a proof")
		}
	}}
	ticket, err := l.Backend.Submit(t.Context(), l.Key, l.Packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{Observer: seen})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := ticket.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := groth16.Verify(in.VK, proof, in.Public, ""); err != nil {
		t.Error(err)
	}
	if in.Source.Closed != 1 {
		t.Errorf("the file was closed %d times", in.Source.Closed)
	}
	if _, err := l.Backend.Submit(t.Context(), l.Key, l.Packed(), curve.Scalar{}, curve.Scalar{}, groth16.Options{}); err == nil {
		t.Error("a closed key was taken")
	}
}

func TestRefusesWhatDoesNotFit(t *testing.T) {
	in := instance.New(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
	other := instance.New(t, curve.BN254, groth16.LayoutGnark, instance.Shape{Public: 1, Private: 3, Constraints: 100, Density: 50}, 1)
	foreign := instance.New(t, curve.BLS12381, groth16.LayoutGnark, ordinary, 1)
	b := cpu.New(cpu.Config{})
	l, o, f := in.Load(t, b), other.Load(t, b), foreign.Load(t, b)
	short := in.Canonical()
	short.Elements = short.Elements[1:]
	shifted := in.Canonical()
	shifted.Elements[0] = curve.Scalar{2}
	long := in.Evaluated(groth16.Canonical)
	long.A = instance.Vector{Elements: make([]curve.Scalar, 1000)}
	withoutC := in.Evaluated(groth16.Canonical)
	withoutC.C = nil
	uneven := in.Evaluated(groth16.Canonical)
	uneven.B = instance.Vector{Elements: make([]curve.Scalar, 1)}
	tooFew := in.Bits(l.Structure)
	tooFew.Witness = instance.Vector{}
	for _, test := range []struct {
		name  string
		a     groth16.Assignment
		r     curve.Scalar
		class failure.Class
		want  string
	}{
		{"short witness", groth16.Packed{Structure: l.Structure, Witness: short}, curve.Scalar{}, failure.Input, "the witness has 92 elements, the key is of a circuit with 93 wires"},
		{"no one", groth16.Packed{Structure: l.Structure, Witness: shifted}, curve.Scalar{}, failure.Input, "element 0 of the witness must be 1"},
		{"other structure", groth16.Packed{Structure: o.Structure, Witness: in.Canonical()}, curve.Scalar{}, failure.Key, "the constraint system has 5 wires, the proving key 93"},
		{"other curve", groth16.Packed{Structure: f.Structure, Witness: in.Canonical()}, curve.Scalar{}, failure.Key, "the constraint system is on BLS12-381, the proving key on BN254"},
		{"no structure", groth16.Packed{Witness: in.Canonical()}, curve.Scalar{}, failure.Internal, "a structure of another backend"},
		{"too many rows", long, curve.Scalar{}, failure.Key, "the constraint system has 1000 rows, the proving key's domain holds 32"},
		{"no C", withoutC, curve.Scalar{}, failure.Input, "the assignment lacks C"},
		{"uneven rows", uneven, curve.Scalar{}, failure.Internal, "different lengths"},
		{"bits that do not add up", tooFew, curve.Scalar{}, failure.Input, "the witness has 0 elements that are not bits"},
		{"r not canonical", in.Evaluated(groth16.Canonical), curve.ScalarFromBig(curve.BN254.ScalarModulus()), failure.Internal, "r and s must be canonical"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ticket, err := b.Submit(t.Context(), l.Key, test.a, test.r, curve.Scalar{}, groth16.Options{})
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
		change func(k *instance.Key)
		budget groth16.Budget
		class  failure.Class
		want   string
	}{
		{"short A", func(k *instance.Key) { k.Sections[groth16.SectionA] = k.Sections[groth16.SectionA][64:] }, groth16.Budget{}, failure.Key, "section A has"},
		{"long B2", func(k *instance.Key) {
			k.Sections[groth16.SectionB2] = append(k.Sections[groth16.SectionB2], make([]byte, 128)...)
		}, groth16.Budget{}, failure.Key, "section B2 has"},
		{"short H", func(k *instance.Key) { k.Sections[groth16.SectionH] = k.Sections[groth16.SectionH][64:] }, groth16.Budget{}, failure.Key, "section H has"},
		{"few bits", func(k *instance.Key) { k.AbsentBits[groth16.SectionB1] = k.AbsentBits[groth16.SectionB1][:1] }, groth16.Budget{}, failure.Key, "section B1: 1 words tell the absent points of 93 wires"},
		{"domain", func(k *instance.Key) { k.DomainSize = 48 }, groth16.Budget{}, failure.Key, "a domain of 48 elements, which is no power of two"},
		{"huge domain", func(k *instance.Key) { k.DomainSize = 1 << 40 }, groth16.Budget{}, failure.Key, "more than the field of BN254 allows"},
		{"all public", func(k *instance.Key) { k.PublicInputs = 93 }, groth16.Budget{}, failure.Key, "93 wires with 93 public inputs"},
		{"budget", func(*instance.Key) {}, groth16.Budget{HostBytes: 5000}, failure.Memory, "4.9 KiB are allowed for it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := instance.New(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
			test.change(in.Source)
			_, err := cpu.New(cpu.Config{}).LoadKey(t.Context(), in.Source, test.budget)
			if err == nil {
				t.Fatal("it was loaded")
			}
			if class := failure.ClassOf(err); class != test.class || !strings.Contains(err.Error(), test.want) {
				t.Errorf("class %s, error %q, want %s and %q", class, err, test.class, test.want)
			}
			if in.Source.Closed != 0 {
				t.Error("the source was closed, though it is still the caller's")
			}
		})
	}
}

func TestReservesBeforeItComputes(t *testing.T) {
	in := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
	budget := memory.NewBudget(1000)
	l := in.Load(t, cpu.New(cpu.Config{Memory: budget}))
	need := l.Backend.Demand(l.Key).HostBytes
	if need <= 1000 {
		t.Fatalf("a proof needs %d bytes", need)
	}
	ticket, err := l.Backend.Submit(t.Context(), l.Key, l.Packed(), curve.Scalar{}, curve.Scalar{}, groth16.Options{})
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
	ticket, err = l.Backend.Submit(t.Context(), l.Key, l.Packed(), curve.Scalar{}, curve.Scalar{}, groth16.Options{Reservation: own})
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
		*instance.Loaded
		ticket groth16.Ticket
	}
	var jobs []job
	for i := range 12 {
		in := instance.New(t, curve.All[i%2], groth16.Layout(i%3), ordinary, uint64(i))
		l := in.Load(t, b)
		ticket, err := b.Submit(t.Context(), l.Key, l.Packed(), random(t, curve.All[i%2]), curve.ScalarFromBig(big.NewInt(int64(i))), groth16.Options{Priority: i % 4})
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
		if err := groth16.Verify(j.VK, proof, j.Public, ""); err != nil {
			t.Errorf("proof %d: %v", i, err)
		}
	}
}
