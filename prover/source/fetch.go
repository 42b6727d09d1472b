package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// Fetch says what to fetch and how.
type Fetch struct {
	// Dir is the scratch directory for what is downloaded. A part that a killed process left in it is used.
	Dir string
	// Digest and SizeBytes pin the content; zero values do not.
	Digest    Digest
	SizeBytes int64
	// MaxBytes bounds the content; 0 does not.
	MaxBytes int64
	// Class is that of an error in the content or its name: absent, refused, of another size or digest. An error that
	// may pass is of class IO. Empty: IO too.
	Class failure.Class
	// Progress is told how many bytes of how many (-1: not known) are here; at most every 100 ms. Nil is allowed.
	Progress func(done, total int64)
	// Attempts is how often in a row a transfer may break without a single new byte. 0: 8.
	Attempts int
	// Stall ends a transfer on which nothing arrived for so long, to try again. 0: one minute.
	Stall time.Duration
	// Wait sleeps before attempt n (from 1), at least as long as the server asked for. Nil: exponential backoff with
	// jitter, from one second to 30.
	Wait func(ctx context.Context, attempt int, atLeast time.Duration) error
}

// Fetched is content as a file of this machine.
type Fetched struct {
	// File is open for reading, at its start. Close it when done; its name may differ from the source's.
	File *os.File
	// Path is where it lies; empty if it is below a root and must be read through File.
	Path string
	Size int64
	// SHA256 of the content; only if Hashed.
	SHA256 [32]byte
	Hashed bool
	// Transferred counts the bytes that this call brought over a network.
	Transferred int64
}

// Get makes the source a local file and checks it against what pins it. A Local source is used where it is; it is read
// through for its digest only if one is pinned. The error is a *failure.Error.
func (f Fetch) Get(ctx context.Context, src Source) (*Fetched, error) {
	got, err := f.get(ctx, src)
	if err != nil {
		return nil, f.classed(ctx, err)
	}
	return got, nil
}

// classed gives an error its class.
func (f Fetch) classed(ctx context.Context, err error) error {
	var known *failure.Error
	switch {
	case errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return failure.New(failure.Interrupted, "%w", err)
	case f.Class != "" && (errors.Is(err, ErrAbsent) || errors.Is(err, ErrRefused) || errors.Is(err, ErrDigest) || errors.Is(err, ErrSize) || errors.Is(err, ErrNotFile)):
		return failure.New(f.Class, "%w", err)
	}
	return failure.New(failure.IO, "%w", err)
}

func (f Fetch) get(ctx context.Context, src Source) (*Fetched, error) {
	if l, ok := src.(Local); ok {
		return f.local(ctx, l)
	}
	d := &download{Fetch: f, src: src, hash: NewHasher(f.Digest)}
	return d.run(ctx)
}

// checkSize compares a size with what is pinned and allowed.
func (f Fetch) checkSize(name string, size int64) error {
	if f.SizeBytes > 0 && size != f.SizeBytes {
		return wrap(name, nil, fmt.Errorf("%w: content has %d bytes, %d are expected", ErrSize, size, f.SizeBytes))
	}
	if f.MaxBytes > 0 && size > f.MaxBytes {
		return wrap(name, nil, fmt.Errorf("%w: content has %d bytes, at most %d are allowed", ErrSize, size, f.MaxBytes))
	}
	return nil
}

func (f Fetch) local(ctx context.Context, src Local) (*Fetched, error) {
	h, err := src.OpenFile()
	if err != nil {
		return nil, err
	}
	got := &Fetched{File: h}
	if lf, ok := src.(*file); ok && lf.rooted == "" {
		got.Path = lf.name
	}
	err = func() error {
		st, err := h.Stat()
		if err != nil {
			return wrap(src.String(), nil, err)
		}
		got.Size = st.Size()
		if err := f.checkSize(src.String(), got.Size); err != nil || f.Digest == "" {
			return err
		}
		hash := NewHasher(f.Digest)
		if err := f.rehash(ctx, h, hash, got.Size); err != nil {
			return wrap(src.String(), nil, err)
		}
		if err := hash.Check(); err != nil {
			return wrap(src.String(), nil, err)
		}
		got.SHA256, got.Hashed = hash.SHA256(), true
		_, err = h.Seek(0, io.SeekStart)
		return err
	}()
	if err != nil {
		h.Close()
		return nil, err
	}
	return got, nil
}

// rehash reads a file from its start into the hasher.
func (f Fetch) rehash(ctx context.Context, h *os.File, hash *Hasher, total int64) error {
	hash.Reset()
	p := f.progress(total)
	buf := make([]byte, 1<<20)
	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := h.ReadAt(buf, done)
		hash.Write(buf[:n])
		done += int64(n)
		p(done)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// progress throttles the callback.
func (f Fetch) progress(total int64) func(done int64) {
	if f.Progress == nil {
		return func(int64) {}
	}
	var last time.Time
	return func(done int64) {
		if now := time.Now(); done == total || now.Sub(last) > 100*time.Millisecond {
			last = now
			f.Progress(done, total)
		}
	}
}
