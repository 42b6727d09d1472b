package cpu

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/buffer"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// scalarsPerStep is how many scalars one step of a pass over a vector takes; a multiple of 64, so that steps do not share
// words of a bitset.
const scalarsPerStep = 1 << 14

// witness is an assignment's wires in Montgomery form, sorted by what their product with a point costs.
type witness struct {
	// buffer holds the values, unless they are the assignment's own.
	buffer *buffer.Buffer
	values []curve.Scalar
	// ones are the wires whose value is one, others those that are neither zero nor one.
	ones, others bitset
}

// free clears what tells the witness.
func (w *witness) free() {
	w.buffer.Free()
	clear(w.ones)
	clear(w.others)
	w.values = nil
}

// montgomery is a vector that lies in memory in Montgomery form, and is used where it lies.
type montgomery interface{ Scalars() []curve.Scalar }

// loadWitness reads the wires of an assignment.
func loadWitness(ctx context.Context, k *provingKey, a groth16.Assignment) (*witness, error) {
	w := &witness{ones: newBitset(k.wires), others: newBitset(k.wires)}
	if err := w.load(ctx, k, a); err != nil {
		w.free()
		return nil, err
	}
	return w, nil
}

func (w *witness) load(ctx context.Context, k *provingKey, a groth16.Assignment) error {
	var v groth16.Vector
	switch a := a.(type) {
	case groth16.Packed:
		if a.Bits != nil {
			return w.loadBits(ctx, k, a)
		}
		v = a.Witness
	case groth16.Evaluated:
		v = a.Witness
	default:
		return fmt.Errorf("unknown kind of assignment %T", a)
	}
	if v.Len() != k.wires {
		return wrongLength(v.Len(), k.wires)
	}
	if m, ok := v.(montgomery); ok && v.Form() == groth16.Montgomery {
		w.values = m.Scalars()
		return w.sort(ctx, k)
	}
	if err := w.allocate(k.wires); err != nil {
		return err
	}
	if err := readVector(ctx, k.curve, v, w.values); err != nil {
		return err
	}
	return w.sort(ctx, k)
}

func (w *witness) allocate(n int) (err error) {
	w.buffer, err = buffer.New(n)
	w.values = w.buffer.Scalars()
	return err
}

func wrongLength(got, wires int) error {
	return failure.New(failure.Input, "the witness has %d elements, the key is of a circuit with %d wires", got, wires).
		WithFix("use the key and the witness of the same circuit")
}

// loadBits spreads a witness whose bits are kept apart.
func (w *witness) loadBits(ctx context.Context, k *provingKey, a groth16.Packed) error {
	words := (k.wires + 63) / 64
	if len(a.Bits) < words || len(a.Values) < words {
		return fmt.Errorf("%d and %d words tell the bits of %d wires", len(a.Bits), len(a.Values), k.wires)
	}
	// A bit beyond the last wire would be counted, but has no place.
	last := ^uint64(0) >> (uint(words*64-k.wires) % 64)
	mask := func(i int) uint64 {
		if i == words-1 {
			return last
		}
		return ^uint64(0)
	}
	before := make([]int, words)
	count := 0
	for i := range before {
		before[i] = count
		count += bits.OnesCount64(^a.Bits[i] & mask(i))
	}
	if a.Witness.Len() != count {
		return failure.New(failure.Input, "the witness has %d elements that are not bits, the bit map leaves %d", a.Witness.Len(), count)
	}
	if err := w.allocate(k.wires); err != nil {
		return err
	}
	const wordsPerStep = scalarsPerStep / 64
	err := parallel.Ranges(ctx, words, wordsPerStep, func(start, end int) error {
		from, to := before[start], count
		if end < words {
			to = before[end]
		}
		full := make([]curve.Scalar, to-from)
		defer clear(full)
		if err := readRange(ctx, k.curve, a.Witness, from, full); err != nil {
			return err
		}
		rest := full
		for i := start; i < end; i++ {
			for bit := range min(64, k.wires-64*i) {
				at := &w.values[64*i+bit]
				switch {
				case a.Bits[i]>>bit&1 == 0:
					*at, rest = rest[0], rest[1:]
				case a.Values[i]>>bit&1 == 1:
					*at = k.arith.one
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.sort(ctx, k)
}

// sort tells zeros, ones and others apart.
func (w *witness) sort(ctx context.Context, k *provingKey) error {
	if w.values[0] != k.arith.one {
		return failure.New(failure.Input, "element 0 of the witness must be 1: wire 0 is the constant one")
	}
	return parallel.Ranges(ctx, len(w.values), scalarsPerStep, func(start, end int) error {
		for i := start; i < end; i++ {
			switch w.values[i] {
			case curve.Scalar{}:
			case k.arith.one:
				w.ones.set(i)
			default:
				w.others.set(i)
			}
		}
		return nil
	})
}

// readVector reads all of a vector into dst, of the same length, in Montgomery form, on all cores.
func readVector(ctx context.Context, id curve.ID, v groth16.Vector, dst []curve.Scalar) error {
	return parallel.Ranges(ctx, len(dst), scalarsPerStep, func(start, end int) error {
		return readRange(ctx, id, v, start, dst[start:end])
	})
}

func readRange(ctx context.Context, id curve.ID, v groth16.Vector, offset int, dst []curve.Scalar) error {
	if err := v.Read(ctx, offset, dst); err != nil {
		return err
	}
	if v.Form() == groth16.Canonical {
		id.ToMontgomery(dst)
	}
	return nil
}
