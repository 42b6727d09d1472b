package vanilla_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
)

func porepCase(t testing.TB, name string) (*porep.Statement, []byte) {
	t.Helper()
	c := golden.Read(t, name)
	p, err := filecoin.ParseSealProof(c.RegisteredSeal)
	if err != nil {
		t.Fatal(err)
	}
	s := &porep.Statement{Prover: filecoin.Node(c.ProverID), Sector: c.SectorID, Ticket: filecoin.Node(c.Ticket), Seed: filecoin.Node(c.Seed),
		CommD: filecoin.Node(c.CommD), CommR: filecoin.Node(c.CommR)}
	if err := s.Register(p); err != nil {
		t.Fatal(err)
	}
	return s, golden.File(t, name+".c1.raw.bincode")
}

func postCase(t testing.TB, name string) (*post.Statement, [][]byte) {
	t.Helper()
	c := golden.Read(t, name)
	p, err := filecoin.ParsePoStProof(c.RegisteredPoSt)
	if err != nil {
		t.Fatal(err)
	}
	s := &post.Statement{Randomness: filecoin.Node(c.Randomness)}
	if err := s.Register(p); err != nil {
		t.Fatal(err)
	}
	var files [][]byte
	for _, sector := range c.Sectors {
		s.Sectors = append(s.Sectors, post.Sector{ID: sector.ID, CommR: filecoin.Node(sector.CommR)})
		files = append(files, golden.File(t, sector.Vanilla))
	}
	return s, files
}

func snapCase(t testing.TB) (*snap.Statement, []byte) {
	t.Helper()
	c := golden.Read(t, "snap")
	s := &snap.Statement{CommROld: filecoin.Node(c.CommROld), CommRNew: filecoin.Node(c.CommRNew), CommDNew: filecoin.Node(c.CommDNew)}
	if err := s.Register(0); err != nil {
		t.Fatal(err)
	}
	return s, golden.File(t, "snap.vanilla-p0.bincode")
}

