package gnarkkey

import (
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// reader goes through a key from front to back. After the first read that does not fit, err is set and reads give zeros.
type reader struct {
	file   string
	data   []byte
	at     int
	id     curve.ID
	absent [2]uint64
	err    error
}

func (r *reader) fail(section, msg string, args ...any) *failure.Error {
	return failure.New(failure.Key, msg, args...).In(r.file).At(section, int64(r.at))
}

// take returns the next n bytes, not copied.
func (r *reader) take(n uint64, section, what string) []byte {
	if r.err != nil {
		return nil
	}
	if left := uint64(len(r.data) - r.at); n > left {
		r.err = r.fail(section, "the file ends inside %s: %d bytes are wanted and %d are left", what, n, left).WithFix("%s", fixFile)
		return nil
	}
	b := r.data[r.at : r.at+int(n) : r.at+int(n)]
	r.at += int(n)
	return b
}

func (r *reader) uint32(section, what string) uint32 {
	if b := r.take(4, section, what); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64(section, what string) uint64 {
	if b := r.take(8, section, what); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// points reads a 32-bit number of points and the points, whose encoding the first one tells.
func (r *reader) points(label string, group int) *run {
	p := &run{file: r.file, label: label, id: r.id, group: group, encoding: Raw}
	at := r.at
	n := r.uint32(label, "the number of points")
	p.offset = int64(r.at)
	if r.err != nil || n == 0 {
		return p
	}
	if r.at < len(r.data) {
		p.encoding = encodingOf(r.id, r.data[r.at])
	}
	r.run(p, uint64(n), at)
	return p
}

// dumped reads a little-endian 64-bit number of points and the points as a machine holds them.
func (r *reader) dumped(label string, group int) *run {
	p := &run{file: r.file, label: label, id: r.id, group: group, encoding: Dump}
	at := r.at
	b := r.take(8, label, "the number of points")
	p.offset = int64(r.at)
	if r.err == nil {
		r.run(p, binary.LittleEndian.Uint64(b), at)
	}
	return p
}

func (r *reader) run(p *run, n uint64, at int) {
	left := uint64(len(r.data) - r.at)
	if n > left/uint64(p.size()) {
		r.at = at
		r.err = r.fail(p.label, "says it has %d points of %d bytes, but the file has only %d more: it is truncated, or the number is wrong",
			n, p.size(), left).WithFix("%s", fixFile)
		return
	}
	p.count = int(n)
	p.data = r.take(n*uint64(p.size()), p.label, "the points")
}
