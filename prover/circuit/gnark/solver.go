package gnark

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/consensys/gnark"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark/internal/solving"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/provingkey/gnarkkey"
)

// Options of a Solver. The zero value is good.
type Options struct {
	// MemoryBytes bounds what the solver may allocate; 0 stands for System.SolverBytes. The assignment itself, which is
	// shared with this process, comes on top (System.AssignmentBytes).
	MemoryBytes int64
	// Timeout bounds the decoding, and each assignment; 0 stands for no bound but the context's.
	Timeout time.Duration
	// Threads is how many cores the solver uses; 0 stands for GOMAXPROCS.
	Threads int
	// Hash is the hash of the circuit's commitments; the zero value is gnark's default.
	Hash groth16.CommitmentHash
	// Log receives what is worth a line, for instance that another version of gnark wrote the constraint system. Nil
	// is allowed.
	Log *slog.Logger
}

// Solver holds a constraint system decoded, in a child process with a memory limit, and solves witnesses with it. The
// child stays for any number of witnesses; if it dies, the next one starts another. Solving is one witness at a time;
// calls that wait for their turn give up with their context.
type Solver struct {
	system  *System
	options Options
	keys    *shared // commitment keys
	shape   solving.Shape
	turn    chan struct{}
	child   *child
	missing []uint32
	nothing int // number of missing hints
	closed  bool
}

// NewSolver starts a solver and decodes the constraint system. The key must be of the same setup: it bounds the dimensions
// that the system claims, and holds the keys of its commitments, which are copied. The system must stay open until the
// Solver is closed; the key need not.
func NewSolver(ctx context.Context, system *System, key *gnarkkey.Key, options Options) (*Solver, error) {
	if err := key.Agrees(system.Circuit()); err != nil {
		return nil, err
	}
	if _, err := groth16.ParseCommitmentHash(string(options.Hash)); err != nil {
		return nil, err
	}
	s := &Solver{system: system, options: options, turn: make(chan struct{}, 1)}
	s.shape = solving.Shape{Constraints: system.Constraints, Public: system.Public, Secret: system.Secret, Internal: system.Internal}
	for _, c := range system.Commitments {
		s.shape.Committed = append(s.shape.Committed, len(c.Private))
	}
	if s.options.MemoryBytes == 0 {
		s.options.MemoryBytes = system.SolverBytes()
	}
	if s.options.Threads == 0 {
		s.options.Threads = runtime.GOMAXPROCS(0)
	}
	if s.options.Log == nil {
		s.options.Log = slog.New(slog.DiscardHandler)
	}
	if own := gnark.Version.String(); own != system.Version {
		s.options.Log.Warn("The constraint system was written by another version of gnark",
			"file", system.name, "fileVersion", system.Version, "solverVersion", own)
	}
	if err := s.shareKeys(key); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.keys.close())
	}
	return s, nil
}

// SolverBytes is the memory that decoding and solving this system may take. It is three times decoded + values, and
// something for the program itself, so that only a damaged or hostile file reaches it: decoded + values is within a tenth
// or so of the least with which gnark 0.16 solves a chain of 2^18 squarings and a SHA-256 of 256 bytes (306,384 rows) on
// BN254 (98 and 198 MiB).
func (s *System) SolverBytes() int64 {
	rows := int64(1)
	for rows < int64(s.Constraints) {
		rows *= 2
	}
	decoded := 4*s.Size() + 8*s.Calldata
	values := int64(s.Wires())*(curve.ScalarBytes+8) + 3*rows*curve.ScalarBytes
	return 512<<20 + 3*(decoded+values)
}

// AssignmentBytes is the memory that an assignment takes: all wires, and A, B and C.
func (s *System) AssignmentBytes() int64 {
	return int64(s.Wires()+3*s.Constraints) * curve.ScalarBytes
}

// shareKeys copies the commitment keys to memory that the child maps.
func (s *Solver) shareKeys(key *gnarkkey.Key) error {
	size := s.shape.KeyBytes(s.system.Curve)
	if size == 0 {
		return nil
	}
	memory, err := newShared("cuzk-commitment-keys", size)
	if err != nil {
		return err
	}
	at := memory.data
	for i := range s.shape.Committed {
		basis, sigma, err := key.CommitmentKey(i)
		if err != nil {
			return errors.Join(err, memory.close())
		}
		at = at[copy(at, basis):]
		at = at[copy(at, sigma):]
	}
	s.keys = memory
	return nil
}

// start makes the child and lets it decode the system.
func (s *Solver) start(ctx context.Context) error {
	c, err := startChild()
	if err != nil {
		return err
	}
	system, err := s.system.descriptor()
	if err != nil {
		c.kill()
		return err
	}
	defer system.Close()
	files := []int{int(system.Fd())}
	if s.keys != nil {
		files = append(files, s.keys.fd)
	}
	reply, err := s.call(ctx, c, solving.Request{Load: &solving.Load{Curve: s.system.Curve, FileBytes: s.system.Size(),
		MemoryBytes: s.options.MemoryBytes, Threads: s.options.Threads, Shape: s.shape, Hash: string(s.options.Hash)}}, files)
	if err == nil && reply.Failure != nil {
		c.kill()
		err = s.failed(reply.Failure, s.system.name)
	}
	if err != nil {
		return s.located(err, failure.Key, s.system.name, "decoding the constraint system", fixSystem)
	}
	s.child, s.missing, s.nothing = c, reply.Missing, reply.MissingCount
	return nil
}

