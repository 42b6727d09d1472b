package pipeline

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// Filecoin is a Filecoin circuit with its parameters, ready to prove any number of jobs of its shape, partition by
// partition. Its methods may be called concurrently.
//
// A job (package job) is read from its input and knows its statement. Prove makes the whole proof, or some partitions of
// it; ProvePartition makes one. Every proof of a partition is verified against the public inputs of the statement before it
// is returned.
type Filecoin struct {
	core
	front *filecoinCircuit
}

// OpenFilecoin loads a shape's parameters: files.ProvingKey is the .params, files.VerifyingKey a .vk, which must be of the
// same set-up and may be left out, as the .params holds it too. Of the config, Format, Curve and what concerns other circuits
// are not looked at; CacheFolder keeps the constraint system for later processes. A file of another circuit is refused by
// its name (if it has one of the names of published parameters) and by its lengths, before anything is computed. obs is told
// of the stage srs.
func OpenFilecoin(ctx context.Context, files Files, shape filecoin.Shape, config Config, obs stage.Observer) (*Filecoin, error) {
	f := &Filecoin{core: newCore(config)}
	if err := f.open(obs, func(obs stage.Observer) error { return f.load(ctx, files, shape, obs) }); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Filecoin) load(ctx context.Context, files Files, shape filecoin.Shape, obs stage.Observer) error {
	params := files.ProvingKey
	if params == nil {
		return failure.New(failure.Usage, "no parameters were given")
	}
	if err := checkParameterName(params.Name, shape); err != nil {
		return err
	}
	c, err := f.newCircuit(ctx, params, shape)
	if err != nil {
		return err
	}
	f.front = c
	c.source = newReading(c.key, loading(obs))
	vk := c.key.VerifyingKey()
	if files.VerifyingKey != nil {
		if err := sameSetUp(files.VerifyingKey, params, vk); err != nil {
			return errors.Join(err, c.Close(), c.key.Close())
		}
	}
	return f.use(ctx, c, vk, files)
}

// checkParameterName refuses a file that has the name of another circuit's parameters.
func checkParameterName(path string, shape filecoin.Shape) error {
	want := shape.ParameterName()
	version, _, _ := strings.Cut(want, "-")
	name, isParams := strings.CutSuffix(filepath.Base(path), ".params")
	if isParams && strings.HasPrefix(name, version+"-") && name != want {
		return failure.New(failure.Key, "is the name of another circuit's parameters: those of this one are called %s.params", want).In(path)
	}
	return nil
}

// publishedLengths are those of a circuit with published parameters, which are known without its constraint system.
func publishedLengths(shape filecoin.Shape) (filecoin.Lengths, bool) {
	for _, p := range filecoin.PublishedParameters {
		if p.Circuit.Shape(p.Sector) == shape {
			return p.Lengths, true
		}
	}
	return filecoin.Lengths{}, false
}

// sameSetUp refuses a verifying key that is not the parameters' own.
func sameSetUp(file, params *File, own *groth16.VerifyingKey) error {
	var given *groth16.VerifyingKey
	err := file.parse(func(data []byte) (err error) { given, err = filparams.ParseVerifyingKey(file.Name, data); return err })
	if err != nil {
		return err
	}
	if !own.SameStatement(given) {
		return failure.New(failure.Key, "is not the verifying key of %s: its proofs would be refused", params.Name).In(file.Name).
			WithFix("use the .vk of the same set-up, or leave it out")
	}
	return nil
}

// Shape is the shape of the circuit.
func (f *Filecoin) Shape() filecoin.Shape { return f.front.shape }

// ProvePartition proves one partition of a job as often as runs says; the proof is the last run's. obs is told of every
// stage of every run.
func (f *Filecoin) ProvePartition(ctx context.Context, j *job.Job, partition int, runs Runs, obs stage.Observer) (*Result, error) {
	if err := f.front.check(j); err != nil {
		return nil, err
	}
	return f.prove(ctx, f.front.work(j, partition), runs, obs)
}

