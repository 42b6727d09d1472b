package synthesis

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/bits"
	"os"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/constraints"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/update"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

// long tells whether to run what takes minutes, as `make test-filecoin-long` does.
func long() bool { return os.Getenv("CUZK_TEST_LONG") != "" }

var recordings sync.Map // shape to func() *structure.Structure

// recorded is Record, once for each shape.
func recorded(shape filecoin.Shape) *structure.Structure {
	record, _ := recordings.LoadOrStore(shape, sync.OnceValue(func() *structure.Structure { return Record(shape) }))
	return record.(func() *structure.Structure)()
}

// skipLarge skips in short mode what has millions of constraints: the race detector makes it take minutes.
func skipLarge(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("millions of constraints")
	}
}

// facts are what the reference tells of a circuit.
type facts struct {
	Circuit     string `json:"circuit"`
	Inputs      int    `json:"num_inputs"`
	Aux         int    `json:"num_aux"`
	Constraints int    `json:"num_constraints"`
	A           int    `json:"nnz_a"`
	B           int    `json:"nnz_b"`
	C           int    `json:"nnz_c"`
	InA         int    `json:"pop_a_aux"`
	InB         int    `json:"pop_b_aux"`
	DensityA    string `json:"a_aux_density_sha256,omitempty"`
	DensityB    string `json:"b_aux_density_sha256,omitempty"`
	Digest      string `json:"digest,omitempty"`
}

// circuit records the circuit of a line of the reference's file.
type circuit struct {
	long   bool // whether its digest takes long
	record func() *structure.Structure
}

func registered(kind filecoin.Circuit, size filecoin.SectorSize) circuit {
	return circuit{kind == filecoin.PoRep && size == 32*gib, func() *structure.Structure { return recorded(kind.Shape(size)) }}
}

// poRepTest is a circuit of the reference's tests: two layers, one challenge.
func poRepTest(data int, replica ...int) circuit {
	shape := porep.Shape{Layers: 2, Challenges: 1, Data: filecoin.BinaryTree.Arities(1 << data), Replica: replica}
	return circuit{false, func() *structure.Structure { return recordPoRep(shape) }}
}

func poSt(slots, challenges int, tree ...int) circuit {
	shape := post.Shape{Slots: slots, Challenges: challenges, Tree: tree}
	return circuit{false, func() *structure.Structure { return recordPoSt(shape) }}
}

const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30

var circuits = map[string]circuit{
	"post_test_8-0-0_64leaves_3x5":      poSt(3, 5, 8, 8),
	"post_tiny_2KiB_1sector_1challenge": poSt(1, 1, 8, 8),
	"window_32GiB_one_sector":           poSt(1, 10, filecoin.SectorSize(32*gib).Tree().Arities(1<<30)...),
	"window_64GiB_one_sector":           poSt(1, 10, filecoin.SectorSize(64*gib).Tree().Arities(1<<31)...),
	"porep_test_8-0-0_8nodes":           poRepTest(3, 8),
	"porep_test_8-4-0_32nodes":          poRepTest(5, 8, 4),
	"porep_test_8-4-2_64nodes":          poRepTest(6, 8, 4, 2),
	"porep_2KiB":                        registered(filecoin.PoRep, 2*kib),
	"porep_4KiB":                        registered(filecoin.PoRep, 4*kib),
	"porep_16KiB":                       registered(filecoin.PoRep, 16*kib),
	"porep_32KiB":                       registered(filecoin.PoRep, 32*kib),
	"porep_8MiB":                        registered(filecoin.PoRep, 8*mib),
	"porep_512MiB":                      registered(filecoin.PoRep, 512*mib),
	"porep_32GiB":                       registered(filecoin.PoRep, 32*gib),
	"window_2KiB":                       registered(filecoin.WindowPoSt, 2*kib),
	"window_8MiB":                       registered(filecoin.WindowPoSt, 8*mib),
	"window_512MiB":                     registered(filecoin.WindowPoSt, 512*mib),
	"window_32GiB":                      registered(filecoin.WindowPoSt, 32*gib),
	"winning_2KiB":                      registered(filecoin.WinningPoSt, 2*kib),
	"winning_8MiB":                      registered(filecoin.WinningPoSt, 8*mib),
	"winning_512MiB":                    registered(filecoin.WinningPoSt, 512*mib),
	"winning_32GiB":                     registered(filecoin.WinningPoSt, 32*gib),
	"winning_64GiB":                     registered(filecoin.WinningPoSt, 64*gib),
	"snap_2KiB":                         registered(filecoin.SnapDeals, 2*kib),
	"snap_8MiB":                         registered(filecoin.SnapDeals, 8*mib),
	"snap_32GiB":                        registered(filecoin.SnapDeals, 32*gib),
	"snap_poseidon_2KiB":                registered(filecoin.SnapDealsPoseidon, 2*kib),
	"snap_poseidon_8KiB":                registered(filecoin.SnapDealsPoseidon, 8*kib),
	"snap_poseidon_32GiB":               registered(filecoin.SnapDealsPoseidon, 32*gib),
}

