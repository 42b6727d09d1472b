//go:build interop

package interop_test

import (
	"encoding/json"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
)

// Proofs that another machine made, one with a GPU and without the network: CUZK_PROOFS names their folder. It has a folder for
// each curve, and in that one for each circuit.
func TestOthersVerifyProofsMadeElsewhere(t *testing.T) {
	root := os.Getenv("CUZK_PROOFS")
	if root == "" {
		t.Skip("CUZK_PROOFS does not name a folder of proofs")
	}
	ofGnark := 0
	for name, id := range map[string]ecc.ID{"BN254": ecc.BN254, "BLS12-381": ecc.BLS12_381} {
		folders, err := filepath.Glob(filepath.Join(root, name, "*"))
		if err != nil || len(folders) == 0 {
			t.Fatalf("no proofs on %s: %v", name, err)
		}
		var tasks []task
		for _, folder := range folders {
			in := func(file string) string { return filepath.Join(folder, file) }
			if _, err := os.Stat(in("proof.json")); err == nil {
				tasks = append(tasks, task{Op: "verify", VK: in("vk.json"), Public: in("public.json"), Proof: in("proof.json")})
				continue
			}
			ofGnark++
			if err := verifyWithGnark(t, id, in); err != nil {
				t.Errorf("gnark refuses %s: %v", folder, err)
			}
		}
		snarkjs(t, tasks...)
		t.Logf("%s: snarkjs has verified %d proofs, gnark %d", name, len(tasks), len(folders)-len(tasks))
	}
	if ofGnark == 0 {
		t.Error("no proof is of a gnark key")
	}
}

// verifyWithGnark verifies proof.bin with vk.bin and public.json, of which in gives the paths.
func verifyWithGnark(t *testing.T, id ecc.ID, in func(string) string) error {
	var decimals []string
	if err := json.Unmarshal([]byte(read(t, in("public.json"))), &decimals); err != nil {
		return err
	}
	values := make(chan any, len(decimals))
	for _, d := range decimals {
		n, _ := new(big.Int).SetString(d, 10)
		values <- n
	}
	close(values)
	public, err := witness.New(id.ScalarField())
	if err != nil {
		return err
	}
	if err := public.Fill(len(decimals), 0, values); err != nil {
		return err
	}
	proof, vk := groth16.NewProof(id), groth16.NewVerifyingKey(id)
	load(t, in("proof.bin"), func(r io.Reader) error { _, err := proof.ReadFrom(r); return err })
	load(t, in("vk.bin"), func(r io.Reader) error { _, err := vk.ReadFrom(r); return err })
	return groth16.Verify(proof, vk, public)
}
