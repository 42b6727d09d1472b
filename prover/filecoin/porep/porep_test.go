package porep_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
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

func repeated(b byte) filecoin.Node {
	return filecoin.Node(bytes.Repeat([]byte{b}, filecoin.NodeBytes))
}

func TestParentsOf32GiB(t *testing.T) {
	g := porep.NewGraph(filecoin.Sector32GiB, filecoin.Node{8}, filecoin.V1_1)
	old := porep.NewGraph(filecoin.Sector32GiB, filecoin.Node{3}, filecoin.V1_0)
	for _, c := range []struct {
		graph    *porep.Graph
		node     uint64
		drg      [6]uint64
		expander [8]uint64
	}{
		{g, 1, [6]uint64{}, [8]uint64{702693034, 366772265, 26763858, 547315823, 59704098, 413126652, 762902885, 978177250}},
		{g, 3, [6]uint64{2, 2, 2, 2, 1, 2}, [8]uint64{881691878, 227401911, 1005318917, 53423186, 1052586668, 501278749, 458668482, 587358438}},
		{g, 1000, [6]uint64{999, 999, 993, 999, 987, 994}, [8]uint64{610880257, 52958456, 114467229, 442886740, 935021104, 986163808, 486080124, 611062435}},
		{g, 123456789, [6]uint64{123456788, 123452130, 57600536, 121375910, 81802541, 123454429}, [8]uint64{756970061, 978149514, 435142043, 446129461, 759011230, 69080554, 55615519, 90896364}},
		{g, 1073741823, [6]uint64{1073741822, 1073258530, 440642413, 663190843, 1073741654, 1073741786}, [8]uint64{307718517, 715446084, 558280128, 265147410, 110937796, 626719228, 201839602, 653041812}},
		{old, 1000, [6]uint64{992, 999, 685, 999, 851, 999}, [8]uint64{56765109, 142792959, 55421737, 123123914, 7049045, 479267348, 532767812, 301615063}},
	} {
		if diff := cmp.Diff(c.drg, c.graph.DRGParents(c.node)); diff != "" {
			t.Errorf("node %d, own layer (-want +got):\n%s", c.node, diff)
		}
		if diff := cmp.Diff(c.expander, c.graph.ExpanderParents(c.node)); diff != "" {
			t.Errorf("node %d, layer before (-want +got):\n%s", c.node, diff)
		}
	}
}

// labels computes all labels of a small sector, layer by layer.
func labels(g *porep.Graph, replica filecoin.Node, nodes uint64, layers int) [][]filecoin.Node {
	var all [][]filecoin.Node
	for layer := range layers {
		current := make([]filecoin.Node, nodes)
		for v := range nodes {
			var parents []filecoin.Node
			if v > 0 {
				for _, p := range g.DRGParents(v) {
					parents = append(parents, current[p])
				}
				if layer > 0 {
					for _, p := range g.ExpanderParents(v) {
						parents = append(parents, all[layer-1][p])
					}
				}
			}
			current[v] = porep.Label(replica, uint32(layer+1), v, parents)
		}
		all = append(all, current)
	}
	return all
}

// The reference's own test of labels: the last label of eleven layers.
func TestLabelsOfThePublishedVectors(t *testing.T) {
	for _, c := range []struct {
		nodes   uint64
		porepID filecoin.Node
		version filecoin.APIVersion
		want    string
	}{
		{64, filecoin.Node{}, filecoin.V1_0, "04ba0f9a6ba9fad35e4806d183a281eab3c25afa9a1bd5e3378da6f1f4f46204"},
		{128, filecoin.Node{}, filecoin.V1_0, "86daa8c4521e197e48c1fae6c9a1e85ab894a8883b9f23cebe531ddcd1004c23"},
		{64, repeated(123), filecoin.V1_1, "cfef0db78bf3b3ab9f1169774d2e7a77bc9054499d954834b51ca7c788110206"},
		{64, repeated(123), filecoin.V1_2, "cfef0db78bf3b3ab9f1169774d2e7a77bc9054499d954834b51ca7c788110206"},
		{128, repeated(123), filecoin.V1_1, "6d67c468cf81ab2289c1c9c72fa8777a232de4c1323dc0c6bd552ccc187c770f"},
	} {
		g := porep.NewGraph(filecoin.SectorSize(32*c.nodes), c.porepID, c.version)
		last := labels(g, repeated(9), c.nodes, 11)[10]
		if got := last[c.nodes-1].String(); got != c.want {
			t.Errorf("%d nodes, version %s: %s, want %s", c.nodes, c.version, got, c.want)
		}
	}
}

