//go:build interop

package interop_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/solidity"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/std/rangecheck"
)

// squares has no commitment.
type squares struct {
	Out frontend.Variable `gnark:",public"`
	X   frontend.Variable
}

func (c *squares) Define(api frontend.API) error {
	x := c.X
	for range 100 {
		x = api.Mul(x, x)
	}
	api.AssertIsEqual(x, c.Out)
	return nil
}

// ranged commits, by gnark's range checks, and uses hints.
type ranged struct {
	Sum  frontend.Variable `gnark:",public"`
	Free frontend.Variable `gnark:",public"` // no constraint uses it
	X, Y frontend.Variable
}

func (c *ranged) Define(api frontend.API) error {
	r := rangecheck.New(api)
	r.Check(c.X, 32)
	r.Check(c.Y, 32)
	api.AssertIsEqual(api.Add(c.X, c.Y), c.Sum)
	return nil
}

func save(t *testing.T, path string, write func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := write(f); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, path string, read func(io.Reader) error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := read(f); err != nil {
		t.Fatal(err)
	}
}

func to(w io.WriterTo) func(io.Writer) error {
	return func(out io.Writer) error { _, err := w.WriteTo(out); return err }
}

func TestGnarkVerifiesProofsOfCuzk(t *testing.T) {
	for _, c := range []struct {
		name                string
		circuit, assignment frontend.Circuit
		hash                string
		prover              backend.ProverOption
		verifier            backend.VerifierOption
	}{
		{name: "no commitment", circuit: &squares{}, assignment: &squares{X: 1, Out: 1}},
		{name: "commitment", circuit: &ranged{}, assignment: &ranged{X: 3, Y: 4, Sum: 7, Free: 9}},
		{name: "commitment, keccak256", circuit: &ranged{}, assignment: &ranged{X: 3, Y: 4, Sum: 7, Free: 9}, hash: "keccak256",
			prover: solidity.WithProverTargetSolidityVerifier(backend.GROTH16), verifier: solidity.WithVerifierTargetSolidityVerifier(backend.GROTH16)},
	} {
		for _, id := range []ecc.ID{ecc.BN254, ecc.BLS12_381} {
			t.Run(c.name+"/"+id.String(), func(t *testing.T) {
				dir := t.TempDir()
				in := func(name string) string { return filepath.Join(dir, name) }
				ccs, err := frontend.Compile(id.ScalarField(), r1cs.NewBuilder, c.circuit)
				if err != nil {
					t.Fatal(err)
				}
				pk, vk, err := groth16.Setup(ccs)
				if err != nil {
					t.Fatal(err)
				}
				full, err := frontend.NewWitness(c.assignment, id.ScalarField())
				if err != nil {
					t.Fatal(err)
				}
				public, err := full.Public()
				if err != nil {
					t.Fatal(err)
				}
				save(t, in("ccs.bin"), to(ccs))
				save(t, in("pk.bin"), to(pk))
				save(t, in("pk.raw.bin"), func(w io.Writer) error { _, err := pk.WriteRawTo(w); return err })
				save(t, in("pk.dump.bin"), pk.WriteDump)
				save(t, in("vk.bin"), to(vk))
				save(t, in("witness.bin"), to(full))
				var options []backend.VerifierOption
				var extra []string
				if c.verifier != nil {
					options, extra = append(options, c.verifier), []string{"--commitment-hash", c.hash}
				}
				for _, key := range []string{"pk.bin", "pk.raw.bin", "pk.dump.bin"} {
					command(t, dir, cuzk, append([]string{"prove", "--proving-key", key, "--constraint-system", "ccs.bin", "--witness", "witness.bin",
						"--verifying-key", "vk.bin", "--proof", "proof.bin", "--public", "public.bin"}, extra...)...)
					proof := groth16.NewProof(id)
					load(t, in("proof.bin"), func(r io.Reader) error { _, err := proof.ReadFrom(r); return err })
					got, err := witness.New(id.ScalarField())
					if err != nil {
						t.Fatal(err)
					}
					load(t, in("public.bin"), func(r io.Reader) error { _, err := got.ReadFrom(r); return err })
					if err := groth16.Verify(proof, vk, got, options...); err != nil {
						t.Errorf("gnark refuses the proof made with %s: %v", key, err)
					}
					if err := groth16.Verify(proof, vk, public, options...); err != nil {
						t.Errorf("gnark refuses the proof made with %s for its own public inputs: %v", key, err)
					}
				}
				// And the other way.
				var proverOptions []backend.ProverOption
				if c.prover != nil {
					proverOptions = append(proverOptions, c.prover)
				}
				theirs, err := groth16.Prove(ccs, pk, full, proverOptions...)
				if err != nil {
					t.Fatal(err)
				}
				save(t, in("theirs.bin"), to(theirs))
				command(t, dir, cuzk, append([]string{"verify", "vk.bin", "public.bin", "theirs.bin"}, extra...)...)
			})
		}
	}
}

func TestGnarkVerifiesProofsOfTheFixtures(t *testing.T) {
	for name, id := range map[string]ecc.ID{"bn254": ecc.BN254, "bls12_381": ecc.BLS12_381} {
		folder := fixtures(t, "gnark", name, "mulchain_1000")
		out := t.TempDir()
		command(t, folder, cuzk, "prove", "--proving-key", "pk.bin", "--constraint-system", "ccs.bin", "--witness", "witness.bin", "--verifying-key", "vk.bin",
			"--proof", filepath.Join(out, "proof.bin"), "--public", filepath.Join(out, "public.bin"))
		proof, vk := groth16.NewProof(id), groth16.NewVerifyingKey(id)
		public, err := witness.New(id.ScalarField())
		if err != nil {
			t.Fatal(err)
		}
		load(t, filepath.Join(out, "proof.bin"), func(r io.Reader) error { _, err := proof.ReadFrom(r); return err })
		load(t, filepath.Join(folder, "vk.bin"), func(r io.Reader) error { _, err := vk.ReadFrom(r); return err })
		load(t, filepath.Join(folder, "public.bin"), func(r io.Reader) error { _, err := public.ReadFrom(r); return err })
		if err := groth16.Verify(proof, vk, public); err != nil {
			t.Errorf("%s: gnark refuses the proof: %v", name, err)
		}
	}
}
