package synthesis

import (
	"slices"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// What is known of the blocks of a 32 GiB PoRep, one of which stands for the partition's 18.
func TestBlockOf32GiBPoRep(t *testing.T) {
	skipLarge(t)
	s := recorded(filecoin.PoRepShapeOf(32 * gib))
	used := make(map[uint16]bool)
	for _, t := range s.Templates() {
		for m := range t.Long {
			for _, c := range t.Long[m].Coefficient {
				used[c] = true
			}
		}
	}
	used[uint16(structure.Twice)] = true // in small rows
	if len(used) != 2466 {
		t.Errorf("%d different coefficients, want 2466", len(used))
	}
	i := slices.IndexFunc(s.Sections, func(section structure.Section) bool { return section.Copies == 18 })
	if i < 0 {
		t.Fatal("no block has 18 copies")
	}
	section := &s.Sections[i]
	block := section.Template
	if got, want := [...]int{section.FirstInput, section.FirstAux, section.FirstRow, block.Inputs, block.Aux, block.Rows, len(block.Full)},
		[...]int{4, 571, 571, 18, 7231629, 7237665, 94377}; got != want {
		t.Errorf("first input, variable and row, inputs, variables, rows and full-size variables %v, want %v", got, want)
	}
	if want := [3]int{17189005, 7240376, 15703103}; block.Entries != want {
		t.Errorf("entries %v, want %v", block.Entries, want)
	}
	longest := uint32(0)
	long := make(map[uint32]bool)
	for m := range block.Long {
		l := &block.Long[m]
		for j, row := range l.Row {
			long[row] = true
			longest = max(longest, l.Start[j+1]-l.Start[j])
		}
	}
	// One row for each bit, and no other, has sums of few bits alone.
	if small := block.Rows - len(long); small != block.Aux-len(block.Full) {
		t.Errorf("%d small rows, want %d, as many as bits", small, block.Aux-len(block.Full))
	}
	if longest != 929 {
		t.Errorf("the longest row has %d terms, want 929", longest)
	}
	if limit := int64(300 << 20); s.Bytes() > limit {
		t.Errorf("the constraints take %d bytes, want at most %d", s.Bytes(), limit)
	}
}
