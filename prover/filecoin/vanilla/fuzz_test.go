package vanilla_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
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

// damaged sets a number in data: mutations of an input rarely meet a length, so each run sets one of its own.
func damaged(data []byte, at uint32, value uint64, width byte) []byte {
	out := append([]byte(nil), data...)
	if int(at) < len(out)-8 && width <= 8 {
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], value)
		copy(out[at:], number[:width])
	}
	return out
}

// Seeds are of the smallest shapes, which give the most runs.
func seeds(f *testing.F, inputs ...[]byte) {
	f.Helper()
	for _, data := range inputs {
		f.Add(data, uint32(0), uint64(0), byte(9))
		for _, at := range []int{0, 4, 8, 16, 40, 84, 92, len(data) / 2} {
			f.Add(data, uint32(at), uint64(1)<<40, byte(8))
		}
	}
}

func FuzzCommit1(f *testing.F) {
	shape := filecoin.PoRepShape{Sector: filecoin.Sector2KiB, Layers: 2, Partitions: 1, Challenges: 1}
	s := &porep.Statement{Shape: shape, Version: filecoin.V1_1, PoRepID: filecoin.Node{5}}
	c, err := fabricate.PoRep(f.Context(), s)
	if err != nil {
		f.Fatal(err)
	}
	proof := filecoin.SealProof(5)
	c.Proof = &proof
	for e := vanilla.CommitJSON; e <= vanilla.RawBincode; e++ {
		seeds(f, c.Format(e))
	}
	seeds(f, []byte(`{"registered_proof":"StackedDrg2KiBV1_1","vanilla_proofs":{"StackedDrg2KiBV1":[[]]}}`), []byte(`{"SectorNum":1,"Phase1Out":"e30=","SectorSize":2048}`))
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value uint64, width byte) {
		data = damaged(data, at, value, width)
		c, err := vanilla.ReadCommit1(t.Context(), "f", data, vanilla.CommitOptions{Shape: &shape})
		named(t, err)
		if err == nil && !vanilla.IsCommit1(data) {
			t.Fatal("what was read is not recognised")
		}
		if err == nil {
			named(t, c.Check(t.Context(), "f", s))
		}
	})
}

func FuzzPoSt(f *testing.F) {
	s := &post.Statement{Shape: filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 1, Challenges: 1}, Sectors: []post.Sector{{ID: 1}}}
	proofs, err := fabricate.PoSt(f.Context(), s)
	if err != nil {
		f.Fatal(err)
	}
	seeds(f, proofs[0].Bincode(s.Shape), proofs[0].JSON(s.Shape), []byte(`{"sector_id":1,"vanilla_proof":{"sectors":[{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value uint64, width byte) {
		p, err := vanilla.ReadPoSt("f", damaged(data, at, value, width), s.Shape)
		named(t, err)
		if err == nil {
			named(t, p.Check("f", s, 0))
		}
	})
}

func FuzzSnap(f *testing.F) {
	s := &snap.Statement{Shape: filecoin.SnapShape{Sector: filecoin.Sector2KiB, Partitions: 1, Challenges: 1, ApexLeaves: 8}}
	proofs, err := fabricate.Snap(s)
	if err != nil {
		f.Fatal(err)
	}
	withPoseidon := &snap.Statement{Shape: filecoin.SnapShape{Sector: filecoin.Sector2KiB, Poseidon: true, Partitions: 1, Challenges: 1}}
	other, err := fabricate.Snap(withPoseidon)
	if err != nil {
		f.Fatal(err)
	}
	seeds(f, other[0].Bincode(withPoseidon.Shape))
	seeds(f, proofs[0].Bincode(s.Shape), proofs[0].JSON(s.Shape), []byte(`{"ProofType":0,"old_r":[],"Proofs":["AA=="]}`), []byte(`["AA=="]`))
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value uint64, width byte) {
		data = damaged(data, at, value, width)
		for _, s := range []*snap.Statement{s, withPoseidon} {
			p, err := vanilla.ReadSnap("f", data, s.Shape)
			named(t, err)
			if err == nil {
				named(t, p.Check("f", s, 0))
			}
		}
		_, err := vanilla.ReadUpdate("f", data)
		named(t, err)
		_, err = vanilla.Base64List("f", data, 16)
		named(t, err)
		_ = vanilla.IsUpdate(data)
	})
}
