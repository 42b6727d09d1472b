// Package buffer holds the long vectors of a proof outside the garbage collected heap: they are given back the moment
// they are dead, not when the collector finds out, and they are kept out of core dumps, since witnesses are secret.
package buffer

import (
	"unsafe"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// Buffer owns memory of one vector. The zero value is empty. It is not safe for concurrent use.
type Buffer struct {
	mapped []byte
	vector []curve.Scalar
}

// New allocates n scalars, all zero.
func New(n int) (*Buffer, error) {
	b := &Buffer{}
	if n == 0 {
		return b, nil
	}
	mapped, err := allocate(n * curve.ScalarBytes)
	if err != nil {
		return nil, err
	}
	b.mapped = mapped
	b.vector = unsafe.Slice((*curve.Scalar)(unsafe.Pointer(&mapped[0])), n)
	return b, nil
}

// Scalars is the vector; it must not be used after Free.
func (b *Buffer) Scalars() []curve.Scalar {
	if b == nil {
		return nil
	}
	return b.vector
}

// Free clears the memory and gives it back. It may be called again, and on nil.
func (b *Buffer) Free() {
	if b == nil || b.mapped == nil {
		return
	}
	clear(b.mapped)
	free(b.mapped)
	b.mapped, b.vector = nil, nil
}
