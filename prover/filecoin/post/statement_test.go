package post_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
)

func statement(t testing.TB, c *golden.Case) *post.Statement {
	t.Helper()
	p, err := filecoin.ParsePoStProof(c.RegisteredPoSt)
	if err != nil {
		t.Fatal(err)
	}
	s := &post.Statement{Randomness: filecoin.Node(c.Randomness)}
	if err := s.Register(p); err != nil {
		t.Fatal(err)
	}
	for _, sector := range c.Sectors {
		s.Sectors = append(s.Sectors, post.Sector{ID: sector.ID, CommR: filecoin.Node(sector.CommR)})
	}
	slices.Reverse(s.Sectors)
	s.Sort()
	return s
}

func TestStatementsOfTheReference(t *testing.T) {
	for _, name := range []string{"window-v1-2sectors", "window-v1_2-3sectors", "winning"} {
		c := golden.Read(t, name)
		s := statement(t, c)
		if s.Partitions() != c.Partitions || s.Shape.Slots != c.Slots {
			t.Fatalf("%s: %d partitions of %d slots, want %d of %d", name, s.Partitions(), s.Shape.Slots, c.Partitions, c.Slots)
		}
		for k := range c.Partitions {
			inputs, err := s.PublicInputs(k)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Inputs(k), inputs); diff != "" {
				t.Errorf("%s, partition %d (-want +got):\n%s", name, k, diff)
			}
			slots, err := s.Slots(k)
			if err != nil {
				t.Fatal(err)
			}
			for i, slot := range slots {
				want := c.Sectors[slot.Position].Challenges
				if s.Winning {
					want = want[i : i+1]
				}
				if diff := cmp.Diff(want, slot.Challenges); diff != "" {
					t.Errorf("%s, partition %d, slot %d (-want +got):\n%s", name, k, i, diff)
				}
			}
		}
		if len(c.WinningSector) > 0 {
			if got := post.WinningSector(filecoin.Node(c.ProverID), s.Randomness, 0, 1000); got != c.WinningSector[0] {
				t.Errorf("%s: sector %d of 1000 is chosen, want %d", name, got, c.WinningSector[0])
			}
		}
	}
}

// A vanilla proof of a real sector of 32 GiB, from Curio's test data, is about these leaves.
func TestChallengesOfARealSector(t *testing.T) {
	want := []uint64{707914199, 439148358, 967788220, 548708700, 1061661429, 6202012, 1055504637, 389535735, 1000069704, 600088878}
	var got []uint64
	for i := range want {
		got = append(got, post.Challenge(filecoin.Node{}, 1, uint64(i), filecoin.Sector32GiB.Nodes()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStatementsAreRefused(t *testing.T) {
	good := post.Statement{Sectors: []post.Sector{{1, filecoin.Node{1}}, {3, filecoin.Node{1}}}}
	if err := good.Register(5); err != nil {
		t.Fatal(err)
	}
	if _, err := good.PublicInputs(0); err != nil {
		t.Fatal(err)
	}
	ones := filecoin.Node(bytes.Repeat([]byte{0xff}, filecoin.NodeBytes))
	for name, change := range map[string]func(*post.Statement){
		"large randomness": func(s *post.Statement) { s.Randomness = ones },
		"no sectors":       func(s *post.Statement) { s.Sectors = nil },
		"two to win":       func(s *post.Statement) { s.Winning = true },
		"twice the same":   func(s *post.Statement) { s.Sectors = append(slices.Clone(s.Sectors), s.Sectors[1]) },
		"descending":       func(s *post.Statement) { s.Sectors = append(slices.Clone(s.Sectors), s.Sectors[0]) },
		"zero comm_r":      func(s *post.Statement) { s.Sectors = []post.Sector{{ID: 1}} },
		"large comm_r":     func(s *post.Statement) { s.Sectors = []post.Sector{{1, ones}} },
	} {
		bad := good
		change(&bad)
		if _, err := bad.PublicInputs(0); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, k := range []int{-1, 1} {
		if _, err := good.PublicInputs(k); err == nil {
			t.Errorf("partition %d of 1 is accepted", k)
		}
	}
	if err := good.Register(15); err == nil {
		t.Error("there is a registered PoSt proof 15")
	}
}

func TestListsOfSectors(t *testing.T) {
	const commR = "bc3cb6410bf257ce18c9801c3a19576b4a187c51f396edd4f48fcf002edffd61"
	n, err := filecoin.ParseNode(commR)
	if err != nil {
		t.Fatal(err)
	}
	want := []post.Sector{{7, n}, {8, n}}
	cid := filecoin.Sealed.CID(n)
	got, err := post.ParseSectors("f", []byte(`[{"sector_number":7,"comm_r":"`+commR+`"},{"SealProof":8,"SectorNumber":8,"SealedCID":{"/":"`+cid+`"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text, err := post.FormatSectors(want)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := post.ParseSectors("f", text); err != nil || cmp.Diff(want, again) != "" {
		t.Errorf("written and read: %v (%v)", again, err)
	}
	for _, text := range []string{``, `{}`, `[1]`, `[{}]`, `[{"sector_number":1}]`, `[{"comm_r":"` + commR + `"}]`, `[{"sector_number":-1,"comm_r":"` + commR + `"}]`} {
		if _, err := post.ParseSectors("f", []byte(text)); failure.ClassOf(err) != failure.Input {
			t.Errorf("%s gives %v", text, err)
		}
	}
}

// What is read is written and read again to the same.
func FuzzParseSectors(f *testing.F) {
	const commR = "bc3cb6410bf257ce18c9801c3a19576b4a187c51f396edd4f48fcf002edffd61"
	n, err := filecoin.ParseNode(commR)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		``, `[]`, `[{"sector_number":7,"comm_r":"` + commR + `"}]`, `[{"SectorNumber":8,"SealedCID":{"/":"` + filecoin.Sealed.CID(n) + `"}}]`,
		`[{"sector_number":18446744073709551615,"comm_r":"` + filecoin.Unsealed.CID(n) + `"}]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sectors, err := post.ParseSectors("f", data)
		if err != nil {
			var e *failure.Error
			if !errors.As(err, &e) || e.Class != failure.Input || e.File != "f" {
				t.Fatalf("an error without class or file: %v", err)
			}
			return
		}
		text, err := post.FormatSectors(sectors)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := post.ParseSectors("f", text); err != nil || len(sectors) > 0 && cmp.Diff(sectors, again) != "" {
			t.Fatalf("written and read: %v (%v), want %v", again, err, sectors)
		}
	})
}