// The labels that the reference wrote to disk when it sealed a sector.
func TestLabelsOfASealedSector(t *testing.T) {
	c := golden.Read(t, "porep-v1_1")
	g := porep.NewGraph(filecoin.Sector2KiB, filecoin.Node(c.PoRepID), filecoin.V1_1)
	for layer, got := range labels(g, filecoin.Node(c.ReplicaID), 64, 2) {
		want := fixture.Read(t, "filecoin", "sectors", "sector-1", "cache", []string{"sc-02-data-layer-1.dat", "sc-02-data-layer-2.dat"}[layer])
		for v := range got {
			if !bytes.Equal(want[32*v:32*(v+1)], got[v][:]) {
				t.Fatalf("layer %d, node %d: %s, want %x", layer+1, v, got[v], want[32*v:32*(v+1)])
			}
		}
	}
}

func statement(t testing.TB, c *golden.Case) *porep.Statement {
	t.Helper()
	p, err := filecoin.ParseSealProof(c.RegisteredSeal)
	if err != nil {
		t.Fatal(err)
	}
	s := &porep.Statement{Prover: filecoin.Node(c.ProverID), Sector: c.SectorID, Ticket: filecoin.Node(c.Ticket), Seed: filecoin.Node(c.Seed),
		CommD: filecoin.Node(c.CommD), CommR: filecoin.Node(c.CommR)}
	if err := s.Register(p); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStatementsOfTheReference(t *testing.T) {
	for _, name := range []string{"porep-v1", "porep-v1_1", "porep-synthetic"} {
		c := golden.Read(t, name)
		s := statement(t, c)
		if got := s.ReplicaID(); got != filecoin.Node(c.ReplicaID) {
			t.Errorf("%s: replica id %s, want %x", name, got, c.ReplicaID)
		}
		if s.PoRepID != filecoin.Node(c.PoRepID) {
			t.Errorf("%s: PoRep id %s, want %x", name, s.PoRepID, c.PoRepID)
		}
		challenges, err := s.Challenges(0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Challenges[0], challenges); diff != "" {
			t.Errorf("%s, challenges (-want +got):\n%s", name, diff)
		}
		inputs, err := s.PublicInputs(0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Inputs(0), inputs); diff != "" {
			t.Errorf("%s, public inputs (-want +got):\n%s", name, diff)
		}
	}
}

func TestStatementsAreRefused(t *testing.T) {
	good := porep.Statement{CommD: filecoin.Node{1}, CommR: filecoin.Node{2}}
	if err := good.Register(filecoin.SealProof(5)); err != nil {
		t.Fatal(err)
	}
	if _, err := good.PublicInputs(0); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*porep.Statement){
		"zero comm_d": func(s *porep.Statement) { s.CommD = filecoin.Node{} }, "zero comm_r": func(s *porep.Statement) { s.CommR = filecoin.Node{} },
		"large comm_r": func(s *porep.Statement) { s.CommR = repeated(0xff) }, "large comm_d": func(s *porep.Statement) { s.CommD = repeated(0x74) },
		"no size": func(s *porep.Statement) { s.Shape.Sector = 0 },
	} {
		bad := good
		change(&bad)
		if _, err := bad.PublicInputs(0); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, partition := range []int{-1, 1} {
		if _, err := good.PublicInputs(partition); err == nil {
			t.Errorf("partition %d of 1 is accepted", partition)
		}
	}
	if err := good.Register(15); err == nil {
		t.Error("a non-interactive proof is accepted")
	}
}

// Ticket, seed and porep id of the fabricated sector of 32 GiB, whose challenges an independent program drew.
func TestChallengesOf32GiB(t *testing.T) {
	s := porep.Statement{Prover: repeated(9), Sector: 7, Ticket: repeated(1), Seed: repeated(2),
		CommD: node(t, "077e5fde35c50a9303a55009e3498a4ebedff39c42b710b730d8ec7ac7afa63e")}
	if err := s.Register(8); err != nil {
		t.Fatal(err)
	}
	if got, want := s.ReplicaID().String(), "dbe244e3dcc7486688e097663fd4a541b34b3ddea8b1a555e66d246d28488721"; got != want {
		t.Errorf("replica id %s, want %s", got, want)
	}
	got, err := s.Challenges(0)
	if err != nil {
		t.Fatal(err)
	}
	want := []uint64{663287871, 20283649, 798563210, 693564370, 995840921, 919684762, 993804660, 373902722, 913003895, 1008016512,
		1023273465, 930722732, 1030048510, 516933083, 790662689, 753335771, 684958776, 573372931}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
