// Package generate makes parameter files of Filecoin's form from secrets that are known, for tests and benchmarks. Whoever
// knows the secrets can prove anything: the files are worth nothing else.
package generate

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Secret is the toxic waste of a set-up, with the points that it is applied to.
type Secret struct {
	G1                             bls12381.G1Affine
	G2                             bls12381.G2Affine
	Alpha, Beta, Gamma, Delta, Tau fr.Element
}

// RandomSecret draws a secret, on the groups' usual generators.
func RandomSecret() (*Secret, error) {
	_, _, g1, g2 := bls12381.Generators()
	s := &Secret{G1: g1, G2: g2}
	for _, e := range []*fr.Element{&s.Alpha, &s.Beta, &s.Gamma, &s.Delta, &s.Tau} {
		for e.IsZero() {
			x, err := rand.Int(rand.Reader, fr.Modulus())
			if err != nil {
				return nil, fmt.Errorf("draw a secret: %w", err)
			}
			e.SetBigInt(x)
		}
	}
	return s, nil
}

// SecretFrom derives a secret from a text, on the groups' usual generators: equal texts, equal secrets.
func SecretFrom(text string) (*Secret, error) {
	_, _, g1, g2 := bls12381.Generators()
	e, err := fr.Hash([]byte(text), []byte("cuzk insecure parameters"), 5)
	if err != nil {
		return nil, fmt.Errorf("derive a secret: %w", err)
	}
	return &Secret{G1: g1, G2: g2, Alpha: e[0], Beta: e[1], Gamma: e[2], Delta: e[3], Tau: e[4]}, nil
}

func (s *Secret) check() error {
	for _, e := range []struct {
		name  string
		value *fr.Element
	}{{"alpha", &s.Alpha}, {"beta", &s.Beta}, {"gamma", &s.Gamma}, {"delta", &s.Delta}, {"tau", &s.Tau}} {
		if e.value.IsZero() {
			return failure.New(failure.Usage, "the secret %s is zero", e.name)
		}
	}
	if s.G1.IsInfinity() || s.G2.IsInfinity() {
		return failure.New(failure.Usage, "a generator is the point at infinity")
	}
	return nil
}

// Parameters are being made: what Write needs.
type Parameters struct {
	secret  *Secret
	system  *system
	columns *columns
	g1      *table[fp.Element, *fp.Element]
	g2      *table[bls12381.E2, *bls12381.E2]
	// progress is told of points written.
	progress    func(done, total int64)
	done, total int64
}

// New prepares the parameters of a circuit, whose matrices end with the rows that bellman appends for the inputs.
// Memory is about 130 bytes a wire and 32 a row, beside the matrices and up to 200 MB for tables.
func New(ctx context.Context, m *r1cs.Matrices, secret *Secret) (*Parameters, error) {
	if err := secret.check(); err != nil {
		return nil, err
	}
	s, err := newSystem(m)
	if err != nil {
		return nil, err
	}
	c, err := s.columns(ctx, &secret.Tau)
	if err != nil {
		return nil, err
	}
	p := &Parameters{secret: secret, system: s, columns: c}
	inG2 := nonZero(c.b) + 3
	inG1 := s.domain - 1 + s.Wires + nonZero(c.a) + nonZero(c.b) + 3
	p.total = int64(inG1 + inG2)
	p.g1 = newTable[fp.Element, *fp.Element](affine[fp.Element](secret.G1), inG1)
	p.g2 = newTable[bls12381.E2, *bls12381.E2](affine[bls12381.E2](secret.G2), inG2)
	return p, nil
}

func nonZero(s []fr.Element) int {
	n := 0
	for i := range s {
		if !s[i].IsZero() {
			n++
		}
	}
	return n
}

// WriteVerifyingKey writes the .vk file.
func (p *Parameters) WriteVerifyingKey(ctx context.Context, w io.Writer) error {
	s := p.secret
	for _, v := range []struct {
		scalar *fr.Element
		g2     bool
	}{{&s.Alpha, false}, {&s.Beta, false}, {&s.Beta, true}, {&s.Gamma, true}, {&s.Delta, false}, {&s.Delta, true}} {
		if err := p.write(ctx, w, []fr.Element{*v.scalar}, v.g2); err != nil {
			return err
		}
	}
	var inverse fr.Element
	inverse.Inverse(&s.Gamma)
	return p.array(ctx, w, p.system.inputs, false, func(start, end int) []fr.Element { return p.combined(start, end, &inverse) })
}

