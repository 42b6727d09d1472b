package gnarkfmt

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// reader goes through the bytes of one file.
type reader struct {
	what       string
	class      failure.Class
	curve      curve.ID
	data       []byte
	offset     int
	compressed bool
}

func (r *reader) errorf(format string, args ...any) error {
	return failure.New(r.class, "%s: %w", r.what, fmt.Errorf(format, args...)).At("", int64(r.offset))
}

// begin finds out whether the file's points are compressed.
func (r *reader) begin() error {
	if r.curve.BaseBytes() == 0 {
		return failure.New(failure.Usage, "unknown curve %q", string(r.curve))
	}
	if len(r.data) == 0 {
		return r.errorf("it is empty")
	}
	r.compressed = r.curve.IsCompressed(r.data[0])
	return nil
}

func (r *reader) end() error {
	if rest := len(r.data) - r.offset; rest != 0 {
		return r.errorf("%d bytes are left after its end", rest)
	}
	return nil
}

func (r *reader) rest() []byte { return r.data[r.offset:] }

func (r *reader) g1(name string) (curve.G1, error) {
	raw, n, err := r.curve.DecodeG1(r.rest())
	return raw, r.point(name, n, err, r.curve.G1Bytes())
}

func (r *reader) g2(name string) (curve.G2, error) {
	raw, n, err := r.curve.DecodeG2(r.rest())
	return raw, r.point(name, n, err, r.curve.G2Bytes())
}

func (r *reader) point(name string, n int, err error, full int) error {
	if err != nil {
		return r.errorf("%s: %w; check that it is %s's", name, err, r.curve)
	}
	if compressed := n != full; compressed != r.compressed {
		return r.errorf("%s: compressed and uncompressed points are mixed", name)
	}
	r.offset += n
	return nil
}

// count reads a u32 and checks that so many items, of at least itemBytes each, can follow.
func (r *reader) count(name string, itemBytes int) (int, error) {
	if len(r.rest()) < 4 {
		return 0, r.errorf("it ends before the number of %s", name)
	}
	n := binary.BigEndian.Uint32(r.rest())
	if left := len(r.rest()) - 4; int64(n) > math.MaxInt32 || int64(n)*int64(itemBytes) > int64(left) {
		return 0, r.errorf("it says that %d %s follow, but %d bytes are left", n, name, left)
	}
	r.offset += 4
	return int(n), nil
}

// uint64 reads a number whose presence count has checked.
func (r *reader) uint64() uint64 {
	n := binary.BigEndian.Uint64(r.rest())
	r.offset += 8
	return n
}

func (r *reader) g1List(name string) ([]curve.G1, error) {
	size := r.curve.G1Bytes()
	if r.compressed {
		size /= 2
	}
	n, err := r.count(name+" points", size)
	if err != nil || n == 0 {
		return nil, err
	}
	out := make([]curve.G1, n)
	for i := range out {
		if out[i], err = r.g1(fmt.Sprintf("%s[%d]", name, i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
