package inspect

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

// What is said of Filecoin's files is what the reference says of them.
func TestFilecoinFilesOfTheReference(t *testing.T) {
	var want struct {
		Proof     string `json:"registered_seal_proof"`
		Sector    uint64 `json:"sector_id"`
		ReplicaID string `json:"replica_id"`
		Ticket    string `json:"ticket"`
		Seed      string `json:"seed"`
		CommD     string `json:"comm_d"`
		CommR     string `json:"comm_r"`
	}
	if err := json.Unmarshal(fixture.Read(t, "filecoin", "cases", "porep-v1_1.json"), &want); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"commit2in.json", "api.json", "api.bincode", "raw.bincode"} {
		r, err := File(t.Context(), fixture.Path(t, "filecoin", "cases", "porep-v1_1.c1."+file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		expected := &Filecoin{Circuit: "porep", SectorSize: 2048, RegisteredProof: want.Proof, Partitions: 1, Challenges: 2, ReplicaID: want.ReplicaID,
			Ticket: want.Ticket, Seed: want.Seed, CommD: want.CommD, CommR: want.CommR}
		switch file {
		case "commit2in.json":
			expected.SectorNumber = &want.Sector
		case "raw.bincode":
			expected.RegisteredProof = ""
		}
		if diff := cmp.Diff(expected, r.Filecoin); diff != "" || r.Kind != FilecoinCommit1 {
			t.Errorf("%s is %s (-want +got):\n%s", file, r.Kind, diff)
		}
	}
	for _, name := range []string{"window_2KiB.vk", "post_tiny.vk", "porep_2KiB.vk"} {
		r, err := File(t.Context(), fixture.Path(t, "filecoin", "params", name), Options{Check: true})
		if err != nil || r.Kind != FilecoinVerifyingKey || !r.Check.OK {
			t.Errorf("%s: %+v (%v)", name, r, err)
		}
	}
}

func TestFilecoinParametersAreCheckedAndRemembered(t *testing.T) {
	path := fixture.Path(t, "filecoin", "params", "post_tiny.params")
	memory := NewMemory(t.TempDir())
	for _, remembered := range []bool{false, true} {
		r, err := File(t.Context(), path, Options{Check: true, Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		// No published parameters have these lengths.
		if r.Kind != FilecoinParams || r.Filecoin.Circuit != "" || *r.Circuit.DomainSize != 2048 || r.Check.Points != 3+2047+1389+1053+2*1013 || r.Check.Remembered != remembered {
			t.Errorf("%+v, %+v", r, r.Check)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(data)
	damaged[1160+96*3+90] ^= 1
	path = filepath.Join(t.TempDir(), "damaged.params")
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := File(t.Context(), path, Options{Check: true, Memory: memory}); failure.ClassOf(err) != failure.Key {
		t.Errorf("a damaged point: %v", err)
	}
}
