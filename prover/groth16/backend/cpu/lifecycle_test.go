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
	"github.com/cuzk-dev/cuzk/prover/internal/progresstest"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// log is an observer that remembers, and can act on what it sees.
type log struct {
	begun    []stage.Name
	kernels  []stage.Kernel
	stages   []stage.Name
	progress progresstest.Work
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
			held, _ := l.Key.Bytes()
			if used, peak := budget.Used(); used != held || peak <= held {
				t.Errorf("%d bytes are still taken, of them %d by the key; peak %d", used, held, peak)
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

// counted is a key source that counts how often its points are asked for.
type counted struct {
	*instance.Key
	resident bool
	reads    int
}

func (c *counted) Resident() bool { return c.resident }
func (c *counted) Points(s groth16.Section) ([]byte, error) {
	c.reads++
	return c.Key.Points(s)
}

// A key holds its memory from before its points are read until its last user is done, once for all proofs; there is a byte
// too little or there is not.
func TestKeyHoldsItsMemory(t *testing.T) {
	in := instance.New(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
	source := &counted{Key: in.Source}
	foreseen, proof := cpu.New(cpu.Config{}).KeyDemand(groth16.ShapeOf(source))
	if points := groth16.ShapeOf(source).PointBytes(); points == 0 || foreseen.HostBytes <= points {
		t.Fatalf("a key of %d bytes, of them %d of points", foreseen.HostBytes, points)
	}
	_, err := cpu.New(cpu.Config{Memory: memory.NewBudget(foreseen.HostBytes - 1)}).LoadKey(t.Context(), source, groth16.Budget{})
	if failure.ClassOf(err) != failure.Memory || source.reads > 0 || in.Source.Closed > 0 {
		t.Errorf("a byte too little: %v, %d sections were read", err, source.reads)
	}
	budget := memory.NewBudget(foreseen.HostBytes + 2*proof.HostBytes)
	b := cpu.New(cpu.Config{Memory: budget, Proofs: 2})
	key, err := b.LoadKey(t.Context(), source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	l := &instance.Loaded{Instance: in, Backend: b, Key: key}
	if l.Structure, err = b.LoadStructure(t.Context(), in.Matrices); err != nil {
		t.Fatal(err)
	}
	var tickets [2]groth16.Ticket
	for i := range tickets {
		if tickets[i], err = b.Submit(t.Context(), key, l.Packed(), curve.Scalar{1}, curve.Scalar{2}, groth16.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := key.Close(); err != nil {
		t.Error(err)
	}
	for _, ticket := range tickets {
		if _, err := ticket.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if now, _ := budget.Used(); now != 0 || budget.Room() != budget.Total() {
		t.Errorf("%d bytes are taken after the last user", now)
	}
	// What fails to load holds nothing.
	in.Source.Sections[groth16.SectionH] = nil
	if _, err := b.LoadKey(t.Context(), source, groth16.Budget{}); failure.ClassOf(err) != failure.Key {
		t.Error(err)
	}
	if now, _ := budget.Used(); now != 0 {
		t.Errorf("%d bytes are taken by a key that was refused", now)
	}
}

// Points of a mapped key are the page cache's.
func TestMappedPointsTakeNoMemory(t *testing.T) {
	in := instance.New(t, curve.BN254, groth16.LayoutGnark, ordinary, 1)
	source := &counted{Key: in.Source, resident: true}
	shape := groth16.ShapeOf(source)
	mapped, _ := cpu.New(cpu.Config{}).KeyDemand(shape)
	shape.Resident = false
	read, _ := cpu.New(cpu.Config{}).KeyDemand(shape)
	if got, want := read.HostBytes-mapped.HostBytes, shape.PointBytes(); got != want {
		t.Errorf("mapping a key saves %d bytes, its points have %d", got, want)
	}
	key, err := cpu.New(cpu.Config{Memory: memory.NewBudget(mapped.HostBytes)}).LoadKey(t.Context(), source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Close(); err != nil {
		t.Error(err)
	}
}

func TestReservesBeforeItComputes(t *testing.T) {
	in := instance.New(t, curve.BN254, groth16.LayoutSnarkjs, ordinary, 1)
	key, proof := cpu.New(cpu.Config{}).KeyDemand(groth16.ShapeOf(in.Source))
	budget := memory.NewBudget(key.HostBytes + proof.HostBytes - 1)
	l := in.Load(t, cpu.New(cpu.Config{Memory: budget}))
	need := l.Backend.Demand(l.Key).HostBytes
	if need != proof.HostBytes {
		t.Errorf("a proof needs %d bytes, foreseen were %d", need, proof.HostBytes)
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
