package cpu_test

import (
	"crypto/rand"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
)

// circuit is a circom circuit made ready on a backend.
type circuit struct {
	backend   *cpu.Backend
	source    *zkey.Key
	key       groth16.Key
	structure groth16.Structure
	witness   *circom.Witness
	verifier  *groth16.Verifier
	public    []curve.Scalar
}

func open(t testing.TB, backend *cpu.Backend, folder string) *circuit {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := &circuit{backend: backend}
	ctx := t.Context()
	var err error
	c.source, err = zkey.Open(ctx, filepath.Join(folder, "circuit_final.zkey"), nil)
	must(err)
	m, err := c.source.Matrices()
	must(err)
	c.key, err = backend.LoadKey(ctx, c.source, groth16.Budget{})
	must(err)
	t.Cleanup(func() { c.key.Close() })
	c.structure, err = backend.LoadStructure(ctx, m)
	must(err)
	t.Cleanup(func() { c.structure.Close() })
	c.witness, err = circom.OpenWitness(ctx, filepath.Join(folder, "witness.wtns"))
	must(err)
	t.Cleanup(func() { c.witness.Close() })
	data, err := os.ReadFile(filepath.Join(folder, "vk.json"))
	must(err)
	vk, err := snarkjs.ParseVerifyingKey(data)
	must(err)
	c.verifier, err = groth16.NewVerifier(vk, "")
	must(err)
	data, err = os.ReadFile(filepath.Join(folder, "public.json"))
	must(err)
	c.public, err = snarkjs.ParsePublic(data, vk.Curve)
	must(err)
	return c
}

func random(t testing.TB, id curve.ID) curve.Scalar {
	t.Helper()
	n, err := rand.Int(rand.Reader, id.ScalarModulus())
	if err != nil {
		t.Fatal(err)
	}
	return curve.ScalarFromBig(n)
}

func (c *circuit) prove(t testing.TB, a groth16.Assignment, r, s curve.Scalar, opts groth16.Options) *groth16.Proof {
	t.Helper()
	ticket, err := c.backend.Submit(t.Context(), c.key, a, r, s, opts)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := ticket.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

func TestProvesEveryCircomFixture(t *testing.T) {
	fixture.Circom(t, func(t *testing.T, _, _, folder string) {
		c := open(t, cpu.New(cpu.Config{}), folder)
		id := c.key.Curve()
		packed := groth16.Packed{Structure: c.structure, Witness: c.witness}
		r, s := random(t, id), random(t, id)
		first := c.prove(t, packed, r, s, groth16.Options{})
		if err := c.verifier.Verify(first, c.public); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, c.prove(t, packed, r, s, groth16.Options{})); diff != "" {
			t.Errorf("equal r and s, but another proof:\n%s", diff)
		}
		other := c.prove(t, packed, random(t, id), random(t, id), groth16.Options{})
		if err := c.verifier.Verify(other, c.public); err != nil {
			t.Error(err)
		}
		for name, equal := range map[string]bool{
			"A": string(first.A) == string(other.A), "B": string(first.B) == string(other.B), "C": string(first.C) == string(other.C),
		} {
			if equal {
				t.Errorf("other r and s, but the same point %s", name)
			}
		}
		zero := c.prove(t, packed, curve.Scalar{}, curve.Scalar{}, groth16.Options{})
		if err := c.verifier.Verify(zero, c.public); err != nil {
			t.Errorf("r = s = 0: %v", err)
		}
		greatest := curve.ScalarFromBig(new(big.Int).Sub(id.ScalarModulus(), big.NewInt(1)))
		if err := c.verifier.Verify(c.prove(t, packed, greatest, greatest, groth16.Options{}), c.public); err != nil {
			t.Errorf("r = s = -1: %v", err)
		}
	})
}
