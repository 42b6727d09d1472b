package vanilla_test

import (
	"errors"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/internal/golden"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// named refuses an error without class, file or field.
func named(t *testing.T, err error) {
	t.Helper()
	var e *failure.Error
	if err != nil && (!errors.As(err, &e) || e.Class != failure.Input || e.File != "f") {
		t.Fatalf("an error without class or file: %v", err)
	}
}

func FuzzCommit1(f *testing.F) {
	f.Add([]byte(`{"registered_proof":"StackedDrg2KiBV1_1","vanilla_proofs":{"StackedDrg2KiBV1":[[]]}}`))
	f.Add([]byte(`{"SectorNum":1,"Phase1Out":"e30=","SectorSize":2048}`))
	for _, file := range commitFiles {
		f.Add(golden.File(f, "porep-v1_1."+file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := vanilla.ReadCommit1(t.Context(), "f", data, vanilla.CommitOptions{})
		named(t, err)
		if err == nil && len(c.Format(vanilla.RawBincode)) == 0 {
			t.Fatal("what was read cannot be written")
		}
	})
}

func FuzzPoSt(f *testing.F) {
	f.Add([]byte(`{"sector_id":1,"vanilla_proof":{"sectors":[{}]}}`))
	f.Add(golden.File(f, "window-v1_2-3sectors.vanilla-1.bincode"))
	f.Add(golden.File(f, "window-v1_2-3sectors.vanilla-1.json"))
	shape := filecoin.WindowPoStShape(filecoin.Sector2KiB)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := vanilla.ReadPoSt("f", data, shape)
		named(t, err)
	})
}

func FuzzSnap(f *testing.F) {
	f.Add([]byte(`{"ProofType":0,"old_r":[],"Proofs":["AA=="]}`))
	f.Add([]byte(`["AA=="]`))
	f.Add(golden.File(f, "snap.vanilla-p0.bincode"))
	f.Add(golden.File(f, "snap.vanilla-p0.json"))
	shape := filecoin.SnapShapeOf(filecoin.Sector2KiB, false)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := vanilla.ReadSnap("f", data, shape)
		named(t, err)
		_, err = vanilla.ReadUpdate("f", data)
		named(t, err)
		_, err = vanilla.Base64List("f", data, 16)
		named(t, err)
		_ = vanilla.IsUpdate(data)
	})
}