func TestInputsOfTheReferencePassTheirCheck(t *testing.T) {
	for _, name := range []string{"porep-v1", "porep-v1_1", "porep-synthetic"} {
		s, data := porepCase(t, name)
		c, err := vanilla.ReadCommit1(t.Context(), name, data, vanilla.CommitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(t.Context(), name, s); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"window-v1-2sectors", "window-v1_2-3sectors", "winning"} {
		s, files := postCase(t, name)
		for i, data := range files {
			p, err := vanilla.ReadPoSt(name, data, s.Shape)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Check(name, s, i); err != nil {
				t.Error(err)
			}
		}
	}
	s, data := snapCase(t)
	p, err := vanilla.ReadSnap("snap", data, s.Shape)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check("snap", s, 0); err != nil {
		t.Error(err)
	}
}

// Every byte of an input counts: whichever is changed, reader or check refuses it and names a field.
func TestNoByteCanBeChanged(t *testing.T) {
	porepStatement, porepData := porepCase(t, "porep-v1_1")
	postStatement, postFiles := postCase(t, "window-v1_2-3sectors")
	snapStatement, snapData := snapCase(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		data []byte
		read func([]byte) error
	}{
		"porep": {porepData, func(b []byte) error {
			c, err := vanilla.ReadCommit1(t.Context(), "f", b, vanilla.CommitOptions{})
			if err != nil {
				return err
			}
			return c.Check(t.Context(), "f", porepStatement)
		}},
		"post": {postFiles[1], func(b []byte) error {
			p, err := vanilla.ReadPoSt("f", b, postStatement.Shape)
			if err != nil {
				return err
			}
			return p.Check("f", postStatement, 1)
		}},
		"snap": {snapData, func(b []byte) error {
			p, err := vanilla.ReadSnap("f", b, snapStatement.Shape)
			if err != nil {
				return err
			}
			return p.Check("f", snapStatement, 0)
		}},
	} {
		for range 150 {
			at := rng.IntN(len(c.data))
			changed := bytes.Clone(c.data)
			changed[at] ^= 1 << rng.IntN(8)
			err := c.read(changed)
			var e *failure.Error
			if !errors.As(err, &e) || e.Class != failure.Input || e.File != "f" || e.Section == "" {
				t.Errorf("%s, byte %d: %v", name, at, err)
			}
		}
	}
}

func TestChecksNameTheField(t *testing.T) {
	s, data := porepCase(t, "porep-v1_1")
	other := filecoin.Node{7}
	for want, change := range map[string]func(*vanilla.Commit1){
		"comm_d: is 07":     func(c *vanilla.Commit1) { c.CommD = other },
		"comm_r: is 07":     func(c *vanilla.Commit1) { c.CommR = other },
		"replica_id: is 07": func(c *vanilla.Commit1) { c.ReplicaID = other },
		"the input: it has 1 partition of 1 challenges":                                      func(c *vanilla.Commit1) { c.Shape.Challenges = 1 },
		"vanilla_proofs[0][1].comm_d_proofs: opens node":                                     func(c *vanilla.Commit1) { c.Partitions[0][1].Data.Path[0].Index ^= 1 },
		"vanilla_proofs[0][1].comm_d_proofs.root: is 07":                                     func(c *vanilla.Commit1) { c.Partitions[0][1].Data.Root = other },
		"vanilla_proofs[0][0].comm_r_last_proof: the path leads to":                          func(c *vanilla.Commit1) { c.Partitions[0][0].Replica.Path[1].Siblings[3] = other },
		"vanilla_proofs[0][0].replica_column_proofs.drg_parents[2].column.index: is 9":       func(c *vanilla.Commit1) { c.Partitions[0][0].DRGParents[2].Node = 9 },
		"vanilla_proofs[0][1].replica_column_proofs.exp_parents[7].inclusion_proof.leaf: is": func(c *vanilla.Commit1) { c.Partitions[0][1].ExpParents[7].Labels[1] = other },
		"vanilla_proofs[0][0].labeling_proofs[1].parents[36]: is 07":                         func(c *vanilla.Commit1) { c.Partitions[0][0].Labels[1].Parents[36] = other },
		"vanilla_proofs[0][0].encoding_proof.layer_index: is 1":                              func(c *vanilla.Commit1) { c.Partitions[0][0].Encoding.Layer = 1 },
		"vanilla_proofs[0][0].comm_d_proofs: the path leads to":                              func(c *vanilla.Commit1) { c.Partitions[0][0].Data.Leaf = other },
	} {
		c, err := vanilla.ReadCommit1(t.Context(), "f", data, vanilla.CommitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		change(c)
		err = c.Check(t.Context(), "f", s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A claim in a length field, however large, costs nothing.
func TestMalformedInputsAreNamed(t *testing.T) {
	_, raw := porepCase(t, "porep-v1_1")
	api := golden.File(t, "porep-v1_1.c1.api.bincode")
	text := string(golden.File(t, "porep-v1_1.c1.api.json"))
	outer := string(golden.File(t, "porep-v1_1.c1.commit2in.json"))
	set := func(data []byte, at int, bytes ...byte) []byte {
		out := append([]byte(nil), data...)
		copy(out[at:], bytes)
		return out
	}
	replace := func(s, old, with string) []byte {
		if !strings.Contains(s, old) {
			t.Fatalf("there is no %q to replace", old)
		}
		return []byte(strings.Replace(s, old, with, 1))
	}
	huge := []byte{0, 0, 0, 0, 0, 1, 0, 0}
	for want, data := range map[string][]byte{
		"the file is empty":        nil,
		"neither JSON nor bincode": []byte("hello"),
		"vanilla_proofs at offset 0: has 1099511627776 items, there must be 1":                              set(raw, 0, huge...),
		"vanilla_proofs[0] at offset 8: has 1099511627776 items, there must be 2":                           set(raw, 8, huge...),
		"neither JSON nor bincode with":                                                                     set(raw, 84, huge...),
		"path.path[0].hashes at offset 92: has 1099511627776 items, there must be 1":                        set(raw, 92, huge...),
		"path.path[0].index at offset 140: is 2, but there are only 2 nodes":                                set(raw, 132, 2),
		"comm_d_proofs.data.Single.leaf at offset 52: is not below":                                         set(raw, 52+31, 0xff),
		"the file ends: 32 bytes wanted and 31 left":                                                        raw[:len(raw)-1],
		"1 byte left behind its end":                                                                        append(append([]byte(nil), raw...), 0),
		"registered_proof at offset 0: StackedDrg2KiBV1_2_Feat_NonInteractivePoRep (15) is non-interactive": set(api, 0, 15),
		"registered_proof at offset 20: StackedDrg2KiBV1_2_Feat":                                            replace(text, `"StackedDrg2KiBV1_1"`, `"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"`),
		`"StackedDrg1KiBV1" is no registered proof`:                                                         replace(text, `"StackedDrg2KiBV1_1"`, `"StackedDrg1KiBV1"`),
		`vanilla_proofs at offset 78: is "StackedDrg8MiBV1", not "StackedDrg2KiBV1"`:                        replace(text, `{"StackedDrg2KiBV1":`, `{"StackedDrg8MiBV1":`),
		"comm_d at offset 100321: is missing":                                                               replace(text, `"comm_d":`, `"comm_e":`),
		"is no JSON":                                                                                        replace(text, `"_h":null`, `"_h":nil`),
		"a value is missing":                                                                                replace(text, `"_h":null`, `"_h":`),
		"comm_r at offset":                                                                                  replace(text, `"comm_d":[83,`, `"comm_r":[83,`),
		"byte 0 is no number from 0 to 255":                                                                 replace(text, `"ticket":[137,`, `"ticket":[256,`),
		"byte 0 is no number":                                                                               replace(text, `"ticket":[137,`, `"ticket":[-1,`),
		"has 31 bytes, there must be 32":                                                                    replace(text, `"ticket":[137,`, `"ticket":[`),
		"has more than 32 bytes":                                                                            replace(text, `"ticket":[137,`, `"ticket":[137,0,`),
		"comm_d_proofs.data at offset 112: is \"Sub\", not \"Single\"":                                      replace(text, `"Single"`, `"Sub"`),
		"hashes at offset 391: has 0 items, there must be 1":                                                replace(text, `"hashes":[[110,146,175,216,247,149,49,71,45,12,95,111,140,205,238,9,177,232,236,4,208,107,130,70,89,74,123,93,120,71,25,50]]`, `"hashes":[]`),
		"vanilla_proofs.StackedDrg2KiBV1[0][0].comm_d_proofs.data.Single.path.path[0].index":                replace(text, `"index":1}`, `"index":18446744073709551616}`),
		"node at offset":                             replace(text, `"layer_index":1,"node":11`, `"layer_index":1,"node":64`),
		"text follows its end":                       []byte(text + "{}"),
		"the file ends inside a value":               []byte(text[:len(text)/2]),
		"the file ends where":                        []byte(text[:len(text)-1]),
		"Phase1Out at offset":                        replace(outer, `"Phase1Out":"e`, `"Phase1Out":"*`),
		"StackedDrg2KiBV1_1, but SectorSize is 8MiB": replace(outer, `"SectorSize":2048`, `"SectorSize":8388608`),
		"SectorNum at offset":                        replace(outer, `"SectorNum":1`, `"SectorNum":-1`),
	} {
		_, err := vanilla.ReadCommit1(t.Context(), "f", data, vanilla.CommitOptions{})
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Input || e.File != "f" || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestPartitionsOfTheTestShape(t *testing.T) {
	_, raw := porepCase(t, "porep-v1_1")
	shape := filecoin.PoRepTestShape
	if _, err := vanilla.ReadCommit1(t.Context(), "f", raw, vanilla.CommitOptions{Shape: &shape}); err == nil || !strings.Contains(err.Error(), "has 1 items, there must be 2") {
		t.Errorf("one partition of two: %v", err)
	}
	shape.Sector = filecoin.Sector8MiB
	if _, err := vanilla.ReadCommit1(t.Context(), "f", raw, vanilla.CommitOptions{Shape: &shape}); err == nil || !strings.Contains(err.Error(), "for sectors of 2KiB, not of 8MiB") {
		t.Errorf("another size: %v", err)
	}
}

func TestListsInBase64(t *testing.T) {
	got, err := vanilla.Base64List("f", []byte(` ["AQI=", "" ] `), 2)
	if err != nil || fmt.Sprint(got) != "[[1 2] []]" {
		t.Errorf("got %v (%v)", got, err)
	}
	if got, err := vanilla.Base64List("f", []byte(`[]`), 2); err != nil || len(got) != 0 {
		t.Errorf("got %v (%v)", got, err)
	}
	for text, want := range map[string]string{
		`["AQI=","AQI=","AQI="]`: "[2] at offset 15: is one more than the 2", `["A"]`: "[0] at offset 4: is no base64", `[1]`: "no string of base64",
		`["AQI=" "AQI="]`: "no end of the list", `["AQI="`: "the file ends", ``: "the file ends where list is wanted", `["AQI="]x`: "text follows",
	} {
		if _, err := vanilla.Base64List("f", []byte(text), 2); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", text, err, want)
		}
	}
}

// Vanilla proofs of a PoSt and of an update: truncated, of wrong lengths, with indexes out of range, with a claim of 10 Gi.
func TestMalformedVanillaProofsAreNamed(t *testing.T) {
	_, posts := postCase(t, "window-v1_2-3sectors")
	window := filecoin.WindowPoStShape(filecoin.Sector2KiB)
	_, update := snapCase(t)
	shape := filecoin.SnapShapeOf(filecoin.Sector2KiB, false)
	readPoSt := func(data []byte) error { _, err := vanilla.ReadPoSt("f", data, window); return err }
	readSnap := func(data []byte) error { _, err := vanilla.ReadSnap("f", data, shape); return err }
	set := func(data []byte, at int, with ...byte) []byte {
		out := bytes.Clone(data)
		copy(out[at:], with)
		return out
	}
	huge := []byte{0, 0, 0, 0x80, 2, 0, 0, 0} // 10 Gi
	const firstProof = 8 + 32 + 8 + 8         // of a PoSt: behind sector, comm_r and two lengths
	const firstPath = 32 + 8 + 8*32 + 8       // of an update: behind comm_c, the apex and the number of challenges
	for _, c := range []struct {
		want string
		read func([]byte) error
		data []byte
	}{
		{"the file is empty", readPoSt, nil},
		{"the file ends", readPoSt, posts[0][:len(posts[0])-1]},
		{"sector_id at offset 0: the file ends: 8 bytes wanted and 7 left", readPoSt, posts[0][:7]},
		{"1 byte left behind its end", readPoSt, append(bytes.Clone(posts[0]), 0)},
		{"vanilla_proof.sectors at offset 40: has 10737418240 items, there must be 1", readPoSt, set(posts[0], 40, huge...)},
		{"vanilla_proof.sectors[0].inclusion_proofs at offset 48: has 10737418240 items, there must be 10", readPoSt, set(posts[0], 48, huge...)},
		{"vanilla_proof.sectors[0].inclusion_proofs[0].data at offset 56: is variant 2, not 0 (Single)", readPoSt, set(posts[0], firstProof, 2)},
		{"inclusion_proofs[0].data.Single.path.path at offset 124: has 10737418240 items, there must be 2", readPoSt, set(posts[0], firstProof+4+64, huge...)},
		{"inclusion_proofs[0].data.Single.path.path[0].index at offset 372: is 8, but there are only 8 nodes", readPoSt, set(posts[0], firstProof+4+64+8+8+7*32, 8)},
		{"the file is empty", readSnap, nil},
		{"comm_c at offset 0: the file ends: 32 bytes wanted and 31 left", readSnap, update[:31]},
		{"the file ends", readSnap, update[:len(update)-1]},
		{"1 byte left behind its end", readSnap, append(bytes.Clone(update), 0)},
		{"apex_leafs at offset 32: has 10737418240 items, there must be 8", readSnap, set(update, 32, huge...)},
		{"challenge_proofs at offset 296: has 10737418240 items, there must be 10", readSnap, set(update, 296, huge...)},
		{"challenge_proofs[0].proof_r_old.data at offset 304: is variant 1, not 0 (Single)", readSnap, set(update, firstPath, 1)},
		{"challenge_proofs[0].proof_r_old.data.Single.path.path[0].index at offset 620: is 9, but there are only 8 nodes", readSnap, set(update, firstPath+4+64+8+8+7*32, 9)},
	} {
		var e *failure.Error
		if err := c.read(c.data); !errors.As(err, &e) || e.Class != failure.Input || e.File != "f" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// A path that does not lead to its root is found, in every kind of proof.
func TestInconsistentPathsAreNamed(t *testing.T) {
	s, files := postCase(t, "window-v1_2-3sectors")
	p, err := vanilla.ReadPoSt("f", files[0], s.Shape)
	if err != nil {
		t.Fatal(err)
	}
	p.Leaves[3].Path[1].Siblings[6][0] ^= 1
	if err := p.Check("f", s, 0); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), "inclusion_proofs[3]: the path leads to") {
		t.Errorf("a PoSt: %v", err)
	}
	update, data := snapCase(t)
	for want, change := range map[string]func(*vanilla.Snap){
		"challenge_proofs[2].proof_r_old: the path leads to": func(v *vanilla.Snap) { v.Challenges[2].Old.Path[0].Siblings[0][0] ^= 1 },
		"challenge_proofs[9].proof_d_new: the path leads to": func(v *vanilla.Snap) { v.Challenges[9].Data.Path[4].Siblings[0][0] ^= 1 },
		"challenge_proofs[0].proof_r_new: the path leads to": func(v *vanilla.Snap) { v.Challenges[0].New.Path[1].Siblings[2][0] ^= 1 },
	} {
		v, err := vanilla.ReadSnap("f", data, update.Shape)
		if err != nil {
			t.Fatal(err)
		}
		change(v)
		if err := v.Check("f", update, 0); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
