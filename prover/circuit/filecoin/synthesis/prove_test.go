package synthesis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
)

// The reference's proofs with fixed r and s come out byte for byte.
func TestProofsAreTheReferences(t *testing.T) {
	shape := filecoin.PoStShape{Sector: 2 * kib, Slots: 1, Challenges: 1}
	c := poStCase(t, "post-tiny", "post-tiny", 0, shape, 1)
	defer c.witness.Free()
	file, err := filparams.Parse("post_tiny.params", fixture.Read(t, "filecoin", "params", "post_tiny.params"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := file.For(Circuit(c.structure))
	if err != nil {
		t.Fatal(err)
	}
	backend := cpu.New(cpu.Config{})
	key, err := backend.LoadKey(t.Context(), source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	assignment, err := Evaluate(t.Context(), c.structure, c.witness)
	if err != nil {
		t.Fatal(err)
	}
	defer assignment.Free()
	for i, blinding := range blindings(t, "post-tiny", 0) {
		ticket, err := backend.Submit(t.Context(), key, assignment.Evaluated, blinding.r, blinding.s, groth16.Options{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := ticket.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := caseFile(t, fmt.Sprintf("post-tiny.proof%d.bin", i))
		if got := proof.Encode([]*groth16.Proof{made}); !bytes.Equal(got, want) {
			t.Errorf("proof %d is\n%x, want\n%x", i, got, want)
		}
	}
}

type blinding struct{ r, s curve.Scalar }

// blindings are r and s of the reference's proofs of a partition.
func blindings(t *testing.T, name string, partition int) (out []blinding) {
	t.Helper()
	var c struct {
		Groth16 struct {
			Partitions []struct {
				Proofs []struct {
					R hexNode `json:"r_le"`
					S hexNode `json:"s_le"`
				} `json:"proofs"`
			} `json:"partitions"`
		} `json:"groth16"`
	}
	if err := json.Unmarshal(caseFile(t, name+".json"), &c); err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Groth16.Partitions[partition].Proofs {
		out = append(out, blinding{filecoin.Node(p.R).Scalar(), filecoin.Node(p.S).Scalar()})
	}
	return out
}
