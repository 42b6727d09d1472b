package snap_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
)

func node(t testing.TB, hex string) filecoin.Node {
	t.Helper()
	n, err := filecoin.ParseNode(hex)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The reference's own vectors; comm_r_new is a random element.
func TestChallengesOfThePublishedVectors(t *testing.T) {
	commR := node(t, "101cbe4b9c42604f04c703c396f788c6cb2d6d7d58f45430b12eb2edd640076c")
	for _, c := range []struct {
		log2, partition int
		want            []uint64
	}{
		{5, 0, []uint64{21, 7, 3, 31, 0}},
		{6, 0, []uint64{53, 51, 56, 3, 0}},
		{9, 1, []uint64{286, 308, 493, 510, 508}},
		{24, 15, []uint64{16388544, 15794686, 16637142, 16319148, 16328348}},
		{30, 0, []uint64{1019125, 27985696, 15282860, 11586600, 44651330}},
		{30, 15, []uint64{1038629497, 1053983614, 1030421316, 1027373887, 1068685433}},
		{31, 15, []uint64{2045262457, 2036941247, 2136653521, 2091356007, 2147167623}},
	} {
		s := snap.Statement{Shape: filecoin.SnapShapeOf(filecoin.SectorSize(32)<<c.log2, false), CommRNew: commR}
		got, err := s.Challenges(c.partition)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != s.Shape.Challenges {
			t.Errorf("2^%d nodes: %d challenges, want %d", c.log2, len(got), s.Shape.Challenges)
		}
		if diff := cmp.Diff(c.want, got[:5]); diff != "" {
			t.Errorf("2^%d nodes, partition %d (-want +got):\n%s", c.log2, c.partition, diff)
		}
	}
}

func TestStatementOfTheReference(t *testing.T) {
	c := golden.Read(t, "snap")
	s := snap.Statement{CommROld: filecoin.Node(c.CommROld), CommRNew: filecoin.Node(c.CommRNew), CommDNew: filecoin.Node(c.CommDNew)}
	if err := s.Register(0); err != nil {
		t.Fatal(err)
	}
	challenges, err := s.Challenges(0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Challenges[0], challenges); diff != "" {
		t.Errorf("challenges (-want +got):\n%s", diff)
	}
	inputs, err := s.PublicInputs(0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Inputs(0), inputs); diff != "" {
		t.Errorf("public inputs (-want +got):\n%s", diff)
	}
}

// The replica that the reference wrote when it updated a sector.
func TestEncodingOfTheReference(t *testing.T) {
	c := golden.Read(t, "snap")
	s := snap.Statement{Shape: filecoin.SnapShapeOf(filecoin.Sector2KiB, false), CommROld: filecoin.Node(c.CommROld),
		CommRNew: filecoin.Node(c.CommRNew), CommDNew: filecoin.Node(c.CommDNew)}
	e, err := s.Encoding()
	if err != nil {
		t.Fatal(err)
	}
	old, data, replica := golden.File(t, "snap.files/sector-key.bin"), golden.File(t, "snap.files/new-staged.bin"), golden.File(t, "snap.files/new-replica.bin")
	for i := range s.Shape.Sector.Nodes() {
		x, _ := filecoin.Node(data[32*i:]).Element()
		y, _ := filecoin.Node(old[32*i:]).Element()
		rho := e.Rho(e.Block(i))
		x.Mul(&x, &rho).Add(&x, &y)
		if got, want := filecoin.NodeOf(x), filecoin.Node(replica[32*i:]); got != want {
			t.Fatalf("node %d: %s, want %s", i, got, want)
		}
	}
}

func TestStatementsAreRefused(t *testing.T) {
	good := snap.Statement{CommROld: filecoin.Node{1}, CommRNew: filecoin.Node{2}, CommDNew: filecoin.Node{3}}
	if err := good.Register(1); err != nil {
		t.Fatal(err)
	}
	if _, err := good.PublicInputs(3); err != nil {
		t.Fatal(err)
	}
	ones := filecoin.Node(bytes.Repeat([]byte{0xff}, filecoin.NodeBytes))
	for name, change := range map[string]func(*snap.Statement){
		"zero old": func(s *snap.Statement) { s.CommROld = filecoin.Node{} }, "zero new": func(s *snap.Statement) { s.CommRNew = filecoin.Node{} },
		"zero data": func(s *snap.Statement) { s.CommDNew = filecoin.Node{} }, "large data": func(s *snap.Statement) { s.CommDNew = ones },
	} {
		bad := good
		change(&bad)
		if _, err := bad.PublicInputs(0); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, k := range []int{-1, 4} {
		_, inputs := good.PublicInputs(k)
		_, challenges := good.Challenges(k)
		if inputs == nil || challenges == nil {
			t.Errorf("partition %d of 4 is accepted", k)
		}
	}
	if err := good.Register(5); err == nil {
		t.Error("there is a registered update proof 5")
	}
}
