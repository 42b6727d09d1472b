package groth16

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// ErrEquation is in the chain of the error of a proof that is well formed but does not satisfy the Groth16 equation (or
// whose commitments' proof of knowledge does not hold): it is the proof of another statement, or of none.
var ErrEquation = errors.New("the proof does not verify")

// Verifier verifies proofs against one verifying key that has been checked and prepared: e(α, β) and the line functions
// of γ and δ are computed once. It is safe for concurrent use.
type Verifier struct {
	key     *VerifyingKey
	pairing preparedPairing
	hash    CommitmentHash
}

// NewVerifier checks every point of a verifying key (length, coordinates, curve, subgroup, and that α, β, γ and δ are
// not infinity) and prepares it. hash matters only for keys with commitments; the zero value is gnark's default.
func NewVerifier(vk *VerifyingKey, hash CommitmentHash) (*Verifier, error) {
	if err := vk.check(); err != nil {
		return nil, err
	}
	if err := hash.valid(); err != nil {
		return nil, err
	}
	return &Verifier{
		key:     vk,
		pairing: pairingsOf(vk.Curve).prepare(vk),
		hash:    hash,
	}, nil
}

// Verify checks one proof against a verifying key that is used once; see Verifier for many.
func Verify(vk *VerifyingKey, proof *Proof, public []curve.Scalar, hash CommitmentHash) error {
	v, err := NewVerifier(vk, hash)
	if err != nil {
		return err
	}
	return v.Verify(proof, public)
}

// Key is the verifying key; it must not be changed.
func (v *Verifier) Key() *VerifyingKey { return v.key }

// Bytes is about what the verifier occupies, for caches that are bounded in bytes.
func (v *Verifier) Bytes() int64 {
	id := v.key.Curve
	points := int64(len(v.key.IC)) * int64(2*id.G1Bytes()+24)
	lines := int64(2*66*2) * int64(4*id.BaseBytes())
	commitments := int64(0)
	for i := range v.key.Commitments {
		commitments += int64(2*id.G2Bytes() + 8*len(v.key.Commitments[i].Committed))
	}
	return points + lines + commitments + 4096
}

// Verify checks that proof proves the statement with these public inputs (canonical, without the one). Its errors are of
// class Verification and say what is wrong: the curve, the number of inputs, an input that is not below r (which would
// be an alias of another), a point that is not in its subgroup or is infinity, or that the equation does not hold.
func (v *Verifier) Verify(proof *Proof, public []curve.Scalar) error {
	input, err := v.statement(proof, public)
	if err != nil {
		return err
	}
	if !v.pairing.holds([]curve.G1{proof.A}, []curve.G2{proof.B}, []curve.G1{proof.C}, []curve.G1{input}, nil) {
		return refuse("%w for these public inputs and this verifying key", ErrEquation)
	}
	return nil
}

// Statement is a proof and the public inputs that it should be about.
type Statement struct {
	Proof  *Proof
	Public []curve.Scalar
}

// BatchError tells which statement of a batch was refused.
type BatchError struct {
	Index int
	Err   error
}

func (e *BatchError) Error() string { return fmt.Sprintf("proof %d of the batch: %v", e.Index, e.Err) }
func (e *BatchError) Unwrap() error { return e.Err }

// VerifyBatch checks many proofs at once, by a random linear combination of their equations: n+2 Miller loops and one
// final exponentiation instead of 3n and n. A wrong proof passes with probability below 2^-120. If the combination does
// not hold, the proofs are checked one by one and the first wrong one is named by a *BatchError.
func (v *Verifier) VerifyBatch(statements []Statement) error {
	return v.verifyBatch(statements, rand.Reader)
}

func (v *Verifier) verifyBatch(statements []Statement, random io.Reader) error {
	n := len(statements)
	if n == 0 {
		return nil
	}
	a, b, c, input := make([]curve.G1, n), make([]curve.G2, n), make([]curve.G1, n), make([]curve.G1, n)
	weights := make([]curve.Scalar, n)
	for i, s := range statements {
		sum, err := v.statement(s.Proof, s.Public)
		if err != nil {
			return &BatchError{Index: i, Err: err}
		}
		a[i], b[i], c[i], input[i] = s.Proof.A, s.Proof.B, s.Proof.C, sum
		var buf [16]byte
		if _, err := io.ReadFull(random, buf[:]); err != nil {
			return fmt.Errorf("read randomness for the batch: %w", err)
		}
		weights[i] = curve.Scalar{binary.LittleEndian.Uint64(buf[:8]), binary.LittleEndian.Uint64(buf[8:])}
	}
	if v.pairing.holds(a, b, c, input, weights) {
		return nil
	}
	for i, s := range statements {
		if err := v.Verify(s.Proof, s.Public); err != nil {
			return &BatchError{Index: i, Err: err}
		}
	}
	// Each proof holds and the combination does not: that cannot be.
	return errors.New("the batch does not verify, but each of its proofs does")
}

