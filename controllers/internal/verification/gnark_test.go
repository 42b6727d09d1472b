package verification

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/solidity"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
)

// plain says y = x³ + 5; committed, besides, that x is committed to.
type plain struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *plain) Define(api frontend.API) error {
	api.AssertIsEqual(c.Y, api.Add(api.Mul(c.X, c.X, c.X), 5))
	return nil
}

type committed struct{ plain }

func (c *committed) Define(api frontend.API) error {
	commitment, err := api.(frontend.Committer).Commit(c.X)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(commitment, 0)
	return c.plain.Define(api)
}

// TestGnark verifies gnark's own proofs, as reports carry them.
func TestGnark(t *testing.T) {
	forSolidity := solidity.WithProverTargetSolidityVerifier(backend.GROTH16)
	for _, c := range []struct {
		name    string
		curve   ecc.ID
		ref     KeyRef
		circuit frontend.Circuit
		witness frontend.Circuit
		options []backend.ProverOption
	}{
		{"BN254", ecc.BN254, KeyRef{Format: formatGnark, Curve: "BN254"}, &plain{}, &plain{X: 3, Y: 32}, nil},
		{"BLS12-381", ecc.BLS12_381, KeyRef{Format: formatGnark, Curve: "BLS12-381"}, &plain{}, &plain{X: 3, Y: 32}, nil},
		{"commitment", ecc.BN254, KeyRef{Format: formatGnark, Curve: "BN254", CommitmentHash: "SHA256"}, &committed{}, &committed{plain{X: 3, Y: 32}}, nil},
		{"commitment for Solidity", ecc.BN254, KeyRef{Format: formatGnark, Curve: "BN254", CommitmentHash: "Keccak256"}, &committed{}, &committed{plain{X: 3, Y: 32}}, []backend.ProverOption{forSolidity}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ccs, err := frontend.Compile(c.curve.ScalarField(), r1cs.NewBuilder, c.circuit)
			if err != nil {
				t.Fatal(err)
			}
			pk, vk, err := groth16.Setup(ccs)
			if err != nil {
				t.Fatal(err)
			}
			witness, err := frontend.NewWitness(c.witness, c.curve.ScalarField())
			if err != nil {
				t.Fatal(err)
			}
			proof, err := groth16.Prove(ccs, pk, witness, c.options...)
			if err != nil {
				t.Fatal(err)
			}
			var vkBytes, proofBytes bytes.Buffer
			if _, err := vk.WriteTo(&vkBytes); err != nil {
				t.Fatal(err)
			}
			if _, err := proof.WriteTo(&proofBytes); err != nil {
				t.Fatal(err)
			}
			key, err := ParseGroth16(c.ref, vkBytes.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Count(c.name, "commitment"); key.Public() != 1 || key.Commitments() != want {
				t.Errorf("%d public inputs, %d commitments, want 1, %d", key.Public(), key.Commitments(), want)
			}
			text := base64.StdEncoding.EncodeToString(proofBytes.Bytes())
			if err := key.Verify(Claim{Proof: text, Public: []string{"32"}}); err != nil {
				t.Errorf("gnark's own proof: %v", err)
			}
			if err := key.Verify(Claim{Proof: text, Public: []string{"33"}}); err == nil {
				t.Error("verified with another public input")
			}
			for _, bad := range []string{text[:len(text)-8], text + "AAAA", "!" + text[1:]} {
				if err := key.Verify(Claim{Proof: bad, Public: []string{"32"}}); err == nil {
					t.Error("verified a damaged proof")
				}
			}
		})
	}
}
