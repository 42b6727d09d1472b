// Package filparams reads and writes the parameter files of Filecoin's trusted set-up: proving keys (.params), verifying
// keys (.vk), both as bellperson writes them, and their notes (.meta).
//
// A .params is mapped, not copied. It has no header: six single points, then five arrays of points, each with its length.
// The lengths are compared with those of the circuit before anything is allocated. Points are uncompressed and big-endian;
// they are brought into the form of the prover when they are asked for, which also checks that coordinates are below the
// prime. Check looks at curve and subgroup of every point.
package filparams

import (
	"encoding/binary"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// id is the curve of all of Filecoin's keys.
const id = curve.BLS12381

// Sizes of points; they are the same in the file and as raw limbs.
var g1Bytes, g2Bytes = id.G1Bytes(), id.G2Bytes()

// section is a run of points in a file.
type section struct {
	name   string
	offset int64 // of the first point
	data   []byte
	g2     bool
}

func (s *section) pointBytes() int {
	if s.g2 {
		return g2Bytes
	}
	return g1Bytes
}

func (s *section) len() int { return len(s.data) / s.pointBytes() }

// errorf makes an error about one of the section's points.
func (s *section) errorf(point int, format string, args ...any) *failure.Error {
	name := "section " + s.name
	if s.len() > 1 {
		name += fmt.Sprintf(", point %d", point)
	}
	return failure.New(failure.Key, format, args...).At(name, s.offset+int64(point)*int64(s.pointBytes()))
}

// lengthErrorf makes an error about the length of an array.
func (s *section) lengthErrorf(format string, args ...any) *failure.Error {
	return failure.New(failure.Key, format, args...).At("section "+s.name, s.offset-countBytes)
}

// vertices are the single points that begin both kinds of files.
var vertices = []struct {
	name string
	g2   bool
}{{"alpha_g1", false}, {"beta_g1", false}, {"beta_g2", true}, {"gamma_g2", true}, {"delta_g1", false}, {"delta_g2", true}}

// arrays of a .params, in order; a .vk ends behind the first.
var arrays = []struct {
	name string
	g2   bool
}{{"ic", false}, {"h", false}, {"l", false}, {"a", false}, {"b_g1", false}, {"b_g2", true}}

const (
	arrayIC = iota
	arrayH
	arrayL
	arrayA
	arrayB1
	arrayB2
)

// layout is where everything is in a file.
type layout struct {
	vertices [6]section
	arrays   [6]section
}

// lengths as the file has them; b_g1 and b_g2 may differ in a damaged one.
func (l *layout) lengths() (n [6]int) {
	for i := range l.arrays {
		n[i] = l.arrays[i].len()
	}
	return n
}

const countBytes = 4

// parse finds the sections of a file with so many arrays. Nothing is allocated that depends on the file's content.
func parse(data []byte, count int) (*layout, error) {
	l := &layout{}
	at := 0
	for i, v := range vertices {
		s := section{name: v.name, offset: int64(at), g2: v.g2}
		size := s.pointBytes()
		if len(data)-at < size {
			return nil, ends(at, "section "+v.name, "the point has %d bytes and the file only %d more", size, len(data)-at)
		}
		s.data = data[at : at+size : at+size]
		l.vertices[i] = s
		at += size
	}
	for i, a := range arrays[:count] {
		name := "section " + a.name
		if len(data)-at < countBytes {
			return nil, ends(at, name, "its length should be here and the file has only %d bytes more", len(data)-at)
		}
		n := binary.BigEndian.Uint32(data[at:])
		at += countBytes
		s := section{name: a.name, offset: int64(at), g2: a.g2}
		size := uint64(n) * uint64(s.pointBytes())
		if size > uint64(len(data)-at) {
			return nil, ends(at-countBytes, name, "its %d points have %d bytes and the file only %d more", n, size, len(data)-at)
		}
		end := at + int(size)
		s.data = data[at:end:end]
		l.arrays[i] = s
		at = end
	}
	if at != len(data) {
		return nil, failure.New(failure.Key, "%d bytes follow the end", len(data)-at).At("end of the file", int64(at)).WithFix("%s", fetchAgain)
	}
	return l, nil
}

// IsVerifyingKey tells whether a file has the structure of a .vk, to the last byte. Its points are not looked at.
func IsVerifyingKey(data []byte) bool {
	_, err := parse(data, arrayIC+1)
	return err == nil
}

// IsParams is IsVerifyingKey for a .params.
func IsParams(data []byte) bool {
	_, err := parse(data, len(arrays))
	return err == nil
}

const fetchAgain = "it is no complete parameter file of Filecoin's: fetch or generate it again"

func ends(at int, section, format string, args ...any) error {
	return failure.New(failure.Key, "the file ends too early: "+format, args...).At(section, int64(at)).WithFix("%s", fetchAgain)
}

// checkLengths compares a file's lengths with a circuit's.
func (l *layout) checkLengths(want filecoin.Lengths) error {
	got := l.lengths()
	for i, n := range [6]int{want.IC, want.H, want.L, want.A, want.B, want.B} {
		if got[i] == n {
			continue
		}
		return l.arrays[i].lengthErrorf("has %d points, the circuit needs %d: the parameters are those of another circuit", got[i], n).
			WithFix("use the file that belongs to the circuit (cuzk params derive-name tells its name)")
	}
	return nil
}