// statement checks everything but the equation, and computes the left-hand point of the pairing with γ.
func (v *Verifier) statement(proof *Proof, public []curve.Scalar) (curve.G1, error) {
	if err := v.wellFormed(proof, public); err != nil {
		return nil, err
	}
	inputs := public
	if len(v.key.Commitments) > 0 {
		derived, err := v.commitmentInputs(proof, public)
		if err != nil {
			return nil, err
		}
		inputs = append(append(make([]curve.Scalar, 0, len(public)+len(derived)), public...), derived...)
	}
	sum := v.pairing.input(inputs)
	for _, commitment := range proof.Commitments {
		sum = pairingsOf(v.key.Curve).add(sum, commitment)
	}
	return sum, nil
}

func (v *Verifier) wellFormed(proof *Proof, public []curve.Scalar) error {
	id := v.key.Curve
	if proof.Curve != id {
		return refuse("the proof is on %s, the verifying key on %s", proof.Curve, id)
	}
	if want := v.key.Public(); len(public) != want {
		return refuse("there are %d public inputs, the verifying key wants %d", len(public), want)
	}
	for i, s := range public {
		if !id.IsCanonical(s) {
			return refuse("public input %d is not below r, the order of the scalar field of %s: it would stand for another value", i, id)
		}
	}
	if got, want := len(proof.Commitments), len(v.key.Commitments); got != want {
		return refuse("the proof has %d commitments, the verifying key wants %d", got, want)
	}
	return CheckPoints(proof)
}

func refuse(format string, args ...any) error {
	return failure.New(failure.Verification, format, args...)
}

// check validates a verifying key's points and counts.
func (vk *VerifyingKey) check() error {
	id := vk.Curve
	if pairingsOf(id) == nil {
		return failure.New(failure.Key, "the verifying key is on unknown curve %q", string(id))
	}
	if vk.Public() < 0 {
		return failure.New(failure.Key, "the verifying key has %d points for its inputs, at least %d are needed", len(vk.IC), 1+len(vk.Commitments))
	}
	if len(vk.IC) > math.MaxInt32 {
		return failure.New(failure.Key, "the verifying key has too many public inputs: %d", len(vk.IC)-1)
	}
	named := func(err error, format string, args ...any) error {
		return failure.New(failure.Key, "%s of the verifying key: %w", fmt.Sprintf(format, args...), err)
	}
	errInfinity := errors.New("it is the point at infinity")
	g1 := func(p curve.G1, mayBeInfinity bool, format string, args ...any) error {
		if err := id.CheckG1(p); err != nil {
			return named(err, format, args...)
		}
		if !mayBeInfinity && curve.IsInfinity(p) {
			return named(errInfinity, format, args...)
		}
		return nil
	}
	g2 := func(p curve.G2, format string, args ...any) error {
		if err := id.CheckG2(p); err != nil {
			return named(err, format, args...)
		}
		if curve.IsInfinity(p) {
			return named(errInfinity, format, args...)
		}
		return nil
	}
	errs := []error{g1(vk.AlphaG1, false, "alpha"), g2(vk.BetaG2, "beta"), g2(vk.GammaG2, "gamma"), g2(vk.DeltaG2, "delta")}
	if vk.BetaG1 != nil {
		errs = append(errs, g1(vk.BetaG1, false, "beta in G1"))
	}
	if vk.DeltaG1 != nil {
		errs = append(errs, g1(vk.DeltaG1, false, "delta in G1"))
	}
	for i := range vk.IC {
		// An input that no constraint uses has the point at infinity.
		errs = append(errs, g1(vk.IC[i], true, "IC[%d]", i))
	}
	for i := range vk.Commitments {
		k := &vk.Commitments[i]
		errs = append(errs, g2(k.G, "G of commitment key %d", i), g2(k.GSigmaNeg, "GSigmaNeg of commitment key %d", i))
		if string(k.G) != string(vk.Commitments[0].G) {
			errs = append(errs, failure.New(failure.Key, "commitment key %d of the verifying key has another generator than key 0", i))
		}
		for _, wire := range k.Committed {
			if wire < 1 || wire > vk.Public()+i {
				errs = append(errs, failure.New(failure.Key, "commitment %d of the verifying key covers public input %d, there are only 1 to %d before it", i, wire, vk.Public()+i))
			}
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
