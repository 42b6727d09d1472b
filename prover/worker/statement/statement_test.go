package statement_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/worker/statement"
)

// hex is 32 bytes in hex, the first of which is given.
func hex(first string) string { return first + strings.Repeat("00", 31) }

// read reads a circuit as a user writes it.
func read(t *testing.T, text string) *v1alpha1.Circuit {
	t.Helper()
	var c v1alpha1.Circuit
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

// miner1000 is the prover id of f01000: 1000 as a varint.
var miner1000 = filecoin.Node{0xe8, 0x07}

func TestStatements(t *testing.T) {
	porepShape := filecoin.PoRepShape{Sector: filecoin.Sector2KiB, Layers: 2, Partitions: 1, Challenges: 2}
	sealed := &porep.Statement{
		Shape: porepShape, Version: filecoin.V1_1, PoRepID: filecoin.Node{5},
		Prover: miner1000, Sector: 7, Ticket: filecoin.Node{1}, Seed: filecoin.Node{2}, CommD: filecoin.Node{3}, CommR: filecoin.Node{4},
	}
	tested := *sealed
	tested.Shape.Partitions = 2
	porepText := `{"type":"FilecoinPoRep","filecoinPoRep":{"registeredProof":"StackedDrg2KiBV1_1",SHAPE"miner":"t01000","sectorNumber":7,
		"ticket":"` + hex("01") + `","seed":"0x` + hex("02") + `","commD":"` + filecoin.Unsealed.CID(filecoin.Node{3}) + `","commR":"` + hex("04") + `"}}`
	// The two top bits of the randomness are cleared, and sectors sorted.
	spacetime := &post.Statement{
		Shape: filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 2, Challenges: 10}, Version: filecoin.V1_2, Randomness: filecoin.Node{31: 0x3f},
		Sectors: []post.Sector{{ID: 1, CommR: filecoin.Node{1}}, {ID: 2, CommR: filecoin.Node{2}}, {ID: 9, CommR: filecoin.Node{9}}},
	}
	randomness := strings.Repeat("00", 31) + "FF"
	winning := &post.Statement{
		Shape: filecoin.PoStShape{Sector: filecoin.Sector32GiB, Slots: 66, Challenges: 1}, Winning: true, Randomness: filecoin.Node{31: 0x3f},
		Sectors: []post.Sector{{ID: 0, CommR: filecoin.Node{9}}},
	}
	update := func(shape filecoin.SnapShape) *snap.Statement {
		return &snap.Statement{Shape: shape, CommROld: filecoin.Node{1}, CommRNew: filecoin.Node{2}, CommDNew: filecoin.Node{3}}
	}
	updateText := func(what string) string {
		return `{"type":"FilecoinSnapDeals","filecoinSnapDeals":{` + what + `,"commROld":"` + hex("01") + `","commRNew":"` + filecoin.Sealed.CID(filecoin.Node{2}) + `","commDNew":"` + hex("03") + `"}}`
	}
	shape32 := filecoin.SnapShape{Sector: filecoin.Sector32GiB, Partitions: 16, Challenges: 86, ApexLeaves: 128}
	poseidon32 := filecoin.SnapShape{Sector: filecoin.Sector32GiB, Poseidon: true, Partitions: 1, Challenges: 1376}
	shape16 := filecoin.SnapShape{Sector: 16 << 10, Partitions: 2, Challenges: 10, ApexLeaves: 128}

	for _, c := range []struct {
		name, text string
		want       statement.Filecoin
	}{
		{"PoRep", strings.Replace(porepText, "SHAPE", "", 1), statement.Filecoin{
			Circuit: filecoin.PoRep, Shape: sealed.Shape, PublicInputs: 39, Statement: sealed, PoRep: sealed, SealProof: 5,
		}},
		{"PoRep of the test shape", strings.Replace(porepText, "SHAPE", `"shape":"Test",`, 1), statement.Filecoin{
			Circuit: filecoin.PoRep, Shape: tested.Shape, PublicInputs: 39, Statement: &tested, PoRep: &tested, SealProof: 5,
		}},
		{"window PoSt", `{"type":"FilecoinWindowPoSt","filecoinWindowPoSt":{"registeredProof":"StackedDrgWindow2KiBV1_1","randomness":"` + randomness + `","sectors":[
			{"sectorNumber":9,"commR":"` + hex("09") + `"},{"sectorNumber":1,"commR":"` + filecoin.Sealed.CID(filecoin.Node{1}) + `"},{"sectorNumber":2,"commR":"` + hex("02") + `"}]}}`, statement.Filecoin{
			Circuit: filecoin.WindowPoSt, Shape: spacetime.Shape, PublicInputs: 22, Statement: spacetime, PoSt: spacetime,
		}},
		{"winning PoSt", `{"type":"FilecoinWinningPoSt","filecoinWinningPoSt":{"registeredProof":"StackedDrgWinning32GiBV1","randomness":"` + randomness + `",
			"sector":{"sectorNumber":0,"commR":"` + hex("09") + `"}}}`, statement.Filecoin{
			Circuit: filecoin.WinningPoSt, Shape: winning.Shape, PublicInputs: 132, Statement: winning, PoSt: winning,
		}},
		{"update", updateText(`"registeredProof":"StackedDrg32GiBV1"`), statement.Filecoin{
			Circuit: filecoin.SnapDeals, Shape: shape32, PublicInputs: 4, Statement: update(shape32), Snap: update(shape32), UpdateProof: ptr.To[filecoin.UpdateProof](3),
		}},
		{"update with Poseidon", updateText(`"registeredProof":"StackedDrg32GiBV1","shape":"Poseidon"`), statement.Filecoin{
			Circuit: filecoin.SnapDealsPoseidon, Shape: poseidon32, PublicInputs: 4, Statement: update(poseidon32), Snap: update(poseidon32),
		}},
		{"update of the test shape", updateText(`"shape":"Test"`), statement.Filecoin{
			Circuit: filecoin.SnapDeals, Shape: shape16, PublicInputs: 4, Statement: update(shape16), Snap: update(shape16),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := statement.Of(read(t, c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for k := range got.Statement.Partitions() {
				if public, err := got.Statement.PublicInputs(k); err != nil || len(public) != got.PublicInputs {
					t.Errorf("%d public inputs of partition %d, %v", len(public), k, err)
				}
			}
		})
	}
}

func TestErrorsNameTheField(t *testing.T) {
	porepText := `{"type":"FilecoinPoRep","filecoinPoRep":{"registeredProof":"StackedDrg2KiBV1_1","miner":"f01000","sectorNumber":7,
		"ticket":"` + hex("01") + `","seed":"` + hex("02") + `","commD":"` + hex("03") + `","commR":"` + hex("04") + `"}}`
	sector := func(number string) string { return `{"sectorNumber":` + number + `,"commR":"` + hex("01") + `"}` }
	windowText := `{"type":"FilecoinWindowPoSt","filecoinWindowPoSt":{"registeredProof":"StackedDrgWindow2KiBV1_1","randomness":"` + hex("01") + `","sectors":[` + sector("1") + `,` + sector("2") + `]}}`
	if _, err := statement.Of(read(t, windowText)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, old, new, says string }{
		{porepText, "f01000", "f099999999999999999999", "circuit.filecoinPoRep.miner: "},
		{porepText, "f01000", "f2abc", "circuit.filecoinPoRep.miner: "},
		{porepText, `"sectorNumber":7,`, "", "circuit.filecoinPoRep.sectorNumber: "},
		{porepText, hex("01"), "00", "circuit.filecoinPoRep.ticket: "},
		{porepText, hex("02"), "00", "circuit.filecoinPoRep.seed: "},
		{porepText, hex("03"), filecoin.Sealed.CID(filecoin.Node{3}), "circuit.filecoinPoRep.commD: "},
		{porepText, hex("03"), hex("00"), "circuit.filecoinPoRep: comm_d is zero"},
		{porepText, hex("04"), strings.Repeat("f", 64), "circuit.filecoinPoRep: comm_r"},
		{porepText, "StackedDrg2KiBV1_1", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", "circuit.filecoinPoRep.registeredProof: StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"},
		{porepText, `StackedDrg2KiBV1_1"`, `StackedDrg8MiBV1_1","shape":"Test"`, "circuit.filecoinPoRep.shape: "},
		{porepText, `"filecoinPoRep":{`, `"filecoinSnapDeals":{`, "has no statement"},
		{windowText, "StackedDrgWindow", "StackedDrgWinning", "circuit.filecoinWindowPoSt.registeredProof: "},
		{windowText, "StackedDrgWindow2KiBV1_1", "StackedDrgWinning2KiBV1", "circuit.filecoinWindowPoSt.registeredProof: "},
		{windowText, `"sectorNumber":2`, `"sectorNumber":1`, "circuit.filecoinWindowPoSt.sectors: sector 1"},
		{windowText, `"sectorNumber":2`, `"sectorNumber":-2`, "circuit.filecoinWindowPoSt.sectors[1].sectorNumber: "},
		{windowText, `"sectorNumber":2,"commR":"` + hex("01"), `"sectorNumber":2,"commR":"` + hex("00"), "circuit.filecoinWindowPoSt.sectors: comm_r of sector 2"},
		{`{"type":"Circom"}`, "x", "x", "has no statement"},
	} {
		_, err := statement.Of(read(t, strings.Replace(c.text, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q for %q: %v, want %q", c.new, c.old, err, c.says)
		}
	}
}

// A window PoSt of small sectors has two of them in a partition.
func TestPartitionsAreBounded(t *testing.T) {
	c := &v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinWindowPoSt, FilecoinWindowPoSt: &v1alpha1.FilecoinWindowPoStCircuit{
		RegisteredProof: "StackedDrgWindow2KiBV1", Randomness: v1alpha1.Bytes32(hex("01")),
	}}
	for i := range 2 * v1alpha1.MaxPartitions {
		c.FilecoinWindowPoSt.Sectors = append(c.FilecoinWindowPoSt.Sectors, v1alpha1.FilecoinSector{SectorNumber: ptr.To(int64(i)), CommR: v1alpha1.SealedCommitment(hex("01"))})
	}
	if f, err := statement.Of(c); err != nil || f.Statement.Partitions() != v1alpha1.MaxPartitions {
		t.Errorf("%v, want %d partitions", err, v1alpha1.MaxPartitions)
	}
	c.FilecoinWindowPoSt.Sectors = append(c.FilecoinWindowPoSt.Sectors, v1alpha1.FilecoinSector{SectorNumber: ptr.To[int64](1 << 40), CommR: v1alpha1.SealedCommitment(hex("01"))})
	if _, err := statement.Of(c); err == nil || !strings.Contains(err.Error(), "split it") {
		t.Errorf("one too many: %v", err)
	}
}
