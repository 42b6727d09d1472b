package filecoin

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// SectorSize is a sector's size in bytes: 32 times a power of two.
type SectorSize uint64

// The sector sizes for which parameters are published.
const (
	Sector2KiB   SectorSize = 2 << 10
	Sector8MiB   SectorSize = 8 << 20
	Sector512MiB SectorSize = 512 << 20
	Sector32GiB  SectorSize = 32 << 30
	Sector64GiB  SectorSize = 64 << 30
)

// PublishedSizes are the sizes that registered proofs have, in the order of their numbers.
var PublishedSizes = []SectorSize{Sector2KiB, Sector8MiB, Sector512MiB, Sector32GiB, Sector64GiB}

// trees of all sizes that the reference knows.
var trees = map[SectorSize]Tree{
	1 << 10:   {8, 4, 0},
	2 << 10:   {8, 0, 0},
	4 << 10:   {8, 2, 0},
	8 << 10:   {8, 4, 0},
	16 << 10:  {8, 8, 0},
	32 << 10:  {8, 8, 2},
	8 << 20:   {8, 0, 0},
	16 << 20:  {8, 2, 0},
	512 << 20: {8, 0, 0},
	1 << 30:   {8, 2, 0},
	32 << 30:  {8, 8, 0},
	64 << 30:  {8, 8, 2},
}

var sizeUnits = []struct {
	name  string
	bytes SectorSize
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// ParseSectorSize reads a size as users write it: 32GiB, or a number of bytes.
func ParseSectorSize(text string) (SectorSize, error) {
	digits, unit := strings.TrimSpace(text), SectorSize(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 32+6)
	size := SectorSize(n) * unit
	if err != nil || !size.Known() || uint64(size)/uint64(unit) != n {
		return 0, fmt.Errorf("%q is no sector size: use 2KiB, 8MiB, 512MiB, 32GiB or 64GiB", text)
	}
	return size, nil
}

// Known tells whether the size is one that the reference knows.
func (s SectorSize) Known() bool {
	_, ok := trees[s]
	return ok
}

// Published tells whether registered proofs have this size.
func (s SectorSize) Published() bool { return s.index() >= 0 }

func (s SectorSize) index() int {
	for i, size := range PublishedSizes {
		if s == size {
			return i
		}
	}
	return -1
}

// Nodes is the number of nodes of 32 bytes.
func (s SectorSize) Nodes() uint64 { return uint64(s) / NodeBytes }

// Log2Nodes is the number of levels of a binary tree over the nodes.
func (s SectorSize) Log2Nodes() int { return bits.Len64(s.Nodes()) - 1 }

// Tree is the shape of the trees over columns and replica.
func (s SectorSize) Tree() Tree { return trees[s] }

// String is the size in the largest unit that divides it.
func (s SectorSize) String() string {
	for _, u := range sizeUnits {
		if s >= u.bytes && s%u.bytes == 0 {
			return fmt.Sprintf("%d%s", s/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%dB", uint64(s))
}

// Tree is the shape of a Merkle tree: base trees of one arity, of which Sub are joined by a level above, of which Top are
// joined by another. Zero means that there is no such level.
type Tree struct{ Base, Sub, Top int }

// BinaryTree is the shape of the tree over a sector's data.
var BinaryTree = Tree{Base: 2}

// String is the shape as it stands in names of parameters.
func (t Tree) String() string { return fmt.Sprintf("%d-%d-%d", t.Base, t.Sub, t.Top) }

// Arities lists the arity of each level over so many leaves, from the leaves to the root.
func (t Tree) Arities(leaves uint64) []int {
	var above []int
	for _, arity := range []int{t.Sub, t.Top} {
		if arity > 0 {
			above = append(above, arity)
			leaves /= uint64(arity)
		}
	}
	var levels []int
	for ; leaves > 1; leaves /= uint64(t.Base) {
		levels = append(levels, t.Base)
	}
	return append(levels, above...)
}
