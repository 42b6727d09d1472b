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
	"github.com/cuzk-dev/cuzk/prover/internal/counted"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// log is an observer that remembers, and can act on what it sees.
type log struct {
	begun    []stage.Name
	kernels  []stage.Kernel
	stages   []stage.Name
	progress counted.Work
	onKernel func(stage.Kernel)
}

func (l *log) Begin(s stage.Name)                       { l.begun = append(l.begun, s) }
func (l *log) Progress(_ stage.Name, done, total int64) { l.progress.Tell(done, total) }
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
	if seen.progress.Total == 0 {
		t.Error("no progress was told")
	}
	seen.progress.Whole(t, seen.progress.Total)
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

func TestRefusesWhatDoesNotFit(t *testing.T) { instance.RefusesAssignments(t, cpu.New(cpu.Config{})) }

func TestLoadKeyRefusesWhatDoesNotFit(t *testing.T) {
	instance.RefusesKeys(t, cpu.New(cpu.Config{}))
	in := instance.New(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
	_, err := cpu.New(cpu.Config{}).LoadKey(t.Context(), in.Source, groth16.Budget{HostBytes: 5000})
	if failure.ClassOf(err) != failure.Memory || !strings.Contains(err.Error(), "4.9 KiB are allowed for it") {
		t.Errorf("beyond its budget: %v", err)
	}
	if in.Source.Closed != 0 {
		t.Error("the source was closed, though it is still the caller's")
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
