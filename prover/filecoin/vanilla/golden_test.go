package vanilla_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
)

var commitFiles = map[vanilla.Encoding]string{
	vanilla.CommitJSON: "c1.commit2in.json", vanilla.APIJSON: "c1.api.json", vanilla.APIBincode: "c1.api.bincode", vanilla.RawBincode: "c1.raw.bincode",
}

// Every encoding is recognised, holds the same, and is written again byte for byte.
func TestCommit1OfTheReference(t *testing.T) {
	for _, name := range []string{"porep-v1", "porep-v1_1", "porep-synthetic"} {
		want := golden.Read(t, name)
		var first *vanilla.Commit1
		for encoding, file := range commitFiles {
			data := golden.File(t, name+"."+file)
			c, err := vanilla.ReadCommit1(t.Context(), file, data, vanilla.CommitOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if c.Encoding != encoding {
				t.Errorf("%s is taken for %s", file, c.Encoding)
			}
			if encoding != vanilla.RawBincode && c.Proof.String() != want.RegisteredSeal {
				t.Errorf("%s: registered proof %s, want %s", file, c.Proof, want.RegisteredSeal)
			}
			if encoding == vanilla.CommitJSON && *c.Sector != want.SectorID {
				t.Errorf("%s: sector %d, want %d", file, *c.Sector, want.SectorID)
			}
			got := []filecoin.Node{c.CommR, c.CommD, c.ReplicaID, c.Seed, c.Ticket}
			if diff := cmp.Diff([]filecoin.Node{filecoin.Node(want.CommR), filecoin.Node(want.CommD), filecoin.Node(want.ReplicaID),
				filecoin.Node(want.Seed), filecoin.Node(want.Ticket)}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
			if !bytes.Equal(c.Format(encoding), data) {
				t.Errorf("%s is not written as it was read", file)
			}
			if first == nil {
				first = c
			}
			if !bytes.Equal(first.Format(vanilla.RawBincode), c.Format(vanilla.RawBincode)) {
				t.Errorf("%s holds other proofs than %s", file, first.Encoding)
			}
		}
		for i, c := range want.Challenges[0] {
			ch := &first.Partitions[0][i]
			if ch.Data.LeafIndex() != c || ch.Replica.LeafIndex() != c || ch.Column.Proof.LeafIndex() != c || ch.Labels[0].Node != c {
				t.Errorf("%s: challenge %d is not about node %d", name, i, c)
			}
		}
	}
}

func TestPoStOfTheReference(t *testing.T) {
	for _, name := range []string{"window-v1-2sectors", "window-v1_2-3sectors", "winning", "post-tiny"} {
		c := golden.Read(t, name)
		shape := filecoin.WindowPoStShape(filecoin.Sector2KiB)
		switch name {
		case "winning":
			shape = filecoin.WinningPoStShape(filecoin.Sector2KiB)
		case "post-tiny":
			shape = filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 1, Challenges: 1}
		}
		for _, sector := range c.Sectors {
			file := sector.Vanilla
			if file == "" {
				file = fmt.Sprintf("%s.vanilla-%d.bincode", name, sector.ID)
			}
			data := golden.File(t, file)
			p, err := vanilla.ReadPoSt(file, data, shape)
			if err != nil {
				t.Fatal(err)
			}
			if p.Sector != sector.ID || p.CommR != filecoin.Node(sector.CommR) {
				t.Errorf("%s: sector %d with comm_r %s", file, p.Sector, p.CommR)
			}
			for i, leaf := range p.Leaves {
				if leaf.LeafIndex() != sector.Challenges[i] {
					t.Errorf("%s: leaf %d is %d, want %d", file, i, leaf.LeafIndex(), sector.Challenges[i])
				}
			}
			if !bytes.Equal(p.Bincode(shape), data) {
				t.Errorf("%s is not written as it was read", file)
			}
			if name == "post-tiny" {
				continue
			}
			text := golden.File(t, fmt.Sprintf("%s.vanilla-%d.json", name, sector.ID))
			q, err := vanilla.ReadPoSt(file, text, shape)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(q.Bincode(shape), data) {
				t.Errorf("%s: JSON and bincode hold different proofs", file)
			}
			if !bytes.Equal(p.JSON(shape), text) {
				t.Errorf("%s: JSON is not written as it was read", file)
			}
		}
	}
}

func TestSnapOfTheReference(t *testing.T) {
	c := golden.Read(t, "snap")
	shape := filecoin.SnapShapeOf(filecoin.Sector2KiB, false)
	data, text := golden.File(t, "snap.vanilla-p0.bincode"), golden.File(t, "snap.vanilla-p0.json")
	p, err := vanilla.ReadSnap("bincode", data, shape)
	if err != nil {
		t.Fatal(err)
	}
	q, err := vanilla.ReadSnap("JSON", text, shape)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(q.Bincode(shape), data) || !bytes.Equal(p.Bincode(shape), data) || !bytes.Equal(p.JSON(shape), text) {
		t.Error("is not written as it was read")
	}
	for i, want := range c.Challenges[0] {
		ch := &p.Challenges[i]
		if ch.Old.LeafIndex() != want || ch.Data.LeafIndex() != want || ch.New.LeafIndex() != want {
			t.Errorf("challenge %d is not about node %d", i, want)
		}
	}
}
