package zkey

import (
	"context"
	"crypto/sha256"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// Digest is the file's SHA-256, or zero when neither ComputeDigest nor SetDigest has been called.
func (k *Key) Digest() [sha256.Size]byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.digest
}

// SetDigest takes over a digest that whoever fetched the file has computed already.
func (k *Key) SetDigest(d [sha256.Size]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.digest = d
}

// ComputeDigest reads the whole file once, on one core; it returns early when the digest is known. tell, if not nil, is told of
// the bytes read.
func (k *Key) ComputeDigest(ctx context.Context, tell progress.Func) ([sha256.Size]byte, error) {
	if d := k.Digest(); d != ([sha256.Size]byte{}) {
		return d, nil
	}
	h, read := sha256.New(), progress.Count(k.Size(), tell)
	for rest := k.data; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return [sha256.Size]byte{}, err
		}
		step := rest[:min(len(rest), scanBytes)]
		if err := mapped.Guard(func() error { h.Write(step); return nil }); err != nil {
			return [sha256.Size]byte{}, failure.InFile(err, k.name)
		}
		rest = rest[len(step):]
		read.Add(len(step))
	}
	d := [sha256.Size]byte(h.Sum(nil))
	k.SetDigest(d)
	return d, nil
}