// Solve computes the assignment of a witness. Errors are of class Input where the witness is at fault, and name the
// constraint that it does not satisfy.
func (s *Solver) Solve(ctx context.Context, w *Witness) (*Assignment, error) {
	if err := w.fits(s.system); err != nil {
		return nil, err
	}
	if s.nothing > 0 {
		return nil, s.missingHints()
	}
	return s.assign(ctx, w.name, &solving.Solve{}, w.elements, 1)
}

// Complete computes the assignment of a solution, which holds all wires: no hint is called. Errors are of class Input
// where the solution is at fault, and name the first constraint that it does not satisfy.
func (s *Solver) Complete(ctx context.Context, solution *Solution) (*Assignment, error) {
	if err := solution.fits(s.system); err != nil {
		return nil, err
	}
	return s.assign(ctx, solution.name, &solving.Solve{Complete: true}, solution.elements, 0)
}

// missingHints is the error of a circuit with hints that are not linked in.
func (s *Solver) missingHints() error {
	names := make(map[uint32]string, len(s.system.Hints))
	for _, h := range s.system.Hints {
		names[h.ID] = h.Name
	}
	slices.Sort(s.missing)
	list := make([]string, 0, len(s.missing))
	for _, id := range s.missing[:min(len(s.missing), 10)] {
		list = append(list, fmt.Sprintf("%s (id %d)", names[id], id))
	}
	if more := s.nothing - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return failure.New(failure.Key, "the circuit needs hints that this program does not have: %s", strings.Join(list, ", ")).In(s.system.name).
		WithFix("hand in a solution made by the program that has them (gnark's R1CSSolution.WriteTo) in place of the witness, or build cuzk with them: see the package prover/circuit/gnark/hints")
}

// assign runs one Solve. elements, big-endian, are put at the wires from first on.
func (s *Solver) assign(ctx context.Context, name string, request *solving.Solve, elements []byte, first int) (*Assignment, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.closed {
		return nil, failure.New(failure.Internal, "the solver of %s is closed", s.system.name)
	}
	if s.child == nil {
		if err := s.start(ctx); err != nil {
			return nil, err
		}
	}
	memory, err := newShared("cuzk-assignment", s.shape.Bytes(s.system.Curve))
	if err != nil {
		return nil, err
	}
	err = s.fill(ctx, memory, elements, first)
	var reply *solving.Reply
	if err == nil {
		c := s.child
		reply, err = s.call(ctx, c, solving.Request{Solve: request}, []int{memory.fd})
		if c.dead {
			s.child = nil
		}
	}
	if err == nil && reply.Failure != nil {
		err = s.failed(reply.Failure, name)
	}
	if err != nil {
		return nil, errors.Join(s.located(err, failure.Input, name, "solving the circuit", "hand in a witness of this circuit"), memory.close())
	}
	return newAssignment(s.system, s.shape, memory)
}

// fill converts the inputs to Montgomery form, at their places among the wires.
func (s *Solver) fill(ctx context.Context, memory *shared, elements []byte, first int) error {
	wires := memory.scalars(0, s.shape.Wires())
	wires[0] = curve.Scalar{1}
	s.system.Curve.ToMontgomery(wires[:1])
	return parallel.Ranges(ctx, len(elements)/curve.ScalarBytes, elementsPerStep, func(start, end int) error {
		to := wires[first+start : first+end]
		for i := range to {
			to[i] = bigEndianScalar(elements[(start+i)*curve.ScalarBytes:])
		}
		s.system.Curve.ToMontgomery(to)
		return nil
	})
}

// call sends a request under the solver's time limit.
func (s *Solver) call(ctx context.Context, c *child, r solving.Request, files []int) (*solving.Reply, error) {
	if s.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.options.Timeout, &timeoutError{s.options.Timeout})
		defer cancel()
	}
	return c.call(ctx, r, files)
}

type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("it took longer than %s", e.limit) }

// failed turns the child's answer into an error.
func (s *Solver) failed(f *solving.Failure, input string) error {
	switch f.Fault {
	case solving.FaultSystem:
		return failure.New(failure.Key, "%s", f.Text).In(s.system.name).WithFix("%s", fixSystem)
	case solving.FaultInput:
		e := failure.New(failure.Input, "%s", f.Text).In(input).WithFix("compute the witness again, from inputs of this circuit")
		e.Constraint = f.Constraint
		return e
	}
	return failure.New(failure.Internal, "the solver: %s", f.Text).In(s.system.name)
}

// located gives the end of the child a class and the file that it was about.
func (s *Solver) located(err error, class failure.Class, name, what, fix string) error {
	var crash *crashError
	var timeout *timeoutError
	switch {
	case errors.As(err, &timeout):
		return failure.New(class, "%s: %w", what, err).In(name).WithFix("raise the time limit, if the circuit is as large as that")
	case !errors.As(err, &crash):
		return err
	case crash.cause == crashMemory:
		return failure.New(class, "%s took more than the %d MiB of memory that the solver may use", what, s.options.MemoryBytes>>20).In(name).
			WithFix("raise the solver's memory limit, if the circuit is as large as that; else the file is damaged")
	case crash.cause == crashSetup:
		return failure.New(failure.Internal, "%s: the solver cannot run here: %s", what, crash.text).In(name)
	case crash.cause == crashKilled:
		return failure.New(failure.Memory, "%s: the solver was killed from outside, as the kernel does when memory runs out", what).In(name).
			WithFix("give the prover more memory")
	}
	return failure.New(class, "%s: gnark crashed: %s", what, crash.text).In(name).WithFix("%s", fix)
}

// Close ends the child. Assignments stay valid.
func (s *Solver) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.closed = true
	if s.child != nil {
		s.child.kill()
		s.child = nil
	}
	return s.keys.close()
}
