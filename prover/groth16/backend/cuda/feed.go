package cuda

import (
	"context"
	"errors"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

const (
	// stagingScalars is the size of a lane's buffer: two halves of 4 MiB, one of which is read into while the other is
	// copied to the device. That is long enough to hide what a call costs and short enough to end soon when cancelled.
	stagingScalars = 1 << 18
	// scalarsPerStep is how many scalars one core reads at a time.
	scalarsPerStep = 1 << 14
	// scalarsPerWrite bounds what is handed over at once where it lies (32 MiB), so that a cancelled proof ends soon.
	scalarsPerWrite = 1 << 20
)

// inMemory is a vector that lies in memory in Montgomery form, and is handed over where it lies.
type inMemory interface{ Scalars() []curve.Scalar }

// feed hands vectors to a proof.
type feed struct {
	to      libcuzk.Proof
	staging []curve.Scalar
}

// vector writes all of a vector. check, if not nil, looks at its first element.
func (f *feed) vector(ctx context.Context, which libcuzk.Vector, v groth16.Vector, check func(curve.Scalar) error) error {
	if check == nil {
		check = func(curve.Scalar) error { return nil }
	}
	if m, ok := v.(inMemory); ok && v.Form() == groth16.Montgomery {
		return f.memory(ctx, which, m.Scalars(), check)
	}
	return f.stream(ctx, which, v, check)
}

func (f *feed) memory(ctx context.Context, which libcuzk.Vector, scalars []curve.Scalar, check func(curve.Scalar) error) error {
	for offset := 0; offset < len(scalars); offset += scalarsPerWrite {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece := scalars[offset:min(offset+scalarsPerWrite, len(scalars))]
		if offset == 0 {
			if err := check(piece[0]); err != nil {
				return err
			}
		}
		if err := f.to.Write(which, groth16.Montgomery, offset, piece); err != nil {
			return err
		}
	}
	return nil
}

// stream reads a vector piece by piece; the next piece is read while one is written. What was read is cleared.
func (f *feed) stream(ctx context.Context, which libcuzk.Vector, v groth16.Vector, check func(curve.Scalar) error) error {
	half := len(f.staging) / 2
	halves := [2][]curve.Scalar{f.staging[:half], f.staging[half:]}
	n := v.Len()
	read := make(chan error, 1)
	begin := func(into []curve.Scalar, offset int) {
		go func() { read <- readPiece(ctx, v, offset, into[:min(half, n-offset)]) }()
	}
	defer func() {
		clear(halves[0][:min(half, n)])
		clear(halves[1][:min(half, max(0, n-half))])
	}()
	if n > 0 {
		begin(halves[0], 0)
	}
	for offset, i := 0, 0; offset < n; offset, i = offset+half, 1-i {
		if err := <-read; err != nil {
			return err
		}
		piece := halves[i][:min(half, n-offset)]
		if offset == 0 {
			if err := check(piece[0]); err != nil {
				return err
			}
		}
		next := offset + half
		if next < n {
			begin(halves[1-i], next)
		}
		if err := f.to.Write(which, v.Form(), offset, piece); err != nil {
			if next < n {
				err = errors.Join(err, <-read) // the buffer must not be written to any more
			}
			return err
		}
	}
	return nil
}

// readPiece reads on all cores; the vector may be a mapped file.
func readPiece(ctx context.Context, v groth16.Vector, offset int, into []curve.Scalar) error {
	return parallel.Ranges(ctx, len(into), scalarsPerStep, func(start, end int) error {
		return v.Read(ctx, offset+start, into[start:end])
	})
}
