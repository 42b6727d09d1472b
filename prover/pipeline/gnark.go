package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/provingkey/gnarkkey"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// gnarkFront makes assignments of gnark circuits: their constraint systems are solved in a child process.
type gnarkFront struct {
	key    *gnarkkey.Key
	system *gnark.System
	solver *gnark.Solver
}

func (p *Prover) openGnark(ctx context.Context, files Files, obs stage.Observer) (_ frontEnd, vk *groth16.VerifyingKey, err error) {
	f := &gnarkFront{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
			if f.key != nil {
				err = errors.Join(err, f.key.Close())
			}
		}
	}()
	if files.ConstraintSystem == nil {
		return nil, nil, failure.New(failure.Usage, "a gnark proving key needs the circuit's constraint system beside it").
			In(files.ProvingKey.Name).WithFix("hand in the file that the compiled circuit's WriteTo made, as constraint system")
	}
	key, err := onDisk(files.ProvingKey)
	if err != nil {
		return nil, nil, err
	}
	if f.key, err = gnarkkey.OpenFile(key, files.ProvingKey.Name, gnarkkey.Options{Curve: p.config.Curve}); err != nil {
		return nil, nil, err
	}
	ccs, err := onDisk(files.ConstraintSystem)
	if err != nil {
		return nil, nil, err
	}
	if f.system, err = gnark.OpenSystemFile(ccs, files.ConstraintSystem.Name, f.key.Curve()); err != nil {
		return nil, nil, err
	}
	if err = f.key.Bind(f.system.Circuit()); err != nil {
		return nil, nil, err
	}
	if v := files.VerifyingKey; v != nil {
		err = v.parse(func(data []byte) (err error) {
			vk, err = gnarkfmt.ParseVerifyingKey(data, f.key.Curve())
			return named(err, v)
		})
		if err != nil {
			return nil, nil, err
		}
	} else {
		p.config.Log.Warn("No verifying key was given: a gnark proving key does not hold it, so proofs leave without having been verified",
			"fix", "hand in the verifying key of the same setup")
	}
	if err = p.admit(groth16.ShapeOf(f.key), f.leastDemand()); err != nil {
		return nil, nil, named(err, files.ProvingKey)
	}
	err = f.key.Load(ctx, loading(obs))
	if err != nil {
		return nil, nil, err
	}
	f.solver, err = gnark.NewSolver(ctx, f.system, f.key, gnark.Options{
		MemoryBytes: p.config.WitnessMemoryBytes, Timeout: p.config.WitnessTimeout, Threads: p.config.Threads,
		Hash: p.config.CommitmentHash, Log: p.config.Log,
	})
	return f, vk, err
}

// onDisk is a file for readers that take nothing else.
func onDisk(f *File) (*os.File, error) {
	if f.File == nil {
		return nil, failure.New(failure.Internal, "is in memory, but a file is needed").In(f.Name)
	}
	return f.File, nil
}

func (f *gnarkFront) keySource() groth16.KeySource { return f.key }

// leastDemand: what the solver itself takes is bounded apart, in its process.
func (f *gnarkFront) leastDemand() int64 { return f.system.AssignmentBytes() }

func (f *gnarkFront) demand(*File) int64 { return f.leastDemand() }

// assign solves a witness, or takes a solution, which holds all wires; its length tells which it is.
func (f *gnarkFront) assign(ctx context.Context, in *File) (_ *assignment, err error) {
	content, err := in.contents()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	var solved *gnark.Assignment
	err = mapped.Guard(func() (err error) { solved, err = f.solve(ctx, in.Name, content.data); return err })
	if err != nil {
		return nil, named(err, in)
	}
	return &assignment{Assignment: solved.Evaluated, public: solved.Public, witness: solved.Witness, close: solved.Close}, nil
}

func (f *gnarkFront) solve(ctx context.Context, name string, data []byte) (*gnark.Assignment, error) {
	if isSolution(data) {
		s, err := gnark.ParseSolution(ctx, name, data, f.system.Curve)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		return f.solver.Complete(ctx, s)
	}
	w, err := gnark.ParseWitness(ctx, name, data, f.system.Curve)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return f.solver.Solve(ctx, w)
}

// isSolution tells a solution (the number of wires, then their values, of which the first is one) from a witness (two
// counts, their sum, then the values): read as a witness, a solution would have some public values and none in all.
func isSolution(data []byte) bool {
	const head = 4 + curve.ScalarBytes
	return len(data) >= head && binary.BigEndian.Uint32(data) > 0 && data[head-1] == 1 &&
		bytes.Equal(data[4:head-1], make([]byte, curve.ScalarBytes-1))
}

// explain: the solver has checked every constraint, so it can only be the key.
func (f *gnarkFront) explain(ctx context.Context, _ *assignment, cause error, tell progress.Func) error {
	err := f.key.Check(ctx, tell)
	if err != nil {
		return err
	}
	return failure.New(failure.Key, "%w, though the witness satisfies the constraint system %s and every point of the key is sound: the proving key or the verifying key is of another setup, or damaged",
		cause, f.system.Name()).In(f.key.Name()).WithFix("use the files of one setup")
}

func (f *gnarkFront) Close() error {
	var errs []error
	if f.solver != nil {
		errs = append(errs, f.solver.Close())
	}
	if f.system != nil {
		errs = append(errs, f.system.Close())
	}
	return errors.Join(errs...)
}
