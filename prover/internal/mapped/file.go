// Package mapped opens files as memory, read-only, so that a proving key of many gigabytes costs no copy and is shared
// between the processes of a machine through its page cache.
//
// Memory that maps a file has one danger that a read has not: if the file shrinks, or its storage fails, touching it
// raises SIGBUS, which ends a Go process. Guard turns that into an error for the goroutine that it runs on; whoever
// starts goroutines that touch mapped memory guards each of them (package parallel does). Code that cannot be guarded,
// for instance a library with goroutines of its own, must run on a copy where files may change underneath.
package mapped

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// File is a file as memory. The memory is valid until Close.
type File struct {
	name    string
	data    []byte
	size    int64
	modTime time.Time
	unmap   func() error
}

// Open maps a regular file; what cannot be mapped (a pipe, a file system without mmap) is read into memory.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer f.Close()
	return FromFile(f, path)
}

// FromFile maps an open file, which the caller may close afterwards. The name is the one for messages.
func FromFile(f *os.File, name string) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, failure.New(failure.IO, "read the file's size: %w", err).In(name)
	}
	if info.IsDir() {
		return nil, failure.New(failure.Usage, "is a directory, not a file").In(name)
	}
	m := &File{name: name, size: info.Size(), modTime: info.ModTime()}
	if info.Mode().IsRegular() && m.size == 0 {
		return m, nil
	}
	if info.Mode().IsRegular() && int64(int(m.size)) == m.size {
		if data, unmap, err := mapFile(f, int(m.size)); err == nil {
			m.data, m.unmap = data, unmap
			return m, nil
		}
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, failure.New(failure.IO, "read: %w", err).In(name)
	}
	m.data, m.size = data, int64(len(data))
	return m, nil
}

func openError(path string, err error) error {
	class := failure.IO
	fix := ""
	switch {
	case os.IsNotExist(err):
		class, fix = failure.Usage, "check the path"
	case os.IsPermission(err):
		class, fix = failure.Usage, "make the file readable for the user that the prover runs as"
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	e := failure.New(class, "cannot be opened: %w", err).In(path)
	if fix != "" {
		e = e.WithFix("%s", fix)
	}
	return e
}

// Name is the path the file was opened by.
func (m *File) Name() string { return m.name }

// Bytes is the file's content; it must not be written to.
func (m *File) Bytes() []byte { return m.data }

// Size is the file's size in bytes when it was opened.
func (m *File) Size() int64 { return m.size }

// ModTime is the file's time of modification when it was opened.
func (m *File) ModTime() time.Time { return m.modTime }

// Mapped reports that Bytes is the page cache, not a copy.
func (m *File) Mapped() bool { return m.unmap != nil }

// Close gives the memory back. Slices of it must not be used any more.
func (m *File) Close() error {
	unmap := m.unmap
	m.data, m.unmap = nil, nil
	if unmap == nil {
		return nil
	}
	if err := unmap(); err != nil {
		return fmt.Errorf("unmap %s: %w", m.name, err)
	}
	return nil
}