func TestStructureIsTheReferences(t *testing.T) {
	seen := make(map[string]bool)
	lines := bufio.NewScanner(bytes.NewReader(fixture.Read(t, "filecoin", "structure.jsonl")))
	for lines.Scan() {
		var want facts
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		seen[want.Circuit] = true
		c, ok := circuits[want.Circuit]
		if !ok {
			// Hashes alone are tested where they are described.
			continue
		}
		t.Run(want.Circuit, func(t *testing.T) {
			if want.Constraints > 1e6 {
				skipLarge(t)
			}
			if c.long && !long() {
				// It is the digest of 10^9 entries that takes long.
				want.Digest = ""
			}
			if diff := cmp.Diff(want, factsOf(t, want, c.record())); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name := range circuits {
		if !seen[name] {
			t.Errorf("the reference's file has no circuit %s", name)
		}
	}
}

// factsOf tells the same facts of a structure as the reference does.
func factsOf(t *testing.T, like facts, s *structure.Structure) facts {
	t.Helper()
	a, b := s.DensityA(), s.DensityB()
	entries := s.Entries()
	f := facts{
		Circuit: like.Circuit, Inputs: s.Inputs, Aux: s.Aux, Constraints: s.Constraints,
		A: entries[0], B: entries[1], C: entries[2], InA: a.Count(), InB: b.Count(),
	}
	if like.DensityA != "" {
		f.DensityA, f.DensityB = bitmapDigest(a.Bits()), bitmapDigest(b.Bits())
	}
	if like.Digest != "" {
		d, err := s.Digest(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Digest = hex.EncodeToString(d[:])
	}
	return f
}

func bitmapDigest(words []uint64) string {
	h := sha256.New()
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b[:0], w)
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The reference's own tests tell only how many inputs, with the one, and constraints their circuits have.
func TestCountsOfTheReferencesTests(t *testing.T) {
	skipLarge(t)
	por := func(hash gadget.Hash[structure.Var, constraints.Boolean, []constraints.Boolean], arities ...int) func(constraints.System) {
		return func(s constraints.System) {
			root := s.Num(fr.Element{})
			gadget.Include(s, hash, s.Num(fr.Element{}), gadget.BlankPath(arities), root)
		}
	}
	public := func(hash gadget.Hash[structure.Var, constraints.Boolean, []constraints.Boolean], arities ...int) func(constraints.System) {
		return func(s constraints.System) {
			root := s.Num(fr.Element{})
			gadget.Include(s, hash, s.Num(fr.Element{}), gadget.BlankPath(arities), root)
			s.Input(root)
		}
	}
	snap := func(shape filecoin.SnapShape) func(constraints.System) {
		return func(s constraints.System) { update.Describe(s, update.ShapeOf(shape).Blank()) }
	}
	fallback := func(slots, challenges int, tree ...int) func(constraints.System) {
		return func(s constraints.System) {
			post.Describe(s, post.Shape{Slots: slots, Challenges: challenges, Tree: tree}.Blank())
		}
	}
	tree, data := gadget.TreeHash[structure.Var, constraints.Boolean, []constraints.Boolean], gadget.DataHash[structure.Var, constraints.Boolean, []constraints.Boolean]
	for _, c := range []struct {
		name                string
		describe            func(constraints.System)
		inputs, constraints int
	}{
		{"inclusion 2, public root", public(tree, 2, 2, 2, 2, 2, 2), 3, 1887},
		{"inclusion 4, public root", public(tree, 4, 4, 4), 3, 1164},
		{"inclusion 8, public root", public(tree, 8, 8), 3, 1063},
		{"inclusion 8-2, public root", public(tree, 8, 8, 2), 3, 1377},
		{"inclusion 8-8, public root", public(tree, 8, 8, 8), 3, 1593},
		{"inclusion 8-4-2, public root", public(tree, 8, 8, 4, 2), 3, 1764},
		{"inclusion 8-8-2, public root", public(tree, 8, 8, 8, 2), 3, 1907},
		{"inclusion 8-2-4, public root", public(tree, 8, 8, 2, 4), 3, 1764},
		{"inclusion SHA-256, public root", public(data, 2, 2, 2, 2, 2, 2), 3, 272295},
		{"inclusion 2", por(tree, 2, 2, 2, 2, 2, 2), 2, 1886},
		{"inclusion 4", por(tree, 4, 4, 4), 2, 1163},
		{"inclusion 8", por(tree, 8, 8), 2, 1062},
		{"PoSt 8-4-0, 3 sectors", fallback(3, 5, 8, 8, 4), 19, 22674},
		{"PoSt 8-4-2, 3 sectors", fallback(3, 5, 8, 8, 4, 2), 19, 27384},
		{"PoSt 8-0-0, 2 sectors", fallback(2, 5, 8, 8), 13, 11246},
		{"PoSt 32 GiB, 5 sectors", fallback(5, 10, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8), 56, 266665},
		{"update 1 KiB", snap(filecoin.SnapShapeOf(1*kib, false)), 5, 1248389},
		{"update 4 KiB", snap(filecoin.SnapShapeOf(4*kib, false)), 5, 2165109},
		{"update 8 KiB", snap(filecoin.SnapShapeOf(8*kib, false)), 5, 2620359},
		{"update 16 KiB", snap(filecoin.SnapShapeOf(16*kib, false)), 5, 6300021},
		{"update 32 KiB", snap(filecoin.SnapShapeOf(32*kib, false)), 5, 6760091},
		{"update 1 KiB, Poseidon", snap(filecoin.SnapShapeOf(1*kib, true)), 5, 32164},
	} {
		s := constraints.Record(c.describe)
		if s.Inputs != c.inputs || s.Constraints != c.constraints {
			t.Errorf("%s: %d inputs and %d constraints, want %d and %d", c.name, s.Inputs, s.Constraints, c.inputs, c.constraints)
		}
	}
}

// Every point of a published parameter file belongs to something that the circuit has.
func TestLengthsArePublished(t *testing.T) {
	skipLarge(t)
	for _, p := range filecoin.PublishedParameters {
		s := recorded(p.Circuit.Shape(p.Sector))
		domain := 1 << bits.Len(uint(s.Constraints+s.Inputs-1))
		got := filecoin.Lengths{
			IC: s.Inputs, H: domain - 1, L: s.Aux, A: s.Inputs + s.DensityA().Count(), B: 1 + s.DensityB().Count(),
		}
		if got != p.Lengths {
			t.Errorf("%s %s: %+v, want %+v", p.Circuit, p.Sector, got, p.Lengths)
		}
	}
}
