package structure

import (
	"math/bits"
	"slices"
)

// Template is a block of constraints. Its columns are resolved into slots: where a value stands among the bits, or among
// the field elements, of one copy. All arrays are plain numbers, so that a device can take them as they are.
//
// Bit slots: the Aux variables of the block in the order of allocation (those that are no bits leave theirs unused), then
// BitExternals bits from outside, then the one. Field slots: the variables of the block that are no bits, in order, its
// Inputs, then FullExternals elements from outside.
type Template struct {
	Inputs, Aux, Rows           int
	BitExternals, FullExternals int
	// Full lists, ascending, the variables that are no bits.
	Full []uint32
	// Products and Sums are the small rows: sums of few bits with small coefficients. A row that is not small in a matrix
	// has nothing there and stands in Long instead.
	Products []Product
	Sums     []Sum
	Long     [3]LongRows
	// Entries of A, B and C; Occurs are the variables of the block that occur in A and in B, one bit each.
	Entries [3]int
	Occurs  [2][]uint64
	// Ranks has for each word of Occurs the number of variables that occur before it: where the word's points are in a query.
	Ranks [2][]uint32
	// ExternalBits and ExternalFull tell of each external whether it occurs in A and in B.
	ExternalBits, ExternalFull []Occurrence
}

// Occurrence tells in which of A and B something occurs.
type Occurrence struct{ A, B bool }

// Small is a term of a small row: a bit slot times 8, plus the coefficient, -4 to 3, modulo 8. Zero is no term.
type Small uint32

func (s Small) slot() uint32 { return uint32(s >> 3) }

// coefficient is -4 to 3.
func (s Small) coefficient() int { return int(int8(s<<5)) >> 5 }

// smallest and largest bound the values of small rows.
const smallest, largest = -4, 3

// Product is a small row's A, a sum of up to three terms with values in -4…3, and B: nothing, a bit (coefficient 1), or 1
// minus a bit (coefficient -1).
type Product struct {
	A [3]Small
	B Small
}

// Sum is a small row's C, of up to four terms and with values in -4…3.
type Sum [4]Small

// LongRows are the rows of one matrix that are not small, in ascending order. Row i has its terms from Start[i] to
// Start[i+1]: bits up to Split[i], then field elements.
type LongRows struct {
	Row          []uint32
	Start, Split []uint32
	Slot         []uint32
	// Coefficient is a number of the dictionary.
	Coefficient []uint16
}

// oneSlot is the bit slot of the one.
func (t *Template) oneSlot() uint32 { return uint32(t.Aux + t.BitExternals) }

// fullRank is the number of variables before this one that are no bits.
func (t *Template) fullRank(local int) int {
	rank, _ := slices.BinarySearch(t.Full, uint32(local))
	return rank
}

// rank makes Ranks of Occurs.
func (t *Template) rank() {
	for m := range t.Occurs {
		t.Ranks[m] = ranksOf(t.Occurs[m])
	}
}

// ranksOf counts, for each word, the bits that are set before it.
func ranksOf(words []uint64) []uint32 {
	ranks := make([]uint32, len(words))
	n := uint32(0)
	for i, w := range words {
		ranks[i] = n
		n += uint32(bits.OnesCount64(w))
	}
	return ranks
}

// Bytes is the memory that the arrays occupy.
func (t *Template) Bytes() int64 {
	n := 4*len(t.Full) + 16*len(t.Products) + 16*len(t.Sums) + 8*len(t.Occurs[0]) + 8*len(t.Occurs[1]) +
		4*len(t.Ranks[0]) + 4*len(t.Ranks[1]) +
		2*len(t.ExternalBits) + 2*len(t.ExternalFull)
	for i := range t.Long {
		l := &t.Long[i]
		n += 4*(len(l.Row)+len(l.Start)+len(l.Split)+len(l.Slot)) + 2*len(l.Coefficient)
	}
	return int64(n)
}