// WriteParams writes the .params file. progress, if not nil, is told of the points made.
func (p *Parameters) WriteParams(ctx context.Context, w io.Writer, progress func(done, total int64)) error {
	p.progress, p.done = progress, 0
	if err := p.WriteVerifyingKey(ctx, w); err != nil {
		return err
	}
	var inverse fr.Element
	inverse.Inverse(&p.secret.Delta)
	first := p.system.inputs
	if err := p.array(ctx, w, p.system.domain-1, false, p.quotientPowers(&inverse)); err != nil {
		return err
	}
	if err := p.array(ctx, w, p.system.aux, false, func(start, end int) []fr.Element {
		return p.combined(first+start, first+end, &inverse)
	}); err != nil {
		return err
	}
	if err := p.sparse(ctx, w, p.columns.a, false); err != nil {
		return err
	}
	if err := p.sparse(ctx, w, p.columns.b, false); err != nil {
		return err
	}
	return p.sparse(ctx, w, p.columns.b, true)
}

// combined is (β·A + α·B + C)(τ)/γ or δ of wires.
func (p *Parameters) combined(start, end int, inverse *fr.Element) []fr.Element {
	out := make([]fr.Element, end-start)
	var t fr.Element
	for i := range out {
		out[i].Mul(&p.columns.a[start+i], &p.secret.Beta)
		out[i].Add(&out[i], t.Mul(&p.columns.b[start+i], &p.secret.Alpha))
		out[i].Add(&out[i], &p.columns.c[start+i])
		out[i].Mul(&out[i], inverse)
	}
	return out
}

// quotientPowers are τⁱ·Z(τ)/δ.
func (p *Parameters) quotientPowers(inverse *fr.Element) func(start, end int) []fr.Element {
	factor := p.system.vanishing(&p.secret.Tau)
	factor.Mul(&factor, inverse)
	return func(start, end int) []fr.Element {
		out := powersOf(&p.secret.Tau, start, end-start)
		for i := range out {
			out[i].Mul(&out[i], &factor)
		}
		return out
	}
}

// sparse writes the points of a matrix's columns but those at infinity.
func (p *Parameters) sparse(ctx context.Context, w io.Writer, column []fr.Element, g2 bool) error {
	scalars := make([]fr.Element, 0, nonZero(column))
	for i := range column {
		if !column[i].IsZero() {
			scalars = append(scalars, column[i])
		}
	}
	return p.array(ctx, w, len(scalars), g2, func(start, end int) []fr.Element { return scalars[start:end] })
}

// pointsPerStep is how many points are made before they are written.
const pointsPerStep = 1 << 15

// array writes a length and so many points.
func (p *Parameters) array(ctx context.Context, w io.Writer, n int, g2 bool, scalars func(start, end int) []fr.Element) error {
	if err := writeAll(w, binary.BigEndian.AppendUint32(nil, uint32(n))); err != nil {
		return err
	}
	for start := 0; start < n; start += pointsPerStep {
		end := min(start+pointsPerStep, n)
		if err := p.write(ctx, w, scalars(start, end), g2); err != nil {
			return err
		}
	}
	return nil
}

// write writes multiples of a generator, none of which may be infinity: a wire that occurs nowhere has no proof.
func (p *Parameters) write(ctx context.Context, w io.Writer, scalars []fr.Element, g2 bool) error {
	for i := range scalars {
		if scalars[i].IsZero() {
			return failure.New(failure.Key, "a variable of the circuit is in no constraint")
		}
	}
	out := make([]byte, 0, len(scalars)*2*bls12381.SizeOfG1AffineUncompressed)
	if g2 {
		points := make([]affine[bls12381.E2], len(scalars))
		if err := p.g2.multiply(ctx, scalars, points); err != nil {
			return err
		}
		for i := range points {
			b := (*bls12381.G2Affine)(&points[i]).RawBytes()
			out = append(out, b[:]...)
		}
	} else {
		points := make([]affine[fp.Element], len(scalars))
		if err := p.g1.multiply(ctx, scalars, points); err != nil {
			return err
		}
		for i := range points {
			b := (*bls12381.G1Affine)(&points[i]).RawBytes()
			out = append(out, b[:]...)
		}
	}
	p.done += int64(len(scalars))
	if p.progress != nil {
		p.progress(min(p.done, p.total), p.total)
	}
	return writeAll(w, out)
}

func writeAll(w io.Writer, b []byte) error {
	if _, err := w.Write(b); err != nil {
		return failure.New(failure.IO, "write the parameters: %w", err)
	}
	return nil
}
