package cpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// bitset has one bit a wire, least significant first.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int) { b[i/64] |= 1 << (i % 64) }

// section is a run of a key's points that are multiplied by wires, with what is known of it for every proof: which wires
// have a point, and which of these are not infinity (in a .zkey two of three in B are).
type section struct {
	name   string
	points []byte
	group  group
	// count is the number of points.
	count int
	// first is the wire of the first point.
	first int
	// present tells the wires that have a point; nil means all from first on. rank counts those before each word.
	present bitset
	rank    []uint32
	// useful tells the wires whose point is there and not infinity.
	useful bitset
}

// wordsPerStep is how many words of a bitset one step of a scan takes: 8,192 wires.
const wordsPerStep = 128

// newSection makes a section of points for the wires from first on. absent, if not nil, tells wires without a point.
func newSection(ctx context.Context, name string, g group, points []byte, wires, first int, absent []uint64) (*section, error) {
	s := &section{name: name, points: points, group: g, first: first, useful: newBitset(wires)}
	for w := first; w < wires; {
		if w%64 == 0 && w+64 <= wires {
			s.useful[w/64] = ^uint64(0)
			w += 64
			continue
		}
		s.useful.set(w)
		w++
	}
	if absent != nil {
		if len(absent) < len(s.useful) {
			return nil, fmt.Errorf("section %s: %d words tell the absent points of %d wires", name, len(absent), wires)
		}
		s.present = newBitset(wires)
		s.rank = make([]uint32, len(s.present))
		for i := range s.useful {
			s.useful[i] &^= absent[i]
			s.present[i] = s.useful[i]
		}
	}
	for i, word := range s.useful {
		if s.rank != nil {
			s.rank[i] = uint32(s.count)
		}
		s.count += bits.OnesCount64(word)
	}
	if want := s.count * g.pointBytes(); len(points) != want {
		return nil, fmt.Errorf("section %s has %d bytes, its %d points need %d", name, len(points), s.count, want)
	}
	return s, s.dropInfinite(ctx)
}

// dropInfinite clears the useful bits of points at infinity.
func (s *section) dropInfinite(ctx context.Context) error {
	size := s.group.pointBytes()
	return parallel.Ranges(ctx, len(s.useful), wordsPerStep, func(start, end int) error {
		for i := start; i < end; i++ {
			for word := s.useful[i]; word != 0; word &= word - 1 {
				bit := bits.TrailingZeros64(word)
				p := s.points[s.position(i, bit)*size:][:size]
				// Nearly always the first word decides.
				if binary.LittleEndian.Uint64(p) == 0 && curve.IsInfinity(p) {
					s.useful[i] &^= 1 << bit
				}
			}
		}
		return nil
	})
}

// position is the place of a wire's point in the section; the wire is word·64 + bit, and has one.
func (s *section) position(word, bit int) int {
	if s.present == nil {
		return word*64 + bit - s.first
	}
	return int(s.rank[word]) + bits.OnesCount64(s.present[word]&(1<<bit-1))
}

// countOf counts the wires of a set that have a useful point.
func (s *section) countOf(set bitset) int {
	n := 0
	for i := range s.useful {
		n += bits.OnesCount64(s.useful[i] & set[i])
	}
	return n
}

// name of a key's section, for messages.
func sectionName(s groth16.Section) string {
	switch s {
	case groth16.SectionA:
		return "A"
	case groth16.SectionB1:
		return "B1"
	case groth16.SectionB2:
		return "B2"
	case groth16.SectionL:
		return "L"
	}
	return "H"
}
