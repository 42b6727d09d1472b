// Package golden reads what the reference implementation of Filecoin's proofs computed, for tests.
package golden

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

// Hex is bytes in hex.
type Hex []byte

// UnmarshalText decodes hex.
func (h *Hex) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	*h = b
	return err
}

// Node is 32 bytes in hex.
type Node filecoin.Node

// UnmarshalText decodes hex.
func (n *Node) UnmarshalText(text []byte) error {
	parsed, err := filecoin.ParseNode(string(text))
	*n = Node(parsed)
	return err
}

// Case is a case of the golden set; a case has only the fields of its kind.
type Case struct {
	Name           string `json:"-"`
	RegisteredSeal string `json:"registered_seal_proof"`
	RegisteredPoSt string `json:"registered_post_proof"`

	ProverID  Node   `json:"prover_id"`
	SectorID  uint64 `json:"sector_id"`
	Ticket    Node   `json:"ticket"`
	Seed      Node   `json:"seed"`
	PoRepID   Node   `json:"porep_id"`
	ReplicaID Node   `json:"replica_id"`
	CommD     Node   `json:"comm_d"`
	CommR     Node   `json:"comm_r"`
	CommC     Node   `json:"comm_c"`
	CommRLast Node   `json:"comm_r_last"`

	CommROld     Node `json:"comm_r_old"`
	CommRNew     Node `json:"comm_r_new"`
	CommDNew     Node `json:"comm_d_new"`
	CommRLastOld Node `json:"comm_r_last_old"`
	CommRLastNew Node `json:"comm_r_last_new"`

	Randomness Node `json:"randomness"`
	Partitions int  `json:"partitions"`
	Slots      int  `json:"slots_per_partition"`
	Sectors    []struct {
		ID         uint64   `json:"sector_id"`
		CommR      Node     `json:"comm_r"`
		Challenges []uint64 `json:"challenges"`
		Vanilla    string   `json:"vanilla_file"`
	} `json:"sectors"`
	WinningSector []uint64 `json:"winning_sector_challenge_for_set_of_1000"`

	Challenges   [][]uint64 `json:"challenges"`
	PublicInputs [][]Node   `json:"public_inputs_le"`
	Groth16      struct {
		Partitions []Partition `json:"partitions"`
		ProofFiles []struct {
			File string `json:"file"`
		} `json:"proof_files"`
	} `json:"groth16"`
	SealCommit2 struct {
		Proof Hex `json:"proof"`
	} `json:"seal_commit_phase2"`
	RandomProof struct {
		Proof Hex `json:"proof"`
	} `json:"reference_prover_random"`
}

// Partition is what a proof of a partition is made of.
type Partition struct {
	PublicInputs []Node `json:"public_inputs_le"`
	// H is the quotient, Sums are those over the sections of the key, before anything is blinded; points are written out.
	H struct {
		Count  int    `json:"count"`
		Digest string `json:"sha256"`
	} `json:"h"`
	Sums struct {
		H       Hex `json:"h_g1"`
		L       Hex `json:"l_g1"`
		AInputs Hex `json:"a_inputs_g1"`
		AAux    Hex `json:"a_aux_g1"`
		B1      Hex `json:"b_g1"`
		B2      Hex `json:"b_g2"`
	} `json:"sums"`
	// Proofs have r and s that are given; ProofFiles holds them.
	Proofs []struct {
		R Node `json:"r_le"`
		S Node `json:"s_le"`
	} `json:"proofs"`
}

// Read reads a case; the test is skipped where there is no golden set.
func Read(t testing.TB, name string) *Case {
	t.Helper()
	c := &Case{Name: name}
	if err := json.Unmarshal(File(t, name+".json"), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// File reads a file of the cases.
func File(t testing.TB, name string) []byte {
	t.Helper()
	return fixture.Read(t, "filecoin", "cases", name)
}

// Inputs are the public inputs of a partition, without the one.
func (c *Case) Inputs(partition int) []curve.Scalar {
	nodes := []Node(nil)
	if len(c.PublicInputs) > 0 {
		nodes = c.PublicInputs[partition]
	} else {
		nodes = c.Groth16.Partitions[partition].PublicInputs
	}
	out := make([]curve.Scalar, len(nodes))
	for i, n := range nodes {
		out[i] = filecoin.Node(n).Scalar()
	}
	return out
}

// Proofs are all proofs that the reference made for the case, each of all partitions.
func (c *Case) Proofs(t testing.TB) [][]byte {
	t.Helper()
	var proofs [][]byte
	for _, f := range c.Groth16.ProofFiles {
		proofs = append(proofs, File(t, f.File))
	}
	for _, p := range []Hex{c.SealCommit2.Proof, c.RandomProof.Proof} {
		if p != nil {
			proofs = append(proofs, p)
		}
	}
	return proofs
}
