package synthesis

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
)

func repeated(b byte) filecoin.Node {
	return filecoin.Node(bytes.Repeat([]byte{b}, filecoin.NodeBytes))
}

// satisfies checks a witness, all constraints and the public inputs, and frees it.
func satisfies(t *testing.T, s *structure.Structure, w *witness.Witness, err error, public []curve.Scalar) {
	t.Helper()
	if err != nil {
		t.Error(err)
		return
	}
	defer w.Free()
	if err := s.Check(t.Context(), w); err != nil {
		t.Error(err)
	}
	var got []curve.Scalar
	for _, e := range w.Inputs[1:] {
		got = append(got, e.Bits())
	}
	if diff := cmp.Diff(public, got); diff != "" {
		t.Errorf("public inputs (-want +got):\n%s", diff)
	}
}

func testPoRep(t *testing.T, s *porep.Statement, partitions int) {
	t.Helper()
	c, err := fabricate.PoRep(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	system := recorded(s.Shape)
	for k := range partitions {
		public, err := s.PublicInputs(k)
		if err != nil {
			t.Fatal(err)
		}
		w, err := AssignPoRep(t.Context(), system.Layout(), c, k)
		satisfies(t, system, w, err, public)
	}
}

func TestFabricatedPoRepSatisfies(t *testing.T) {
	skipLarge(t)
	for _, size := range []filecoin.SectorSize{2 * kib, 4 * kib, 16 * kib, 32 * kib} {
		t.Run(size.String(), func(t *testing.T) {
			testPoRep(t, &porep.Statement{Shape: filecoin.PoRepShapeOf(size), Version: filecoin.V1_1, Sector: 3, Ticket: repeated(8), Seed: repeated(4)}, 1)
		})
	}
	t.Run("two partitions", func(t *testing.T) {
		testPoRep(t, &porep.Statement{Shape: filecoin.PoRepTestShape, Version: filecoin.V1_1, Ticket: repeated(8), Seed: repeated(1)}, 2)
	})
}

// All 130,278,541 constraints of a partition, ten times in a long test.
func TestFabricatedPoRepOf32GiBSatisfies(t *testing.T) {
	skipLarge(t)
	s := &porep.Statement{Prover: repeated(9), Sector: 7, Ticket: repeated(1), Seed: repeated(2)}
	if err := s.Register(8); err != nil {
		t.Fatal(err)
	}
	partitions := 1
	if long() {
		partitions = s.Partitions()
	}
	testPoRep(t, s, partitions)
}

// The other published sizes, one partition each.
func TestFabricatedPartitionsOfAllSizesSatisfy(t *testing.T) {
	if !long() {
		t.Skip("set CUZK_TEST_LONG to check partitions of 8 MiB, 512 MiB and 64 GiB")
	}
	for _, size := range []filecoin.SectorSize{8 * mib, 512 * mib, 64 * gib} {
		t.Run("porep/"+size.String(), func(t *testing.T) {
			testPoRep(t, &porep.Statement{Shape: filecoin.PoRepShapeOf(size), Version: filecoin.V1_1, Sector: 3, Ticket: repeated(8), Seed: repeated(4)}, 1)
		})
		t.Run("snap-deals/"+size.String(), func(t *testing.T) { testSnap(t, size, false, 1) })
	}
}

func TestFabricatedPoStSatisfies(t *testing.T) {
	for _, p := range []filecoin.PoStProof{0, 3, 4, 5, 11, 12} {
		t.Run(p.String(), func(t *testing.T) { testPoSt(t, p, 1) })
	}
}

// One sector, repeated in all slots; a long test has one for each slot.
func TestFabricatedPoStOf32GiBSatisfies(t *testing.T) {
	if !long() {
		t.Skip("set CUZK_TEST_LONG to check 125,279,217 constraints of a witness of 3 GB")
	}
	testPoSt(t, 13, 2349)
}

func testPoSt(t *testing.T, p filecoin.PoStProof, sectors int) {
	t.Helper()
	s := &post.Statement{Randomness: repeated(3)}
	if err := s.Register(p); err != nil {
		t.Fatal(err)
	}
	for i := range sectors {
		s.Sectors = append(s.Sectors, post.Sector{ID: uint64(i + 2)})
	}
	proofs, err := fabricate.PoSt(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	public, err := s.PublicInputs(0)
	if err != nil {
		t.Fatal(err)
	}
	system := recorded(s.Shape)
	w, err := AssignPoSt(t.Context(), system.Layout(), s.Shape, proofs)
	satisfies(t, system, w, err, public)
}

func TestFabricatedSnapSatisfies(t *testing.T) {
	skipLarge(t)
	for _, size := range []filecoin.SectorSize{1 * kib, 2 * kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib} {
		for _, poseidon := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/poseidon=%t", size, poseidon), func(t *testing.T) { testSnap(t, size, poseidon, 0) })
		}
	}
	t.Run("32GiB/poseidon=true", func(t *testing.T) {
		if !long() {
			t.Skip("set CUZK_TEST_LONG to check 22,305,906 constraints, most of them of Poseidon")
		}
		testSnap(t, 32*gib, true, 0)
	})
	t.Run("second partition", func(t *testing.T) { testSnap(t, 16*kib, false, 1) })
}

// All 81,049,499 constraints of a partition.
func TestFabricatedSnapOf32GiBSatisfies(t *testing.T) {
	skipLarge(t)
	testSnap(t, 32*gib, false, 3)
}

func testSnap(t *testing.T, size filecoin.SectorSize, poseidon bool, partition int) {
	t.Helper()
	s := &snap.Statement{Shape: filecoin.SnapShapeOf(size, poseidon)}
	proofs, err := fabricate.Snap(s)
	if err != nil {
		t.Fatal(err)
	}
	public, err := s.PublicInputs(partition)
	if err != nil {
		t.Fatal(err)
	}
	system := recorded(s.Shape)
	w, err := AssignSnap(t.Context(), system.Layout(), s, proofs[partition], partition)
	satisfies(t, system, w, err, public)
}

// An input that contradicts itself is refused, and a witness that has been changed is found not to satisfy.
func TestWrongWitnesses(t *testing.T) {
	s := &post.Statement{Randomness: repeated(3), Sectors: []post.Sector{{ID: 1}}}
	if err := s.Register(0); err != nil {
		t.Fatal(err)
	}
	proofs, err := fabricate.PoSt(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	system := recorded(s.Shape)
	w, err := AssignPoSt(t.Context(), system.Layout(), s.Shape, proofs)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Free()
	// The second part has a copy for each of the 66 slots; the first copies are evaluated together, the last ones too.
	slots := &w.Parts[1]
	for _, i := range []int{0, 31, 32, slots.Copies - 1} {
		elements := slots.Full(i)
		for n := 0; n < len(elements); n += 149 {
			kept := elements[n]
			elements[n].Double(&kept)
			var unsatisfied *structure.UnsatisfiedError
			if err := system.Check(t.Context(), w); !errors.As(err, &unsatisfied) {
				t.Errorf("element %d of copy %d makes no difference: %v", n, i, err)
			}
			elements[n] = kept
		}
	}
	if err := system.Check(t.Context(), w); err != nil {
		t.Error(err)
	}
	proofs[0].CommC = repeated(1)
	if _, err := AssignPoSt(t.Context(), system.Layout(), s.Shape, proofs); err == nil {
		t.Error("a wrong comm_c was accepted")
	}
	proofs[0].Leaves = proofs[0].Leaves[1:]
	if _, err := AssignPoSt(t.Context(), system.Layout(), s.Shape, proofs); err == nil {
		t.Error("a proof that lacks a leaf was accepted")
	}
}
