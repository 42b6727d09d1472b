package pipeline

import (
	"context"
	"errors"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// circomFront makes assignments of circom circuits: a witness from a .wtns, or from an input.json by the circuit's
// program; A and B come from the key, which holds them.
type circomFront struct {
	config      *Config
	key         *zkey.Key
	structure   groth16.Structure
	constraints *r1cs.Matrices // nil without a .r1cs
	r1csName    string
	generator   *circom.Generator // nil without a .wasm
}

func (p *Prover) openCircom(ctx context.Context, files Files, obs stage.Observer) (_ frontEnd, vk *groth16.VerifyingKey, err error) {
	f := &circomFront{config: &p.config}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), closeKey(f.key))
		}
	}()
	if f.key, err = openZkey(ctx, files.ProvingKey, loading(obs)); err != nil {
		return nil, nil, err
	}
	for _, w := range f.key.Warnings() {
		p.config.Log.Warn("The proving key is odd", "file", f.key.Name(), "oddity", w)
	}
	if want := p.config.Curve; want != "" && want != f.key.Curve() {
		return nil, nil, failure.New(failure.Key, "the key is on %s, not on %s", f.key.Curve(), want).In(f.key.Name()).
			WithFix("use a key of a circuit compiled for %s, or say %s", want, f.key.Curve())
	}
	if vk, err = f.verifyingKey(ctx, files.VerifyingKey); err != nil {
		return nil, nil, err
	}
	matrices, err := f.key.Matrices()
	if err != nil {
		return nil, nil, err
	}
	if f.structure, err = p.config.Backend.LoadStructure(ctx, matrices); err != nil {
		return nil, nil, named(err, files.ProvingKey)
	}
	if c := files.ConstraintSystem; c != nil {
		err = c.parse(func(data []byte) error {
			system, err := circom.ParseConstraints(ctx, c.Name, data)
			if err == nil {
				f.constraints, f.r1csName = system.Matrices, c.Name
			}
			return err
		})
		if err == nil {
			err = circom.MatchConstraints(f.constraints, c.Name, f.key, f.key.Constraints(), f.key.Name())
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if g := files.WitnessGenerator; g != nil {
		err = g.parse(func(data []byte) (err error) {
			f.generator, err = circom.ParseGenerator(ctx, g.Name, data, circom.GeneratorOptions{
				MemoryBytes: p.config.WitnessMemoryBytes, CacheFolder: p.config.CacheFolder, Log: p.config.SignalLog,
			})
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return f, vk, nil
}

func openZkey(ctx context.Context, f *File, tell progress.Func) (*zkey.Key, error) {
	if f.File == nil {
		return zkey.Parse(ctx, f.Name, f.Data, tell)
	}
	return zkey.OpenFile(ctx, f.File, f.Name, tell)
}

func closeKey(k *zkey.Key) error {
	if k == nil {
		return nil
	}
	return k.Close()
}

// verifyingKey is the one handed in, which must be the proving key's own, or else that one.
func (f *circomFront) verifyingKey(ctx context.Context, file *File) (*groth16.VerifyingKey, error) {
	own, err := f.key.VerifyingKey(ctx)
	if err != nil || file == nil {
		return own, err
	}
	var given *groth16.VerifyingKey
	err = file.parse(func(data []byte) (err error) { given, err = snarkjs.ParseVerifyingKey(data); return named(err, file) })
	if err != nil {
		return nil, err
	}
	if !own.SameStatement(given) {
		return nil, failure.New(failure.Key, "is not the verifying key of %s: its proofs would be refused", f.key.Name()).In(file.Name).
			WithFix("export the verifying key again (`cuzk export verifying-key`), or leave it out")
	}
	return given, nil
}

func (f *circomFront) keySource() groth16.KeySource { return f.key }

func (f *circomFront) assign(ctx context.Context, in *File) (*assignment, error) {
	w, err := f.witness(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := w.Match(f.key, f.key.Name()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	public, err := w.Public(ctx, f.key.Public())
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return &assignment{
		Assignment: groth16.Packed{Structure: f.structure, Witness: w}, public: public, witness: w, close: w.Close,
	}, nil
}

// leastDemand: a witness file is mapped and takes none.
func (f *circomFront) leastDemand() int64 { return 0 }

// demand: a witness that is computed is held twice, by the program and here.
func (f *circomFront) demand(in *File) int64 {
	if in.firstByte() != '{' {
		return 0
	}
	return 2 * int64(f.key.Wires()) * curve.ScalarBytes
}

// witness reads a witness, or computes it from an input.json; the content tells which it is.
func (f *circomFront) witness(ctx context.Context, in *File) (*circom.Witness, error) {
	if in.firstByte() != '{' {
		if in.File == nil {
			return circom.ParseWitness(ctx, in.Name, in.Data)
		}
		return circom.OpenWitnessFile(ctx, in.File, in.Name)
	}
	if f.generator == nil {
		return nil, failure.New(failure.Input, "is an input.json, and no witness generator was given to make a witness from it").In(in.Name).
			WithFix("hand in the circuit's .wasm (circom --wasm), or a .wtns instead")
	}
	var input *circom.Input
	err := in.parse(func(data []byte) (err error) { input, err = circom.ParseInput(in.Name, data); return err })
	if err != nil {
		return nil, named(err, in)
	}
	if f.config.WitnessTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.config.WitnessTimeout)
		defer cancel()
	}
	return f.generator.Witness(ctx, input)
}

// explain looks for the constraint that does not hold, then for a point of the key that is none.
func (f *circomFront) explain(ctx context.Context, a *assignment, cause error, tell progress.Func) error {
	if f.constraints != nil {
		if err := satisfied(ctx, f.constraints, a.witness, f.r1csName); err != nil {
			return err
		}
	}
	err := f.key.Check(ctx, tell)
	if err != nil {
		return err
	}
	if f.constraints != nil {
		if err := f.sameRows(ctx); err != nil {
			return err
		}
	}
	e := failure.New(failure.Verification, "%w; every point of the key is sound, so the witness does not satisfy the circuit or the key is of another one", cause)
	if f.constraints != nil {
		e = failure.New(failure.Key, "%w, though the witness satisfies %s and every point of the key is sound: the key is not of this circuit, or damaged", cause, f.r1csName)
		return e.In(f.key.Name()).WithFix("make the key again from this .r1cs, or fetch it again")
	}
	return e.In(f.key.Name()).WithFix("hand in the circuit's .r1cs as constraint system, to learn which constraint does not hold")
}

// sameRows compares the constraints with those in the key, one by one: counts alone do not tell circuits apart.
func (f *circomFront) sameRows(ctx context.Context) error {
	inKey, err := f.key.Matrices()
	if err != nil {
		return err
	}
	row, err := f.constraints.FirstDifferentRow(ctx, inKey, f.constraints.Constraints)
	if err != nil || row < 0 {
		return err
	}
	return failure.New(failure.Key, "differs from constraint %d of the key %s: it is the key of another circuit", row, f.key.Name()).
		In(f.r1csName).WithFix("use the .r1cs that the key was made from")
}

// satisfied checks a witness against constraints and clears the copy that it makes.
func satisfied(ctx context.Context, m *r1cs.Matrices, w groth16.Vector, name string) error {
	values := make([]curve.Scalar, w.Len())
	defer clear(values)
	if err := w.Read(ctx, 0, values); err != nil {
		return err
	}
	if w.Form() == groth16.Canonical {
		m.Curve.ToMontgomery(values)
	}
	err := m.Satisfied(ctx, values)
	return named(err, &File{Name: name})
}

func (f *circomFront) Close() error {
	var errs []error
	if f.structure != nil {
		errs = append(errs, f.structure.Close())
	}
	if f.generator != nil {
		errs = append(errs, f.generator.Close())
	}
	return errors.Join(errs...)
}
