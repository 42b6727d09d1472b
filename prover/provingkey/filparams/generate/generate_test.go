package generate_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams/generate"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// squares is the circuit x_{i+1} = x_i², with x_0 public and the rows for the inputs, and its witness.
func squares(n int) (*r1cs.Matrices, []curve.Scalar) {
	one := curve.Scalar(fr.One())
	row := func(m *r1cs.Matrix, wires ...uint32) {
		for _, w := range wires {
			m.Wire, m.Coefficient = append(m.Wire, w), append(m.Coefficient, 0)
		}
		m.Start = append(m.Start, uint32(len(m.Wire)))
	}
	a, b, c := &r1cs.Matrix{Start: []uint32{0}}, &r1cs.Matrix{Start: []uint32{0}}, &r1cs.Matrix{Start: []uint32{0}}
	witness := []curve.Scalar{one, curve.Scalar(fr.NewElement(3))}
	for i := range uint32(n) {
		row(a, i+1)
		row(b, i+1)
		row(c, i+2)
		x := fr.Element(witness[i+1])
		witness = append(witness, curve.Scalar(*x.Square(&x)))
	}
	for i := range uint32(2) {
		row(a, i)
		row(b)
		row(c)
	}
	return &r1cs.Matrices{Curve: curve.BLS12381, Wires: n + 2, Public: 1, Constraints: n + 2, A: a, B: b, C: c, Coefficients: []curve.Scalar{one}}, witness
}

// vector is scalars in Montgomery form.
type vector []curve.Scalar

func (v vector) Len() int           { return len(v) }
func (v vector) Form() groth16.Form { return groth16.Montgomery }
func (v vector) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	copy(dst, v[offset:])
	return nil
}

func randomScalar(t *testing.T) curve.Scalar {
	t.Helper()
	x, err := rand.Int(rand.Reader, fr.Modulus())
	if err != nil {
		t.Fatal(err)
	}
	return curve.ScalarFromBig(x)
}

// What is generated proves and verifies: parameters, key source and backend agree.
func TestGeneratedParametersProve(t *testing.T) {
	for _, n := range []int{1, 6, 300} {
		m, witness := squares(n)
		secret, err := generate.RandomSecret()
		if err != nil {
			t.Fatal(err)
		}
		p, err := generate.New(t.Context(), m, secret)
		if err != nil {
			t.Fatal(err)
		}
		var params, vkFile bytes.Buffer
		var last, total int64
		if err := p.WriteParams(t.Context(), &params, func(done, of int64) { last, total = done, of }); err != nil {
			t.Fatal(err)
		}
		if last != total {
			t.Errorf("progress ends at %d of %d", last, total)
		}
		if err := p.WriteVerifyingKey(t.Context(), &vkFile); err != nil {
			t.Fatal(err)
		}
		file, err := filparams.Parse("f", params.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Check(t.Context(), nil); err != nil {
			t.Error(err)
		}
		source, err := file.For(filparams.CircuitOf(m))
		if err != nil {
			t.Fatal(err)
		}
		backend := cpu.New(cpu.Config{})
		key, err := backend.LoadKey(t.Context(), source, groth16.Budget{})
		if err != nil {
			t.Fatal(err)
		}
		structure, err := backend.LoadStructure(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		ticket, err := backend.Submit(t.Context(), key, groth16.Packed{Structure: structure, Witness: vector(witness)}, randomScalar(t), randomScalar(t), groth16.Options{})
		if err != nil {
			t.Fatal(err)
		}
		proof, err := ticket.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		vk, err := filparams.ParseVerifyingKey("f", vkFile.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		public := slices.Clone(witness[1:2])
		curve.BLS12381.FromMontgomery(public)
		if err := groth16.Verify(vk, proof, public, ""); err != nil {
			t.Errorf("%d squares: %v", n, err)
		}
		public[0][0]++
		if err := groth16.Verify(vk, proof, public, ""); !errors.Is(err, groth16.ErrEquation) {
			t.Errorf("%d squares, another input: %v", n, err)
		}
		for _, c := range []interface{ Close() error }{structure, key, backend} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestWhatCannotBeGenerated(t *testing.T) {
	good, err := generate.RandomSecret()
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*r1cs.Matrices, *generate.Secret){
		"tau is zero":         func(_ *r1cs.Matrices, s *generate.Secret) { s.Tau = fr.Element{} },
		"delta is zero":       func(_ *r1cs.Matrices, s *generate.Secret) { s.Delta = fr.Element{} },
		"a root of unity":     func(_ *r1cs.Matrices, s *generate.Secret) { s.Tau = fr.One() },
		"a generator is":      func(_ *r1cs.Matrices, s *generate.Secret) { s.G1.X.SetZero(); s.G1.Y.SetZero() },
		"on BN254":            func(m *r1cs.Matrices, _ *generate.Secret) { m.Curve = curve.BN254 },
		"no matrix C":         func(m *r1cs.Matrices, _ *generate.Secret) { m.C = nil },
		"does not end with":   func(m *r1cs.Matrices, _ *generate.Secret) { m.Constraints-- },
		"is in no constraint": func(m *r1cs.Matrices, _ *generate.Secret) { m.Wires++ },
	} {
		m, _ := squares(5)
		secret := *good
		change(m, &secret)
		p, err := generate.New(t.Context(), m, &secret)
		if err == nil {
			err = p.WriteParams(t.Context(), new(bytes.Buffer), nil)
		}
		if class := failure.ClassOf(err); err == nil || class == failure.Internal || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	m, _ := squares(5)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := generate.New(ctx, m, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
