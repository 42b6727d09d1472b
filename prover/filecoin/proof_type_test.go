package filecoin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

func TestRegisteredProofsByNumberAndName(t *testing.T) {
	for _, want := range []struct {
		n       uint8
		name    string
		size    filecoin.SectorSize
		version filecoin.APIVersion
		kind    filecoin.Kind
	}{
		{0, "StackedDrg2KiBV1", filecoin.Sector2KiB, filecoin.V1_0, filecoin.Interactive},
		{3, "StackedDrg32GiBV1", filecoin.Sector32GiB, filecoin.V1_0, filecoin.Interactive},
		{8, "StackedDrg32GiBV1_1", filecoin.Sector32GiB, filecoin.V1_1, filecoin.Interactive},
		{12, "StackedDrg512MiBV1_1_Feat_SyntheticPoRep", filecoin.Sector512MiB, filecoin.V1_2, filecoin.Synthetic},
		{19, "StackedDrg64GiBV1_2_Feat_NonInteractivePoRep", filecoin.Sector64GiB, filecoin.V1_2, filecoin.NonInteractive},
	} {
		p := filecoin.SealProof(want.n)
		if p.String() != want.name || p.Sector() != want.size || p.Version() != want.version || p.Kind() != want.kind {
			t.Errorf("%d is %s of %s, version %s, kind %d", want.n, p, p.Sector(), p.Version(), p.Kind())
		}
		for _, text := range []string{want.name, "RegisteredSealProof_" + want.name} {
			if got, err := filecoin.ParseSealProof(text); err != nil || got != p {
				t.Errorf("%s gives %d (%v)", text, got, err)
			}
		}
		if p.PoRepID() != (filecoin.Node{want.n}) {
			t.Errorf("%s has PoRep id %s", p, p.PoRepID())
		}
	}
	for _, text := range []string{"", "20", "-1", "StackedDrg1KiBV1", "RegisteredSealProof_"} {
		if p, err := filecoin.ParseSealProof(text); err == nil {
			t.Errorf("%q gives %s", text, p)
		}
	}
	for n, want := range map[filecoin.SealProof]string{15: "aggregate of 13 Groth16", 18: "aggregate of 126 Groth16", 20: "there is no registered", 14: ""} {
		err := n.CheckSupported()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d gives %v, want %q", n, err, want)
		}
	}
}

func TestRegisteredPoStAndUpdateProofs(t *testing.T) {
	for text, want := range map[string]filecoin.PoStProof{
		"StackedDrgWinning2KiBV1": 0, "StackedDrgWinning64GiBV1": 4, "StackedDrgWindow32GiBV1": 8,
		"StackedDrgWindow32GiBV1_1": 13, "StackedDrgWindow2KiBV1_2": 10, "RegisteredPoStProof_StackedDrgWindow64GiBV1_1": 14, "7": 7,
	} {
		if got, err := filecoin.ParsePoStProof(text); err != nil || got != want {
			t.Errorf("%s gives %d (%v), want %d", text, got, err, want)
		}
	}
	if p := filecoin.PoStProof(13); p.Winning() || p.Version() != filecoin.V1_2 || p.Shape().Slots != 2349 {
		t.Errorf("13 is %s with %d slots", p, p.Shape().Slots)
	}
	if p := filecoin.PoStProof(3); !p.Winning() || p.Shape() != (filecoin.PoStShape{Sector: filecoin.Sector32GiB, Slots: 66, Challenges: 1}) {
		t.Errorf("3 is %s", p)
	}
	if _, err := filecoin.ParsePoStProof("15"); err == nil {
		t.Error("there is a registered PoSt proof 15")
	}
	if p, err := filecoin.ParseUpdateProof("StackedDrg512MiBV1"); err != nil || p != 2 || p.Shape().Partitions != 16 {
		t.Errorf("StackedDrg512MiBV1 gives %d (%v)", p, err)
	}
	if _, err := filecoin.ParseUpdateProof("5"); err == nil {
		t.Error("there is a registered update proof 5")
	}
}

func TestSectorSizes(t *testing.T) {
	for text, want := range map[string]filecoin.SectorSize{
		"2KiB": 2048, "2048": 2048, "32GiB": 32 << 30, "34359738368": 32 << 30, "512 MiB": 512 << 20, "32768MiB": 32 << 30,
	} {
		if got, err := filecoin.ParseSectorSize(text); err != nil || got != want {
			t.Errorf("%q gives %d (%v)", text, got, err)
		}
	}
	for _, text := range []string{"", "3KiB", "32", "GiB", "32GB", "-2KiB", "64TiB", "18446744073709551615GiB"} {
		if got, err := filecoin.ParseSectorSize(text); err == nil {
			t.Errorf("%q gives %s", text, got)
		}
	}
	for size, want := range map[filecoin.SectorSize]string{2048: "2KiB", 32 << 30: "32GiB", 512 << 20: "512MiB"} {
		if size.String() != want {
			t.Errorf("%d is %s", uint64(size), size)
		}
	}
}

func TestTreesHaveTheirLevels(t *testing.T) {
	for _, c := range []struct {
		size filecoin.SectorSize
		want []int
	}{
		{2 << 10, []int{8, 8}},
		{4 << 10, []int{8, 8, 2}},
		{16 << 10, []int{8, 8, 8}},
		{32 << 10, []int{8, 8, 8, 2}},
		{32 << 30, []int{8, 8, 8, 8, 8, 8, 8, 8, 8, 8}},
		{64 << 30, []int{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2}},
	} {
		if diff := cmp.Diff(c.want, c.size.Tree().Arities(c.size.Nodes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.size, diff)
		}
	}
	if n := len(filecoin.BinaryTree.Arities(1 << 30)); n != 30 {
		t.Errorf("the data tree of 32 GiB has %d levels", n)
	}
}

func TestSnapShapes(t *testing.T) {
	for _, want := range []struct {
		size                                                  filecoin.SectorSize
		partitions, challenges, apex, partitionBits, selected int
	}{
		{2 << 10, 1, 10, 8, 0, 0}, {16 << 10, 2, 10, 128, 1, 0}, {8 << 20, 4, 10, 128, 2, 3}, {512 << 20, 16, 86, 128, 4, 3}, {64 << 30, 16, 86, 128, 4, 3},
	} {
		s := filecoin.SnapShapeOf(want.size, false)
		if s.Partitions != want.partitions || s.Challenges != want.challenges || s.ApexLeaves != want.apex || s.PartitionBits() != want.partitionBits || s.SelectedH() != want.selected {
			t.Errorf("%s: %+v", want.size, s)
		}
		p := filecoin.SnapShapeOf(want.size, true)
		if p.Partitions != 1 || p.Challenges != want.partitions*want.challenges || p.PartitionBits() != 0 || p.ApexBits() != 0 {
			t.Errorf("%s with Poseidon: %+v", want.size, p)
		}
	}
}
