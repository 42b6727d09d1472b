package generate

import (
	"context"
	"math/big"
	"math/bits"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// system is a circuit with the rows that bellman appends for its inputs.
type system struct {
	*r1cs.Matrices
	inputs, aux, domain int
}

func newSystem(m *r1cs.Matrices) (*system, error) {
	s := &system{Matrices: m, inputs: m.Public + 1, aux: m.Wires - m.Public - 1}
	switch {
	case m.Curve != curve.BLS12381:
		return nil, failure.New(failure.Key, "the circuit is on %s, Filecoin's parameters are on BLS12-381", m.Curve)
	case m.C == nil:
		return nil, failure.New(failure.Key, "the constraint system has no matrix C")
	case m.Constraints > 1<<32:
		return nil, failure.New(failure.Key, "%d rows are more than the field has roots of unity", m.Constraints)
	case !s.bindsInputs():
		return nil, failure.New(failure.Key, "the constraint system does not end with the rows input·0 = 0 that bellman appends for its inputs")
	}
	s.domain = 1 << bits.Len(uint(m.Constraints-1))
	return s, nil
}

// bindsInputs tells whether the last rows are those for the inputs.
func (s *system) bindsInputs() bool {
	if s.Constraints < s.inputs {
		return false
	}
	for i := range s.inputs {
		row := s.Constraints - s.inputs + i
		wires, coefficients := s.A.Row(row)
		b, _ := s.B.Row(row)
		c, _ := s.C.Row(row)
		if len(wires) != 1 || wires[0] != uint32(i) || s.Coefficients[coefficients[0]] != curve.Scalar(fr.One()) || len(b)+len(c) > 0 {
			return false
		}
	}
	return true
}

// scalarsPerStep is how many scalars one step of a loop takes: some milliseconds.
const scalarsPerStep = 1 << 14

// lagrange is the value of each polynomial of the domain's Lagrange basis at τ: Z(τ)/m · ωⁱ/(τ − ωⁱ).
func (s *system) lagrange(ctx context.Context, tau *fr.Element) ([]fr.Element, error) {
	vanishing := s.vanishing(tau)
	if vanishing.IsZero() {
		return nil, failure.New(failure.Usage, "tau is a root of unity of the domain: choose another")
	}
	omega, err := fft.Generator(uint64(s.domain))
	if err != nil {
		return nil, failure.New(failure.Key, "%w", err)
	}
	factor := fr.NewElement(uint64(s.domain))
	factor.Inverse(&factor).Mul(&factor, &vanishing)
	out := make([]fr.Element, s.domain)
	err = parallel.Ranges(ctx, s.domain, scalarsPerStep, func(start, end int) error {
		powers := powersOf(&omega, start, end-start)
		denominators := make([]fr.Element, len(powers))
		for i := range powers {
			denominators[i].Sub(tau, &powers[i])
		}
		denominators = fr.BatchInvert(denominators)
		for i := range powers {
			out[start+i].Mul(&powers[i], &denominators[i])
			out[start+i].Mul(&out[start+i], &factor)
		}
		return nil
	})
	return out, err
}

// vanishing is the domain's vanishing polynomial at τ.
func (s *system) vanishing(tau *fr.Element) fr.Element {
	var z fr.Element
	z.Exp(*tau, big.NewInt(int64(s.domain)))
	one := fr.One()
	return *z.Sub(&z, &one)
}

// powersOf lists x^first, x^(first+1), …
func powersOf(x *fr.Element, first, n int) []fr.Element {
	out := make([]fr.Element, n)
	out[0].Exp(*x, big.NewInt(int64(first)))
	for i := 1; i < n; i++ {
		out[i].Mul(&out[i-1], x)
	}
	return out
}

// columns are the values at τ of the polynomials of all wires, for each matrix.
type columns struct{ a, b, c []fr.Element }

func (s *system) columns(ctx context.Context, tau *fr.Element) (*columns, error) {
	lagrange, err := s.lagrange(ctx, tau)
	if err != nil {
		return nil, err
	}
	out := &columns{}
	var wg sync.WaitGroup
	for _, part := range []struct {
		to *[]fr.Element
		of *r1cs.Matrix
	}{{&out.a, s.A}, {&out.b, s.B}, {&out.c, s.C}} {
		wg.Go(func() { *part.to = s.column(part.of, lagrange) })
	}
	wg.Wait()
	return out, ctx.Err()
}

func (s *system) column(m *r1cs.Matrix, lagrange []fr.Element) []fr.Element {
	out := make([]fr.Element, s.Wires)
	var t fr.Element
	for row := range s.Constraints {
		wires, coefficients := m.Row(row)
		for i, wire := range wires {
			c := fr.Element(s.Coefficients[coefficients[i]])
			out[wire].Add(&out[wire], t.Mul(&c, &lagrange[row]))
		}
	}
	return out
}