// Verify checks a proof of all partitions of a statement, as they are in a row in Filecoin's form.
func (f *Filecoin) Verify(s proof.Statement, data []byte) error {
	return proof.Verify(f.verifier, proof.Claim{Statement: s, Proof: data})
}

// filecoinCircuit is a circuit of a shape with its parameters.
type filecoinCircuit struct {
	shape     filecoin.Shape
	structure *structure.Structure
	key       *filparams.Key
	source    *reading // of the key
	evaluator evaluator
}

func (f *Filecoin) newCircuit(ctx context.Context, params *File, shape filecoin.Shape) (_ *filecoinCircuit, err error) {
	file, err := openParams(params)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	if lengths, known := publishedLengths(shape); known {
		if err := file.CheckLengths(lengths); err != nil {
			return nil, err
		}
		if err := f.admit(filparams.ShapeOf(lengths), 0); err != nil {
			return nil, named(err, params)
		}
	}
	c := &filecoinCircuit{shape: shape}
	if c.structure, err = synthesis.Load(ctx, f.config.CacheFolder, shape, f.config.Log); err != nil {
		return nil, err
	}
	if c.key, err = file.For(synthesis.Circuit(c.structure)); err != nil {
		return nil, err
	}
	c.evaluator, err = newEvaluator(ctx, c.structure, f.config.Backend)
	return c, err
}

func openParams(f *File) (*filparams.File, error) {
	if f.File == nil {
		return filparams.Parse(f.Name, f.Data)
	}
	return filparams.OpenFile(f.File, f.Name)
}

// check refuses a job of another circuit.
func (c *filecoinCircuit) check(j *job.Job) error {
	if got, want := j.Shape.ParameterName(), c.shape.ParameterName(); got != want {
		return failure.New(failure.Usage, "the input is for the parameters %s, but %s were loaded", got, want)
	}
	return nil
}

func (c *filecoinCircuit) work(j *job.Job, partition int) work {
	return work{
		bytes:  c.leastDemand(),
		assign: func(ctx context.Context) (*assignment, error) { return c.assign(ctx, j, partition) },
	}
}

// assign computes a partition's witness and what the backend takes of it.
func (c *filecoinCircuit) assign(ctx context.Context, j *job.Job, partition int) (*assignment, error) {
	w, public, err := j.Assign(ctx, c.structure, partition)
	if err != nil {
		return nil, err
	}
	made, free, err := c.evaluator.evaluate(ctx, w)
	if err != nil {
		w.Free()
		return nil, err
	}
	return &assignment{
		Assignment: made, public: public,
		satisfied: func(ctx context.Context) error { return c.structure.Check(ctx, w) },
		close: func() error {
			free()
			w.Free()
			return nil
		},
	}, nil
}

func (c *filecoinCircuit) keySource() groth16.KeySource { return c.source }

// leastDemand is that of every job's partitions.
func (c *filecoinCircuit) leastDemand() int64 {
	return synthesis.WitnessBytes(c.structure) + c.evaluator.bytes()
}

func (c *filecoinCircuit) Close() error { return c.evaluator.Close() }

// explain looks for a constraint that does not hold, then for a point of the parameters that is none.
func (c *filecoinCircuit) explain(ctx context.Context, a *assignment, cause error, tell progress.Func) error {
	if err := a.satisfied(ctx); err != nil {
		var wrong *structure.UnsatisfiedError
		if errors.As(err, &wrong) {
			return failure.New(failure.Internal, "%w, but every hash of the input agrees: the witness was computed wrongly", err).OnConstraint(int64(wrong.Constraint))
		}
		return err
	}
	err := c.key.Check(ctx, tell)
	if err != nil {
		return err
	}
	return failure.New(failure.Key, "%w, though the witness satisfies the circuit and every point of the parameters is on its curve: they are damaged, or of another circuit", cause).
		In(c.key.Name()).WithFix("compare the file's digest with the published one (`cuzk params check`)")
}
