package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is the source of a path that the user of this process named; it may point anywhere.
func File(path string) Local {
	return &file{name: path, open: func() (*os.File, error) { return os.Open(path) }}
}

// Below is the source of a path below a root directory, neither absolute nor leaving it by ".." or by a link.
func Below(root, path string) (Local, error) {
	if !filepath.IsLocal(path) {
		return nil, fmt.Errorf("path %q must be relative and stay below its root, without \"..\"", path)
	}
	return &file{name: filepath.Join(root, path), rooted: root, open: func() (*os.File, error) {
		r, err := os.OpenRoot(root)
		if err != nil {
			return nil, err
		}
		defer r.Close() // what is open below it stays open
		return r.Open(path)
	}}, nil
}

type file struct {
	name   string
	rooted string // the root that the file must be below; empty without one
	open   func() (*os.File, error)
}

func (f *file) String() string { return f.name }

func (f *file) OpenFile() (*os.File, error) {
	h, err := f.open()
	if err != nil {
		return nil, f.explain(err)
	}
	st, err := h.Stat()
	// A user may name a pipe; nothing below a root that others fill is one.
	if err == nil && (st.IsDir() || f.rooted != "" && !st.Mode().IsRegular()) {
		err = ErrNotFile
	}
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return h, nil
}

func (f *file) explain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err // the path is said already
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wrap(f.name, ErrAbsent, nil)
	case errors.Is(err, fs.ErrPermission):
		return wrap(f.name, ErrRefused, err)
	}
	return wrap(f.name, nil, err)
}

func (f *file) Open(_ context.Context, offset int64, version string) (*Stream, error) {
	h, err := f.OpenFile()
	if err != nil {
		return nil, err
	}
	st, err := h.Stat()
	if err != nil {
		h.Close()
		return nil, f.explain(err)
	}
	info := Info{Size: st.Size(), Version: fmt.Sprintf("%d-%d", st.ModTime().UnixNano(), st.Size())}
	if offset > st.Size() || version != "" && version != info.Version {
		offset = 0
	}
	if _, err := h.Seek(offset, io.SeekStart); err != nil {
		h.Close()
		return nil, f.explain(err)
	}
	return &Stream{ReadCloser: h, Info: info, Offset: offset}, nil
}
