package gnark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/consensys/gnark/frontend"
	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark/hints"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

func wantFailure(t *testing.T, err error, class failure.Class, texts ...string) {
	t.Helper()
	_ = failureThat(t, err, class, texts...)
}

// failureThat is wantFailure for those who look further.
func failureThat(t *testing.T, err error, class failure.Class, texts ...string) *failure.Error {
	t.Helper()
	var e *failure.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a failure that says %q", err, texts)
	}
	if e.Class != class {
		t.Errorf("class is %s, want %s: %v", e.Class, class, err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not say %q", err, text)
		}
	}
	if e.File == "" || !strings.Contains(err.Error(), e.File) {
		t.Errorf("%q does not name the file", err)
	}
	if strings.Contains(err.Error(), "goroutine") {
		t.Errorf("%q has a stack trace", err)
	}
	return e
}

// wrongWitness replaces a setup's witness.
func wrongWitness(t *testing.T, s *setup, assignment frontend.Circuit) string {
	t.Helper()
	w, err := frontend.NewWitness(assignment, s.id.ScalarModulus())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "wrong.bin")
	write(t, path, w)
	return path
}

func TestUnsatisfiedConstraintIsNamed(t *testing.T) {
	for _, id := range curve.All {
		for name, c := range map[string]struct {
			assignment frontend.Circuit
			constraint int64
			secret     string
		}{
			// x², x³ and the assertion are the rows of the cubic; the chain's last row is its assertion.
			"cubic": {&cubic{X: 31337, Y: 36}, 2, "31337"},
			"chain": {&chain{X: 31337, Y: 36}, chainLength, "31337"},
			"bits":  {&binaryForm{X: 31337, Ones: 3}, 41, "31337"},
		} {
			t.Run(fmt.Sprintf("%s/%s", id, name), func(t *testing.T) {
				s := setUp(t, id, name)
				path := wrongWitness(t, s, c.assignment)
				o, err := tryOpen(t, id, s.path("ccs.bin"), s.path("pk.bin"), path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				_, err = o.solver.Solve(t.Context(), o.witness)
				e := failureThat(t, err, failure.Input, path, "the witness does not satisfy it")
				if e.Constraint != c.constraint {
					t.Errorf("named constraint %d, want %d: %v", e.Constraint, c.constraint, err)
				}
				if strings.Contains(err.Error(), c.secret) || strings.Contains(err.Error(), " 36") {
					t.Errorf("%q tells a value of the witness", err)
				}
			})
		}
	}
}

func TestHintFailuresAreNamedWithoutValues(t *testing.T) {
	s := setUp(t, curve.BN254, "own hint")
	for x, text := range map[int]string{13: "squareRoot: … has no root", 14: "squareRoot: it panicked: … is worse"} {
		path := wrongWitness(t, s, &ownHint{X: x, Root: 3})
		o, err := tryOpen(t, s.id, s.path("ccs.bin"), s.path("pk.bin"), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = o.solver.Solve(t.Context(), o.witness)
		wantFailure(t, err, failure.Input, path, text)
		// The solver is still there.
		good := open(t, s, Options{})
		a, err := o.solver.Solve(t.Context(), good.witness)
		if err != nil {
			t.Fatalf("after a failed hint: %v", err)
		}
		_ = a.Close()
	}
}

func TestMissingHintIsNamedWithWaysOut(t *testing.T) {
	s := newSetup(t, curve.BN254, &strange{}, &strange{X: 144, Root: 12})
	o := open(t, s, Options{})
	_, err := o.solver.Solve(t.Context(), o.witness)
	name := "github.com/cuzk-dev/cuzk/prover/circuit/gnark.unknown"
	wantFailure(t, err, failure.Key, s.path("ccs.bin"), name, fmt.Sprintf("(id %d)", hints.ID(name)), "solution", "prover/circuit/gnark/hints")
}

func TestWitnessOfAnotherCircuit(t *testing.T) {
	cubicFiles, chainFiles := setUp(t, curve.BN254, "unused public"), setUp(t, curve.BN254, "chain")
	o := open(t, chainFiles, Options{})
	w, err := OpenWitness(t.Context(), cubicFiles.path("witness.bin"), curve.BN254)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = o.solver.Solve(t.Context(), w)
	wantFailure(t, err, failure.Input, cubicFiles.path("witness.bin"), "2 public and 1 secret values", "1 and 1 inputs")

	public, err := chainFiles.witness.Public()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "public.bin")
	write(t, path, public)
	if w, err = OpenWitness(t.Context(), path, curve.BN254); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = o.solver.Solve(t.Context(), w)
	wantFailure(t, err, failure.Input, path, "this is the public part alone")
}

func TestKeyOfAnotherCircuit(t *testing.T) {
	a, b := setUp(t, curve.BN254, "chain"), setUp(t, curve.BN254, "cubic")
	_, err := tryOpen(t, a.id, a.path("ccs.bin"), b.path("pk.bin"), a.path("witness.bin"), Options{})
	wantFailure(t, err, failure.Key, a.path("ccs.bin"), b.path("pk.bin"), "does not belong to")
	c := setUp(t, curve.BLS12381, "chain")
	_, err = tryOpen(t, a.id, a.path("ccs.bin"), c.path("pk.bin"), a.path("witness.bin"), Options{})
	wantFailure(t, err, failure.Key, "is for BLS12-381 and the constraint system for BN254")
	_, err = OpenSystem(a.path("ccs.bin"), curve.BLS12381)
	wantFailure(t, err, failure.Key, a.path("ccs.bin"), "is for BN254, but BLS12-381 was asked for")
}

// runMisbehaving runs the circuit whose hint does what x says.
func runMisbehaving(ctx context.Context, t *testing.T, x int, options Options) (*opened, error) {
	t.Helper()
	s := newSetup(t, curve.BN254, &misbehaving{}, &misbehaving{X: x, Y: x})
	o := open(t, s, options)
	a, err := o.solver.Solve(ctx, o.witness)
	if err == nil {
		_ = a.Close()
	}
	return o, err
}

// survives solves a good witness with a solver whose child has died.
func survives(t *testing.T, o *opened) {
	t.Helper()
	s := newSetup(t, curve.BN254, &misbehaving{}, &misbehaving{X: 9, Y: 9})
	w, err := OpenWitness(t.Context(), s.path("witness.bin"), curve.BN254)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	a, err := o.solver.Solve(t.Context(), w)
	if err != nil {
		t.Fatalf("the next witness: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestSolverThatTakesAllMemory(t *testing.T) {
	o, err := runMisbehaving(t.Context(), t, takeMemory, Options{MemoryBytes: 600 << 20})
	wantFailure(t, err, failure.Input, "took more than the 600 MiB", "memory limit")
	survives(t, o)
}

func TestSolverThatTakesAllTime(t *testing.T) {
	o, err := runMisbehaving(t.Context(), t, takeTime, Options{Timeout: 2 * time.Second})
	wantFailure(t, err, failure.Input, "took longer than 2s")
	survives(t, o)
}

func TestSolverEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	go cancel(stop)
	o, err := runMisbehaving(ctx, t, takeTime, Options{})
	if !errors.Is(err, stop) && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's cause", err)
	}
	survives(t, o)
}

func TestSolverThatCrashes(t *testing.T) {
	o, err := runMisbehaving(t.Context(), t, crash, Options{})
	wantFailure(t, err, failure.Input, "gnark crashed: panic: on a thread of its own, with …")
	survives(t, o)
}

func TestSolverEndsWithItsParent(t *testing.T) {
	s := newSetup(t, curve.BN254, &misbehaving{}, &misbehaving{X: takeTime, Y: takeTime})
	o := open(t, s, Options{})
	c := o.solver.child
	done := make(chan error)
	go func() {
		_, err := o.solver.Solve(t.Context(), o.witness)
		done <- err
	}()
	// As the kernel does for a parent that is gone.
	if err := c.socket.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.ended
	if err := <-done; err == nil {
		t.Error("solved without a child")
	}
}

// The child has its socket, and while it solves, the memory of the assignment; nothing else of this process.
func TestSolverInheritsNothing(t *testing.T) {
	leak, err := unix.Open("/etc/hostname", unix.O_RDONLY, 0) // Without close-on-exec.
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = unix.Close(leak) }()
	for x, want := range map[int]int{
		countFiles:       1000 + 2,
		countEnvironment: 1000 + 1, // The name of the program.
	} {
		s := newSetup(t, curve.BN254, &misbehaving{}, &misbehaving{X: x, Y: want})
		o := open(t, s, Options{})
		a, err := o.solver.Solve(t.Context(), o.witness)
		if err != nil {
			t.Errorf("the hint %d did not return %d: %v", x, want, err)
			continue
		}
		_ = a.Close()
	}
}

func TestVersionMismatchIsALine(t *testing.T) {
	s := setUp(t, curve.BN254, "cubic")
	old := &opened{}
	data, err := os.ReadFile(s.path("ccs.bin"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ccs.bin")
	data[16] = 14 // The minor version.
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	old, err = tryOpen(t, s.id, path, s.path("pk.bin"), s.path("witness.bin"), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "fileVersion=0.14.0") || strings.Count(text, "\n") != 1 {
		t.Errorf("logged %q", text)
	}
	a, err := old.solver.Solve(t.Context(), old.witness)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Close()
}

func TestPublicInputs(t *testing.T) {
	s := setUp(t, curve.BLS12381, "unused public")
	o := open(t, s, Options{})
	a, err := o.solver.Solve(t.Context(), o.witness)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	want := []curve.Scalar{{9}, {77}}
	for _, got := range [][]curve.Scalar{a.Public, o.witness.PublicInputs()} {
		if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("public inputs are %v, want %v", got, want)
		}
	}
}
