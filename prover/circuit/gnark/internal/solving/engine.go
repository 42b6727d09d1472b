package solving

import (
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	gnarkcs "github.com/consensys/gnark/frontend/cs"
	"github.com/rs/zerolog"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// engine is gnark's solver on one curve. Scalars are in Montgomery form, points in raw form.
type engine interface {
	// decode reads a constraint system and returns what it holds, and the number of coefficients.
	decode(r io.Reader) (*constraint.System, int, error)
	// solve computes all wires and A, B and C from the inputs, which are without the one.
	solve(inputs []curve.Scalar, options ...solver.Option) (w, a, b, c []curve.Scalar, err error)
	// evaluate computes A, B and C from all wires. It returns the first constraint that is not satisfied, or -1.
	evaluate(w, a, b, c []curve.Scalar) int
	// msm adds up multiples of points; scalars are in Montgomery form.
	msm(points []byte, scalars []curve.Scalar, threads int) (curve.G1, error)
	// fold adds up points times powers of the scalar: p[0] + p[1]·x + p[2]·x² + ….
	fold(points []curve.G1, x curve.Scalar) (curve.G1, error)
	// unsatisfied returns the number of the constraint that an error of solve is about, and the number of its debug
	// information, or -1 for each.
	unsatisfied(err error) int
}

func engineOf(id curve.ID) (engine, error) {
	switch id {
	case curve.BN254:
		return new(bn254Engine), nil
	case curve.BLS12381:
		return new(bls12381Engine), nil
	}
	return nil, fmt.Errorf("unknown curve %q", id)
}

// circuit is a decoded constraint system with what is needed to solve it.
type circuit struct {
	id      curve.ID
	engine  engine
	system  *constraint.System
	shape   Shape
	hash    groth16.CommitmentHash
	threads int
	keys    []commitmentKey
}

// commitmentKey is two runs of points in raw form, in memory that the parent shares.
type commitmentKey struct{ basis, sigma []byte }

// commitmentKeys cuts the shared memory into the keys.
func commitmentKeys(memory []byte, id curve.ID, committed []int) []commitmentKey {
	keys := make([]commitmentKey, len(committed))
	for i, n := range committed {
		size := n * id.G1Bytes()
		keys[i] = commitmentKey{basis: memory[:size], sigma: memory[size : 2*size]}
		memory = memory[2*size:]
	}
	return keys
}

// missing lists the hints that the circuit needs and the program does not have.
func (c *circuit) missing() []uint32 {
	var missing []uint32
	for id := range c.system.MHintsDependencies {
		if solver.GetRegisteredHint(id) == nil {
			missing = append(missing, uint32(id))
		}
	}
	return missing
}

// assignment is the shared memory of a Solve.
type assignment struct {
	w, a, b, c  []curve.Scalar
	commitments []byte
}

// inputFailure is a failure that is the witness's or the solution's.
func inputFailure(constraint int, text string, args ...any) *Failure {
	return &Failure{Fault: FaultInput, Text: fmt.Sprintf(text, args...), Constraint: int64(constraint)}
}

func internalFailure(err error) *Failure {
	return &Failure{Fault: FaultInternal, Text: err.Error(), Constraint: -1}
}

// solve fills the assignment from its input wires.
func (c *circuit) solve(to *assignment) *Failure {
	commitments := newCommitments(c)
	options := []solver.Option{
		solver.WithNbTasks(c.threads),
		// The circuit's own log prints values of wires.
		solver.WithLogger(zerolog.Nop()),
		solver.OverrideHint(solver.GetHintID(gnarkcs.Bsb22CommitmentComputePlaceholder), commitments.hint),
	}
	named := newNamedHints(c.system.MHintsDependencies)
	options = append(options, named.options...)
	inputs := to.w[1 : 1+c.shape.Public+c.shape.Secret]
	w, va, vb, vc, err := c.engine.solve(inputs, options...)
	if err != nil {
		return c.explain(err)
	}
	copy(to.w, w)
	copy(to.a, va)
	copy(to.b, vb)
	copy(to.c, vc)
	if err := commitments.finish(to); err != nil {
		return internalFailure(err)
	}
	return nil
}

// complete checks the wires of a solution and fills the rest of the assignment.
func (c *circuit) complete(to *assignment) *Failure {
	if n := c.engine.evaluate(to.w, to.a, to.b, to.c); n >= 0 {
		return inputFailure(n, "the solution does not satisfy it%s", c.place(n))
	}
	commitments := newCommitments(c)
	for i := range c.keys {
		scalar, err := commitments.fromWires(i, to.w)
		if err != nil {
			return internalFailure(err)
		}
		info := c.commitment(i)
		if scalar != to.w[info.CommitmentIndex] {
			return inputFailure(-1, "wire %d is not the hash of commitment %d: the solution was made with another proving key or another commitment hash", info.CommitmentIndex, i)
		}
	}
	if err := commitments.finish(to); err != nil {
		return internalFailure(err)
	}
	return nil
}

func (c *circuit) commitment(i int) constraint.Groth16Commitment {
	return c.system.CommitmentInfo.(constraint.Groth16Commitments)[i]
}

// explain turns an error of gnark's solver into a failure without values of wires.
func (c *circuit) explain(err error) *Failure {
	var hint *hintError
	switch n := c.engine.unsatisfied(err); {
	case errors.As(err, &hint):
		return inputFailure(-1, "%s", hint.Error())
	case n >= 0 && errors.Is(err, constraint.ErrDivideByZero):
		return inputFailure(n, "the witness makes it divide by zero%s", c.place(n))
	case n >= 0:
		return inputFailure(n, "the witness does not satisfy it%s", c.place(n))
	}
	return inputFailure(-1, "gnark cannot solve the circuit with it: %s", WithoutNumbers(err.Error()))
}

// place names the line of the circuit's source that made a constraint, where the constraint system knows it: gnark keeps
// it when the circuit is compiled with the build tag debug.
func (c *circuit) place(n int) string {
	info, ok := c.system.MDebug[n]
	if !ok || info < 0 || info >= len(c.system.DebugInfo) {
		return ""
	}
	// The innermost call comes first.
	stack, symbols := c.system.DebugInfo[info].Stack, &c.system.SymbolTable
	if len(stack) == 0 || stack[0] < 0 || stack[0] >= len(symbols.Locations) {
		return ""
	}
	location := symbols.Locations[stack[0]]
	if location.FunctionID < 0 || location.FunctionID >= len(symbols.Functions) {
		return ""
	}
	f := symbols.Functions[location.FunctionID]
	return fmt.Sprintf(" (made at %s:%d, in %s)", f.Filename, location.Line, f.Name)
}

// commitments makes the Pedersen commitments while the solver runs (Campanelli, Fiore, Querol: eprint 2022/1072, as
// gnark's prover does it), and their proof of knowledge afterwards.
type commitments struct {
	c      *circuit
	values [][]curve.Scalar
	points []curve.G1
	hashes []curve.Scalar // canonical
}

func newCommitments(c *circuit) *commitments {
	n := len(c.keys)
	return &commitments{c: c, values: make([][]curve.Scalar, n), points: make([]curve.G1, n), hashes: make([]curve.Scalar, n)}
}

// hint stands in for gnark's placeholder: its inputs are the commitment's number, the public and commitment wires that
// are hashed with it, and the private wires that are committed to.
func (m *commitments) hint(_ *big.Int, inputs, outputs []*big.Int) error {
	if len(inputs) == 0 || len(outputs) != 1 || !inputs[0].IsUint64() || inputs[0].Uint64() >= uint64(len(m.c.keys)) {
		return errors.New("the commitment's number is not one of the circuit's")
	}
	i := int(inputs[0].Uint64())
	info := m.c.commitment(i)
	inputs = inputs[1:]
	if len(inputs) != len(info.PublicAndCommitmentCommitted)+len(info.PrivateCommitted) {
		return errors.New("the commitment has another number of inputs than the constraint system says")
	}
	scalars := make([]curve.Scalar, len(inputs))
	for j, x := range inputs {
		scalars[j] = curve.ScalarFromBig(x)
	}
	split := len(info.PublicAndCommitmentCommitted)
	m.c.id.ToMontgomery(scalars[split:])
	if err := m.commit(i, scalars[:split], scalars[split:]); err != nil {
		return err
	}
	outputs[0].Set(curve.ScalarToBig(m.hashes[i]))
	return nil
}

// commit makes one commitment. hashed is canonical, values is in Montgomery form.
func (m *commitments) commit(i int, hashed, values []curve.Scalar) error {
	point, err := m.c.engine.msm(m.c.keys[i].basis, values, m.c.threads)
	if err != nil {
		return fmt.Errorf("commitment %d: %w", i, err)
	}
	m.values[i], m.points[i] = values, point
	m.hashes[i], err = m.c.hash.Scalar(m.c.id, groth16.CommitmentMessage(m.c.id, point, hashed))
	return err
}

// fromWires makes a commitment from a solution and returns its hash in Montgomery form.
func (m *commitments) fromWires(i int, w []curve.Scalar) (curve.Scalar, error) {
	info := m.c.commitment(i)
	pick := func(wires []int) []curve.Scalar {
		values := make([]curve.Scalar, len(wires))
		for j, wire := range wires {
			values[j] = w[wire]
		}
		return values
	}
	hashed := pick(info.PublicAndCommitmentCommitted)
	m.c.id.FromMontgomery(hashed)
	if err := m.commit(i, hashed, pick(info.PrivateCommitted)); err != nil {
		return curve.Scalar{}, err
	}
	hash := []curve.Scalar{m.hashes[i]}
	m.c.id.ToMontgomery(hash)
	return hash[0], nil
}

// finish proves knowledge of what is committed to and writes the points to the shared memory.
func (m *commitments) finish(to *assignment) error {
	if len(m.points) == 0 {
		return nil
	}
	proofs := make([]curve.G1, len(m.points))
	for i, values := range m.values {
		if m.points[i] == nil {
			return fmt.Errorf("commitment %d was not made", i)
		}
		var err error
		if proofs[i], err = m.c.engine.msm(m.c.keys[i].sigma, values, m.c.threads); err != nil {
			return fmt.Errorf("proof of knowledge of commitment %d: %w", i, err)
		}
		clear(values)
	}
	challenge, err := groth16.CommitmentChallenge(m.c.id, m.hashes)
	if err != nil {
		return err
	}
	pok, err := m.c.engine.fold(proofs, challenge)
	if err != nil {
		return err
	}
	at := to.commitments
	for _, p := range append(m.points, pok) {
		at = at[copy(at, p):]
	}
	return nil
}
