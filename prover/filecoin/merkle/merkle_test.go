package merkle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
)

func TestDataNodesOfTheReference(t *testing.T) {
	var file struct {
		Nodes []struct {
			Left  golden.Node `json:"left"`
			Right golden.Node `json:"right"`
			Node  golden.Node `json:"node"`
		} `json:"sha256_tree_nodes"`
	}
	if err := json.Unmarshal(fixture.Read(t, "filecoin", "hash-vectors.json"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Nodes) == 0 {
		t.Fatal("there are no vectors")
	}
	for i, v := range file.Nodes {
		if got := merkle.SHA256.Hash([]filecoin.Node{filecoin.Node(v.Left), filecoin.Node(v.Right)}); got != filecoin.Node(v.Node) {
			t.Errorf("vector %d: %s, want %x", i, got, v.Node)
		}
	}
}

// nodes splits a file into nodes.
func nodes(data []byte) []filecoin.Node {
	var out []filecoin.Node
	for ; len(data) > 0; data = data[filecoin.NodeBytes:] {
		out = append(out, filecoin.Node(data[:filecoin.NodeBytes]))
	}
	return out
}

// grow computes all nodes of a tree, leaves first.
func grow(h merkle.Hasher, arities []int, leaves []filecoin.Node) []filecoin.Node {
	all, level := leaves, leaves
	for _, arity := range arities {
		var above []filecoin.Node
		for i := 0; i < len(level); i += arity {
			above = append(above, h.Hash(level[i:i+arity]))
		}
		all, level = append(all, above...), above
	}
	return all
}

// Trees and commitments of sealed sectors, from their data, labels and replicas.
func TestTreesOfSealedSectors(t *testing.T) {
	arities := filecoin.Sector2KiB.Tree().Arities(filecoin.Sector2KiB.Nodes())
	for n := 1; n <= 3; n++ {
		folder := fixture.Path(t, "filecoin", "sectors", fmt.Sprintf("sector-%d", n))
		file := func(name string) []filecoin.Node {
			t.Helper()
			return nodes(fixture.Read(t, "filecoin", "sectors", filepath.Base(folder), name))
		}
		var sector golden.Case
		if err := json.Unmarshal(fixture.Read(t, "filecoin", "sectors", filepath.Base(folder), "sector.json"), &sector); err != nil {
			t.Fatal(err)
		}
		data := grow(merkle.SHA256, filecoin.BinaryTree.Arities(filecoin.Sector2KiB.Nodes()), file("staged.bin"))
		if diff := cmp.Diff(file("cache/sc-02-data-tree-d.dat"), data); diff != "" {
			t.Errorf("sector %d, data (-want +got):\n%s", n, diff)
		}
		first, second := file("cache/sc-02-data-layer-1.dat"), file("cache/sc-02-data-layer-2.dat")
		columns := make([]filecoin.Node, len(first))
		for i := range columns {
			columns[i] = merkle.Poseidon.Hash([]filecoin.Node{first[i], second[i]})
		}
		columns = grow(merkle.Poseidon, arities, columns)
		if diff := cmp.Diff(file("cache/sc-02-data-tree-c.dat"), columns); diff != "" {
			t.Errorf("sector %d, columns (-want +got):\n%s", n, diff)
		}
		replica := grow(merkle.Poseidon, arities, file("sealed.bin"))
		root := func(tree []filecoin.Node) filecoin.Node { return tree[len(tree)-1] }
		got := []filecoin.Node{root(data), root(columns), root(replica), merkle.Poseidon.Hash([]filecoin.Node{root(columns), root(replica)})}
		want := []filecoin.Node{filecoin.Node(sector.CommD), filecoin.Node(sector.CommC), filecoin.Node(sector.CommRLast), filecoin.Node(sector.CommR)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sector %d, comm_d, comm_c, comm_r_last, comm_r (-want +got):\n%s", n, diff)
		}
	}
}

func TestPathsAreChecked(t *testing.T) {
	leaves := make([]filecoin.Node, 16)
	for i := range leaves {
		leaves[i] = filecoin.Node{byte(i + 1)}
	}
	// Two base trees of eight leaves, joined.
	tree := grow(merkle.Poseidon, []int{8, 2}, leaves)
	good := func() *merkle.Proof {
		siblings := append(append([]filecoin.Node(nil), leaves[8:11]...), leaves[12:]...)
		return &merkle.Proof{Root: tree[18], Leaf: leaves[11], Path: []merkle.Step{{Siblings: siblings, Index: 3}, {Siblings: tree[16:17], Index: 1}}}
	}
	if p := good(); p.Check(merkle.Poseidon) != nil || p.LeafIndex() != 11 {
		t.Errorf("leaf %d: %v", p.LeafIndex(), p.Check(merkle.Poseidon))
	}
	large := filecoin.Node{31: 0xff}
	for want, c := range map[string]struct {
		change         func(*merkle.Proof)
		level, sibling int
	}{
		"the path leads to":     {func(p *merkle.Proof) { p.Path[0].Index = 4 }, -1, -1},
		"leads to the root":     {func(p *merkle.Proof) { p.Root[0]++ }, -1, -1},
		"the leaf is not below": {func(p *merkle.Proof) { p.Leaf = large }, -1, -1},
		"index 2 among 2 nodes": {func(p *merkle.Proof) { p.Path[1].Index = 2 }, 1, -1},
		"the node is not below": {func(p *merkle.Proof) { p.Path[0].Siblings[5] = large }, 0, 5},
	} {
		p := good()
		c.change(p)
		err := p.Check(merkle.Poseidon)
		var at *merkle.PathError
		switch {
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("got %v, want %q", err, want)
		case errors.As(err, &at) != (c.level >= 0) || at != nil && (at.Level != c.level || at.Sibling != c.sibling):
			t.Errorf("%v is placed at %+v", err, at)
		}
	}
}
