package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// download is one transfer into the scratch directory. Its file is named after the source and what pins it, with
// ".part" while it is not whole; a note beside the part says of which version it is.
type download struct {
	Fetch
	src  Source
	hash *Hasher

	part  *os.File
	done  int64 // bytes in the part, all hashed
	total int64 // or -1
	note  note
	moved int64
	// resumed says that bytes of an earlier process are in the part.
	resumed bool
}

type note struct {
	Source  string `json:"source"`
	Version string `json:"version,omitempty"`
}

func (d *download) path() string {
	id := sha256.Sum256([]byte(d.src.String() + "\n" + string(d.Digest)))
	return filepath.Join(d.Dir, hex.EncodeToString(id[:16]))
}

func (d *download) run(ctx context.Context) (*Fetched, error) {
	if d.Attempts == 0 {
		d.Attempts = 8
	}
	if d.Stall == 0 {
		d.Stall = time.Minute
	}
	if d.Wait == nil {
		d.Wait = backoff
	}
	if d.SizeBytes > 0 && d.MaxBytes > 0 && d.SizeBytes > d.MaxBytes {
		return nil, d.checkSize(d.src.String(), d.SizeBytes)
	}
	unlock, err := d.lock(ctx)
	if err != nil {
		return nil, fmt.Errorf("download of %s: %w", d.src, err)
	}
	defer unlock()
	if got, err := d.whole(ctx); got != nil || err != nil {
		return got, err
	}
	if err := d.openPart(ctx); err != nil {
		return nil, fmt.Errorf("download of %s: %w", d.src, err)
	}
	defer func() {
		if d.part != nil {
			d.part.Close()
		}
	}()
	for {
		if err := d.transfer(ctx); err != nil {
			return nil, err
		}
		err := d.hash.Check()
		if err == nil {
			return d.keep()
		}
		// A part of an earlier process may be of other bytes; from the start there is no such excuse.
		wasResumed := d.resumed
		if e := d.restart(); e != nil {
			return nil, e
		}
		if !wasResumed {
			d.discard()
			return nil, wrap(d.src.String(), nil, err)
		}
	}
}

// lock keeps two downloads of the same content, of this process or another, from writing one part; the later one then
// finds it whole.
func (d *download) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return nil, err
	}
	h, err := os.OpenFile(d.path()+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(h.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { h.Close() }, nil
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			t := time.NewTimer(200 * time.Millisecond)
			select {
			case <-t.C:
				continue
			case <-ctx.Done():
				t.Stop()
				err = ctx.Err()
			}
		}
		h.Close()
		return nil, err
	}
}

// whole uses a finished download of an earlier call, if its content is pinned and right.
func (d *download) whole(ctx context.Context) (*Fetched, error) {
	if d.Digest == "" {
		return nil, nil
	}
	h, err := os.Open(d.path())
	if err != nil {
		return nil, nil
	}
	st, err := h.Stat()
	if err == nil {
		err = d.rehash(ctx, h, d.hash, st.Size())
	}
	if err == nil {
		err = d.hash.Check()
	}
	if err != nil {
		h.Close()
		d.hash.Reset()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil // damaged: fetched anew, and replaced
	}
	if err := d.checkSize(d.src.String(), st.Size()); err != nil {
		h.Close()
		return nil, err
	}
	return &Fetched{File: h, Path: d.path(), Size: st.Size(), SHA256: d.hash.SHA256(), Hashed: true}, nil
}

