package pipeline

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// Format says what made a circuit and its key.
type Format string

const (
	Snarkjs Format = "Snarkjs"
	Gnark   Format = "Gnark"
)

// Files of a circuit. ProvingKey is required, ConstraintSystem for gnark too.
type Files struct {
	ProvingKey *File
	// VerifyingKey is what proofs are verified against. A .zkey holds one itself; a gnark proving key does not, so
	// that without this file only a proof's form can be checked (see Result.Verified).
	VerifyingKey *File
	// ConstraintSystem is circom's .r1cs, with which a constraint that does not hold is named, or gnark's.
	ConstraintSystem *File
	// WitnessGenerator is circom's .wasm, for inputs that are an input.json.
	WitnessGenerator *File
}

// Config of a Prover.
type Config struct {
	Backend groth16.Backend
	// Format is told from the proving key's first bytes if it is empty.
	Format Format
	// Curve is what the files must be for; empty takes what they tell.
	Curve curve.ID
	// CommitmentHash is gnark's; the zero value is gnark's default.
	CommitmentHash groth16.CommitmentHash
	// Threads bounds the cores of synthesis; 0 is all.
	Threads int
	// WitnessTimeout bounds one run of a witness generator or solver; 0 does not.
	WitnessTimeout time.Duration
	// WitnessMemoryBytes bounds their memory; 0 takes a bound from the circuit's size.
	WitnessMemoryBytes int64
	// CacheFolder keeps compiled witness generators, or the constraint systems of Filecoin's circuits, for later processes;
	// empty keeps none.
	CacheFolder string
	// SignalLog gets what a circuit prints with log(), which may be secret; nil drops it.
	SignalLog io.Writer
	// Random is where r and s come from; nil is crypto/rand. Anything else is for tests.
	Random io.Reader
	Log    *slog.Logger
}

// Prover is a circuit with its key, ready to prove any number of inputs. Prove may be called concurrently; the backend
// decides how many proofs compute at once.
type Prover struct {
	core
	front frontEnd
}

// core is what provers of all circuit types have in common: from an assignment on, nothing tells them apart.
type core struct {
	config   Config
	key      groth16.Key
	circuit  circuit
	verifier *groth16.Verifier // nil if there is no verifying key
	// srs is the time that loading took; the first run carries it.
	srs   time.Duration
	began bool
	turn  chan struct{} // guards srs and began
}

// circuit is what a circuit type contributes to the proving of assignments.
type circuit interface {
	// explain finds out why a proof of an assignment did not verify, as far as the files tell. cause is the refusal.
	explain(ctx context.Context, a *assignment, cause error, tell progress.Func) error
	// keySource is the key as its file holds it.
	keySource() groth16.KeySource
	// leastDemand is the memory, in bytes, that the assignment of any input takes at least.
	leastDemand() int64
	// Close closes everything but the key source.
	Close() error
}

// frontEnd is a circuit that makes one assignment of an input's file.
type frontEnd interface {
	circuit
	// assign makes the assignment of an input, or says what is wrong with the input.
	assign(ctx context.Context, in *File) (*assignment, error)
	// demand is the memory that the assignment of an input takes, in bytes.
	demand(in *File) int64
}

// assignment is an assignment with its public inputs, canonical and without the one.
type assignment struct {
	groth16.Assignment
	public  []curve.Scalar
	witness groth16.Vector
	// satisfied, if not nil, checks the constraints.
	satisfied func(context.Context) error
	close     func() error
}

// newCore fills in what a Config leaves out.
func newCore(config Config) core {
	if config.Random == nil {
		config.Random = rand.Reader
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return core{config: config, turn: make(chan struct{}, 1)}
}

// Open loads a circuit's files. The files must stay open until Close. obs is told of the stage srs.
func Open(ctx context.Context, files Files, config Config, obs stage.Observer) (*Prover, error) {
	p := &Prover{core: newCore(config)}
	if err := p.open(obs, func(obs stage.Observer) error { return p.load(ctx, files, obs) }); err != nil {
		return nil, err
	}
	return p, nil
}

// open loads files as the stage srs, and closes again what a failure leaves open.
func (p *core) open(obs stage.Observer, load func(stage.Observer) error) error {
	dumpsOff()
	if obs == nil {
		obs = stage.Nop{}
	}
	start := time.Now()
	obs.Begin(stage.SRS)
	if err := load(obs); err != nil {
		return errors.Join(err, p.Close())
	}
	end := time.Now()
	p.srs = end.Sub(start)
	obs.Done(stage.Span{Stage: stage.SRS, Start: start, End: end})
	return nil
}

func (p *Prover) load(ctx context.Context, files Files, obs stage.Observer) (err error) {
	if files.ProvingKey == nil {
		return failure.New(failure.Usage, "no proving key was given")
	}
	if p.config.Format == "" {
		p.config.Format = Gnark
		if files.ProvingKey.begins("zkey") {
			p.config.Format = Snarkjs
		}
	}
	var vk *groth16.VerifyingKey
	switch p.config.Format {
	case Snarkjs:
		p.front, vk, err = p.openCircom(ctx, files, obs)
	case Gnark:
		p.front, vk, err = p.openGnark(ctx, files, obs)
	default:
		err = failure.New(failure.Usage, "unknown key format %q: use %s or %s", p.config.Format, Snarkjs, Gnark)
	}
	if err != nil {
		return err
	}
	return p.use(ctx, p.front, vk, files)
}

// use makes the key of an opened circuit ready.
func (p *core) use(ctx context.Context, c circuit, vk *groth16.VerifyingKey, files Files) (err error) {
	p.circuit = c
	if vk != nil {
		if p.verifier, err = groth16.NewVerifier(vk, p.config.CommitmentHash); err != nil {
			return named(err, files.VerifyingKey, files.ProvingKey)
		}
	}
	source := c.keySource()
	if err := p.admit(groth16.ShapeOf(source), c.leastDemand()); err != nil {
		return named(err, files.ProvingKey)
	}
	p.key, err = p.config.Backend.LoadKey(ctx, source, p.keyBudget())
	return named(err, files.ProvingKey)
}

// named gives the first of the files that is there as the place of an error that names none.
func named(err error, files ...*File) error {
	for _, f := range files {
		if f != nil {
			return failure.InFile(err, f.Name)
		}
	}
	return err
}

// Curve is the key's.
func (p *core) Curve() curve.ID { return p.key.Curve() }

// Size is the key's: the number of its wires and of the elements of its domain.
func (p *core) Size() (wires, domain int) {
	source := p.circuit.keySource()
	return source.Wires(), source.Domain()
}

// Format is the key's.
func (p *Prover) Format() Format { return p.config.Format }

// VerifyingKey is what proofs are verified against; nil if there is none.
func (p *core) VerifyingKey() *groth16.VerifyingKey {
	if p.verifier == nil {
		return nil
	}
	return p.verifier.Key()
}

// Close gives up what the prover holds; proofs under way end first.
func (p *core) Close() error {
	var errs []error
	if p.circuit != nil {
		errs = append(errs, p.circuit.Close())
	}
	switch {
	case p.key != nil: // it has taken the source over
		errs = append(errs, p.key.Close())
	case p.circuit != nil:
		errs = append(errs, p.circuit.keySource().Close())
	}
	return errors.Join(errs...)
}

// scalar draws a uniform scalar.
func (p *core) scalar() (curve.Scalar, error) {
	n, err := rand.Int(p.config.Random, p.Curve().ScalarModulus())
	if err != nil {
		return curve.Scalar{}, fmt.Errorf("draw a random scalar: %w", err)
	}
	return curve.ScalarFromBig(n), nil
}
