package gnarkkey

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// run is a sequence of points of one group in the file, and, once loaded, in memory as raw limbs.
type run struct {
	file     string
	label    string
	offset   int64 // of the first point
	id       curve.ID
	group    int // 1 or 2
	count    int
	encoding Encoding
	data     []byte // the file's bytes

	mu     sync.Mutex
	loaded bool
	closed bool
	points []byte
}

// rawSize is the size of a point in memory, size that of a point in the file.
func (r *run) rawSize() int {
	if r.group == 2 {
		return r.id.G2Bytes()
	}
	return r.id.G1Bytes()
}

func (r *run) size() int {
	if r.encoding == Compressed {
		return r.rawSize() / 2
	}
	return r.rawSize()
}

// weight is about how much work it is to load a point, in multiples of what a dumped point of G1 takes.
func (r *run) weight() int {
	w := map[Encoding]int{Dump: 1, Raw: 4, Compressed: 400}[r.encoding]
	return w * r.group * r.group
}

// work is that of loading runs.
func work(runs []*run) int64 {
	n := int64(0)
	for _, r := range runs {
		n += int64(r.count) * int64(r.weight())
	}
	return n
}

// Points that are decoded at a time: some milliseconds of work, so that cancelling is prompt and cores share well.
const (
	chunkCompressed = 512
	chunkPlain      = 1 << 14
)

// load decodes the points, or checks those of a dump, once; a load that failed is tried again.
func (r *run) load(ctx context.Context, done *progress.Counter) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, failure.New(failure.Internal, "the proving key is closed").In(r.file)
	}
	if r.loaded || r.count == 0 {
		return r.points, nil
	}
	chunk := chunkPlain
	if r.encoding == Compressed {
		chunk = chunkCompressed
	}
	points := r.data
	if r.encoding != Dump {
		points = limbs(r.count * r.rawSize())
	}
	err := parallel.Ranges(ctx, r.count, chunk, func(start, end int) error {
		src := r.data[start*r.size() : end*r.size()]
		dst := points[start*r.rawSize() : end*r.rawSize()]
		if r.encoding == Dump {
			if i := r.id.FirstUnreducedCoordinate(dst); i >= 0 {
				return r.fail(start+i*r.id.BaseBytes()/r.rawSize(), curve.ErrNotReduced)
			}
		} else if i, err := r.decode(dst, src); err != nil {
			return r.fail(start+i, r.explain(src[i*r.size():(i+1)*r.size()], err))
		}
		done.Add((end - start) * r.weight())
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.points, r.loaded = points, true
	return points, nil
}

func (r *run) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.points, r.data, r.closed = nil, nil, true
}

// forget gives up decoded points, which others may still hold.
func (r *run) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.encoding != Dump {
		r.points, r.loaded = nil, false
	}
}

// limbs allocates n zeroed bytes, aligned as gnark-crypto's points are. n is bounded by twice the size of the file.
func limbs(n int) []byte {
	words := make([]uint64, n/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

func (r *run) fail(i int, err error) error {
	return failure.New(failure.Key, "point %d: %w", i, err).In(r.file).At(r.label, r.offset+int64(i)*int64(r.size())).
		WithFix("%s", fixFile)
}

// decoder is gnark-crypto's decoder of either curve. One point at a time, it reads a known number of bytes.
type decoder interface{ Decode(v any) error }

func (r *run) decode(dst, src []byte) (int, error) {
	in := bytes.NewReader(src)
	switch {
	case r.id == curve.BN254 && r.group == 1:
		return decodeAll[bn254.G1Affine](r, bn254.NewDecoder(in, bn254.NoSubgroupChecks()), dst, src)
	case r.id == curve.BN254:
		return decodeAll[bn254.G2Affine](r, bn254.NewDecoder(in, bn254.NoSubgroupChecks()), dst, src)
	case r.id == curve.BLS12381 && r.group == 1:
		return decodeAll[bls12381.G1Affine](r, bls12381.NewDecoder(in, bls12381.NoSubgroupChecks()), dst, src)
	case r.id == curve.BLS12381:
		return decodeAll[bls12381.G2Affine](r, bls12381.NewDecoder(in, bls12381.NoSubgroupChecks()), dst, src)
	}
	return 0, fmt.Errorf("unknown curve %q", r.id)
}

var errMixed = errors.New("its flag bits do not fit the points before it: compressed and uncompressed ones are mixed")

// decodeAll fills dst and returns the index of the first point that cannot be decoded. dst must be aligned to P.
func decodeAll[P any](r *run, d decoder, dst, src []byte) (int, error) {
	points := unsafe.Slice((*P)(unsafe.Pointer(unsafe.SliceData(dst))), len(src)/r.size())
	for i := range points {
		// The decoder would go by the flags of each point and lose its place.
		if encodingOf(r.id, src[i*r.size()]) != r.encoding {
			return i, errMixed
		}
		if err := d.Decode(&points[i]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = errMixed
			}
			return i, err
		}
	}
	return len(points), nil
}

// explain gives an error of gnark-crypto's decoder the words that the rest of the prover uses.
func (r *run) explain(point []byte, err error) error {
	size := r.id.BaseBytes()
	p := r.id.BaseModulus().FillBytes(make([]byte, size))
	x := bytes.Clone(point)
	if r.id == curve.BLS12381 {
		x[0] &= 0x1f
	} else {
		x[0] &= 0x3f
	}
	for ; len(x) >= size; x = x[size:] {
		if bytes.Compare(x[:size], p) >= 0 {
			return curve.ErrNotReduced
		}
	}
	return err
}