// openPart opens what an earlier process left, and hashes it, or begins anew.
func (d *download) openPart(ctx context.Context) error {
	part, err := os.OpenFile(d.path()+".part", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	d.part = part
	d.total = -1
	data, err := os.ReadFile(d.path() + ".note")
	if err != nil || json.Unmarshal(data, &d.note) != nil || d.note.Source != d.src.String() ||
		d.note.Version == "" && d.Digest == "" { // nothing would tell that the rest is of the same content
		return d.restart()
	}
	st, err := part.Stat()
	if err != nil {
		return err
	}
	if d.SizeBytes > 0 && st.Size() > d.SizeBytes {
		return d.restart()
	}
	if err := d.rehash(ctx, part, d.hash, st.Size()); err != nil {
		return err
	}
	d.done, d.resumed = st.Size(), st.Size() > 0
	return nil
}

func (d *download) restart() error {
	d.hash.Reset()
	d.done, d.resumed, d.note = 0, false, note{Source: d.src.String()}
	return d.part.Truncate(0)
}

func (d *download) discard() {
	os.Remove(d.path() + ".part")
	os.Remove(d.path() + ".note")
}

// transfer brings the rest of the content, over as many attempts as it takes while each makes headway.
func (d *download) transfer(ctx context.Context) error {
	for failed := 0; ; {
		before := d.moved
		err := d.attempt(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, ErrAbsent) || errors.Is(err, ErrRefused) || errors.Is(err, ErrSize) || errors.Is(err, errDisk) {
			return err
		}
		if errors.Is(err, ErrChanged) {
			if e := d.restart(); e != nil {
				return e
			}
		}
		if d.moved > before {
			failed = 0
		}
		if failed++; failed >= d.Attempts {
			return fmt.Errorf("gave up after %d attempts without progress: %w", failed, err)
		}
		var ra *RetryAfter
		var atLeast time.Duration
		if errors.As(err, &ra) {
			atLeast = ra.Wait
		}
		if err := d.Wait(ctx, failed, atLeast); err != nil {
			return err
		}
	}
}

// errDisk marks an error of the scratch directory, which no other attempt mends.
var errDisk = errors.New("cannot write to the scratch directory")

func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(d.Stall, func() { cancel(fmt.Errorf("nothing arrived for %s", d.Stall)) })
	defer stalled.Stop()

	s, err := d.src.Open(ctx, d.done, d.note.Version)
	if err != nil {
		return stallCause(ctx, err)
	}
	defer s.Close()
	if s.Offset != d.done {
		if s.Offset != 0 {
			return fmt.Errorf("%s: source answered from byte %d, not %d", d.src, s.Offset, d.done)
		}
		if err := d.restart(); err != nil {
			return err
		}
	}
	if s.Info.Size >= 0 {
		if err := d.checkSize(d.src.String(), s.Info.Size); err != nil {
			return err
		}
		if err := d.room(s.Info.Size - d.done); err != nil {
			return err
		}
	}
	d.total = s.Info.Size
	if err := d.remember(s.Info.Version); err != nil {
		return err
	}
	return stallCause(ctx, d.copy(s, func() { stalled.Reset(d.Stall) }))
}

// stallCause names the stall instead of the cancellation that it led to.
func stallCause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		if c := context.Cause(ctx); c != nil {
			return c
		}
	}
	return err
}

// remember writes the note beside the part before the first byte of a version.
func (d *download) remember(version string) error {
	if d.note.Version == version && d.done > 0 {
		return nil
	}
	d.note.Version = version
	data, err := json.Marshal(d.note)
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.path()+".note", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	return nil
}

func (d *download) copy(s *Stream, arrived func()) error {
	limit := d.total
	if limit < 0 {
		limit = d.SizeBytes
	}
	if limit <= 0 {
		limit = d.MaxBytes
	}
	p := d.progress(d.total)
	buf := make([]byte, 1<<18)
	for {
		n, err := s.Read(buf)
		if n > 0 {
			arrived()
			if limit > 0 && d.done+int64(n) > limit {
				return wrap(d.src.String(), nil, fmt.Errorf("%w: content goes on after %d bytes", ErrSize, limit))
			}
			if _, err := d.part.WriteAt(buf[:n], d.done); err != nil {
				return fmt.Errorf("%w: %w", errDisk, err)
			}
			d.hash.Write(buf[:n])
			d.done += int64(n)
			d.moved += int64(n)
			p(d.done)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return wrap(d.src.String(), nil, err)
		}
	}
	if d.total >= 0 && d.done < d.total {
		return wrap(d.src.String(), nil, io.ErrUnexpectedEOF)
	}
	return d.checkSize(d.src.String(), d.done)
}

// keep gives the part its final name.
func (d *download) keep() (*Fetched, error) {
	if err := d.part.Sync(); err != nil {
		return nil, fmt.Errorf("%w: %w", errDisk, err)
	}
	if err := os.Rename(d.path()+".part", d.path()); err != nil {
		return nil, fmt.Errorf("%w: %w", errDisk, err)
	}
	os.Remove(d.path() + ".note")
	h := d.part
	d.part = nil
	if _, err := h.Seek(0, io.SeekStart); err != nil {
		h.Close()
		return nil, err
	}
	return &Fetched{File: h, Path: d.path(), Size: d.done, SHA256: d.hash.SHA256(), Hashed: true, Transferred: d.moved}, nil
}

func backoff(ctx context.Context, attempt int, atLeast time.Duration) error {
	wait := min(time.Second<<min(attempt-1, 5), 30*time.Second)
	wait = max(wait/2+rand.N(wait/2+1), min(atLeast, 5*time.Minute))
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// room refuses a download that the scratch directory cannot hold, before it is begun.
func (d *download) room(bytes int64) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(d.Dir, &st); err != nil {
		return nil // the write will tell
	}
	if free := int64(st.Bavail) * st.Bsize; bytes > free {
		return fmt.Errorf("%w: %s has %d bytes free, the rest of %s takes %d", errDisk, d.Dir, free, d.src, bytes)
	}
	return nil
}
