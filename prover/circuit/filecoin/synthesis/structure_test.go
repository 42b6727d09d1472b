package synthesis

import (
	"math/bits"
	"os"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/constraints"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/internal/reference"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/update"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
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

// Every line of the reference's file, in every field; hashes alone are compared where they are described.
func TestStructureIsTheReferences(t *testing.T) {
	seen := make(map[string]bool)
	for _, want := range reference.Structures(t) {
		if want.IsGadget() {
			continue
		}
		seen[want.Circuit] = true
		c, ok := circuits[want.Circuit]
		if !ok {
			t.Errorf("no circuit is known for the line of %s", want.Circuit)
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
			want.Compare(t, c.record())
		})
	}
	for name := range circuits {
		if !seen[name] {
			t.Errorf("the reference's file has no circuit %s", name)
		}
	}
}

// What section 8.4 of the specification says of circuits that the reference's file lacks; lengths of their parameter files,
// and with them densities, are those of TestLengthsArePublished.
func TestStructureOfOtherCircuits(t *testing.T) {
	skipLarge(t)
	type counts struct {
		Inputs, Aux, Constraints int
		Entries                  [3]int
		InA, InB                 int
	}
	for _, c := range []struct {
		circuit filecoin.Circuit
		size    filecoin.SectorSize
		want    counts
	}{
		{filecoin.PoRep, 64 * gib, counts{328, 131076643, 131185849, [3]int{311892197, 131235764, 284512534}, 130637542, 33386943}},
		{filecoin.WindowPoSt, 64 * gib, counts{25301, 131500200, 129887900, [3]int{893299300, 132008500, 163088400}, 99624500, 95413200}},
		{filecoin.SnapDeals, 512 * mib, counts{5, 57401314, 57450479, [3]int{135362847, 57500527, 121971144}, 57212317, 14916879}},
		{filecoin.SnapDeals, 64 * gib, counts{5, 84931220, 85006101, [3]int{199699027, 85077653, 180585650}, 84682725, 22012683}},
		{filecoin.SnapDealsPoseidon, 64 * gib, counts{5, 23889511, 23597970, [3]int{162585940, 23980848, 29726205}, 18078600, 17306661}},
	} {
		s := recorded(c.circuit.Shape(c.size))
		got := counts{s.Inputs, s.Aux, s.Constraints, s.Entries(), s.DensityA().Count(), s.DensityB().Count()}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.circuit, c.size, diff)
		}
	}
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
		{"PoRep 2-0-0, 8 nodes", func(s constraints.System) {
			shape := porep.Shape{Layers: 2, Challenges: 1, Data: []int{2, 2, 2}, Replica: []int{2, 2, 2}}
			porep.Describe(s, shape.Blank())
		}, 22, 1206212},
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
