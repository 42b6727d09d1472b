package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// ReadAll reads a small source into memory, at most limit bytes, with the checks and retries of Get. Nothing is written.
func (f Fetch) ReadAll(ctx context.Context, src Source, limit int64) ([]byte, [32]byte, error) {
	f.MaxBytes = limit
	m := &memory{Fetch: f}
	data, sum, err := m.read(ctx, src)
	if err == nil {
		return data, sum, nil
	}
	clear(data)
	return nil, sum, f.classed(ctx, err)
}

// memory is a transfer into memory: what breaks begins anew.
type memory struct{ Fetch }

func (m *memory) read(ctx context.Context, src Source) ([]byte, [32]byte, error) {
	if m.Wait == nil {
		m.Wait = backoff
	}
	if m.Attempts == 0 {
		m.Attempts = 8
	}
	for failed := 0; ; {
		data, err := m.once(ctx, src)
		if err == nil {
			hash := NewHasher(m.Digest)
			hash.Write(data)
			if err := hash.Check(); err != nil {
				return data, [32]byte{}, wrap(src.String(), nil, err)
			}
			return data, hash.SHA256(), nil
		}
		if _, local := src.(Local); local || ctx.Err() != nil || errors.Is(err, ErrAbsent) || errors.Is(err, ErrRefused) || errors.Is(err, ErrSize) {
			return nil, [32]byte{}, err
		}
		if failed++; failed >= m.Attempts {
			return nil, [32]byte{}, fmt.Errorf("gave up after %d attempts: %w", failed, err)
		}
		if err := m.Wait(ctx, failed, 0); err != nil {
			return nil, [32]byte{}, err
		}
	}
}

func (m *memory) once(ctx context.Context, src Source) ([]byte, error) {
	s, err := src.Open(ctx, 0, "")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if s.Info.Size >= 0 {
		if err := m.checkSize(src.String(), s.Info.Size); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(s, m.MaxBytes+1))
	if err != nil {
		return nil, wrap(src.String(), nil, err)
	}
	if s.Info.Size > n {
		return nil, wrap(src.String(), nil, io.ErrUnexpectedEOF)
	}
	return b.Bytes(), m.checkSize(src.String(), n)
}
