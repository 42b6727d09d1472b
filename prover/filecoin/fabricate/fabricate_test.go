package fabricate_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

func repeated(b byte) filecoin.Node {
	return filecoin.Node(bytes.Repeat([]byte{b}, filecoin.NodeBytes))
}

// fabricated makes, writes, reads again and checks the input of a proof of replication.
func fabricated(t *testing.T, s *porep.Statement) *vanilla.Commit1 {
	t.Helper()
	c, err := fabricate.PoRep(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	shape := s.Shape
	again, err := vanilla.ReadCommit1(t.Context(), "f", c.Format(vanilla.RawBincode), vanilla.CommitOptions{Shape: &shape})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Check(t.Context(), "f", s); err != nil {
		t.Errorf("%s: %v", s.Shape.Sector, err)
	}
	return c
}

func TestPoRepOfAllSmallShapes(t *testing.T) {
	for size := filecoin.SectorSize(2 << 10); size <= 32<<10; size *= 2 {
		for _, version := range []filecoin.APIVersion{filecoin.V1_0, filecoin.V1_1} {
			fabricated(t, &porep.Statement{Shape: filecoin.PoRepShapeOf(size), Version: version, PoRepID: filecoin.Node{5}, Sector: 3, Ticket: fabricate.Mark, Seed: repeated(4)})
		}
	}
	fabricated(t, &porep.Statement{Shape: filecoin.PoRepTestShape, Version: filecoin.V1_1, Ticket: fabricate.Mark, Seed: repeated(1)})
}

// A partition of 32 GiB, with the commitments that an independent program computed for the same choices.
func TestPoRepOf32GiB(t *testing.T) {
	s := &porep.Statement{Prover: repeated(9), Sector: 7, Ticket: repeated(1), Seed: repeated(2)}
	if err := s.Register(8); err != nil {
		t.Fatal(err)
	}
	c := fabricated(t, s)
	first := &c.Partitions[0][0]
	for _, f := range []struct{ name, got, want string }{
		{"comm_c", first.Column.Proof.Root.String(), "9faa00e96817839319111c4cf631c9a848c3631a1994c6f171ada2bf32cc070e"},
		{"comm_r_last", first.Replica.Root.String(), "ac2bf80b3e74fe4436fcb184a56356530f0e47cbfa453e491b6f17bfc265d71d"},
		{"comm_r", c.CommR.String(), "92a476c416ffbff380c8bd79f306dbba3ea8653b01646ab29cac5d2b37235f6f"},
		{"comm_d", c.CommD.String(), "077e5fde35c50a9303a55009e3498a4ebedff39c42b710b730d8ec7ac7afa63e"},
	} {
		if f.got != f.want {
			t.Errorf("%s is %s, want %s", f.name, f.got, f.want)
		}
	}
}

// Commitments to sectors of zeros, as the network knows them.
func TestCommDOfZeros(t *testing.T) {
	for size, want := range map[filecoin.SectorSize]string{
		filecoin.Sector2KiB: "fc7e928296e516faade986b28f92d44a4f24b935485223376a799027bc18f833",
		filecoin.Sector8MiB: "65f29e5d98d246c38b388cfc06db1f6b021303c5a289000bdce832a9c3ec421c",
	} {
		s := &porep.Statement{Shape: filecoin.PoRepShapeOf(size)}
		if c := fabricated(t, s); c.CommD.String() != want {
			t.Errorf("%s: comm_d %s, want %s", size, c.CommD, want)
		}
	}
}

func TestOnlyInteractiveProofsAreFabricated(t *testing.T) {
	s := &porep.Statement{}
	if err := s.Register(10); err != nil {
		t.Fatal(err)
	}
	if _, err := fabricate.PoRep(t.Context(), s); err == nil {
		t.Error("a synthetic proof was fabricated")
	}
}

func TestPoStOfAllShapes(t *testing.T) {
	for _, p := range []filecoin.PoStProof{0, 5, 10, 1, 8, 13, 3, 4, 14} {
		s := &post.Statement{Randomness: repeated(3)}
		if err := s.Register(p); err != nil {
			t.Fatal(err)
		}
		s.Sectors = []post.Sector{{ID: 9}, {ID: 2}, {ID: 5}}
		if p.Winning() {
			s.Sectors = s.Sectors[:1]
		}
		proofs, err := fabricate.PoSt(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for i, proof := range proofs {
			again, err := vanilla.ReadPoSt("f", proof.Bincode(s.Shape), s.Shape)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Check("f", s, i); err != nil {
				t.Errorf("%s: %v", p, err)
			}
		}
		if p == 13 {
			if n := len(proofs[0].Bincode(s.Shape)); n != 24960 { // as real ones have
				t.Errorf("a vanilla proof of 32 GiB has %d bytes, want 24960", n)
			}
		}
	}
}

func TestSnapOfAllShapes(t *testing.T) {
	sizes := []filecoin.SectorSize{1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 8 << 20}
	for _, size := range sizes {
		for _, poseidon := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/poseidon=%t", size, poseidon), func(t *testing.T) {
				s := &snap.Statement{Shape: filecoin.SnapShapeOf(size, poseidon)}
				proofs, err := fabricate.Snap(s)
				if err != nil {
					t.Fatal(err)
				}
				for k, proof := range proofs {
					again, err := vanilla.ReadSnap("f", proof.Bincode(s.Shape), s.Shape)
					if err != nil {
						t.Fatal(err)
					}
					if err := again.Check("f", s, k); err != nil {
						t.Errorf("partition %d: %v", k, err)
					}
				}
			})
		}
	}
}

// Trees of a production size; one partition is checked, all hold the same values.
func TestSnapOf32GiB(t *testing.T) {
	s := &snap.Statement{Shape: filecoin.SnapShapeOf(filecoin.Sector32GiB, false)}
	proofs, err := fabricate.Snap(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(proofs) != 16 {
		t.Fatalf("%d partitions, want 16", len(proofs))
	}
	if err := proofs[15].Check("f", s, 15); err != nil {
		t.Error(err)
	}
}
