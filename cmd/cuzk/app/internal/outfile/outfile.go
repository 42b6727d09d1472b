// Package outfile writes the files of one result so that either all of them are there, whole, or none has changed.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// File is a file to be written.
type File struct {
	Path string
	Data []byte
}

// Check refuses, before anything is computed, paths that cannot be written: no such folder, no right to write, a folder;
// and paths that are an input or each other.
func Check(paths []string, inputs ...string) error {
	for i, p := range paths {
		for _, q := range paths[:i] {
			if same(p, q) {
				return failure.New(failure.Usage, "two results cannot go into one file").In(p)
			}
		}
		for _, in := range inputs {
			if in != "" && same(p, in) {
				return failure.New(failure.Usage, "the result would overwrite an input").In(p).WithFix("name another file for it")
			}
		}
		if err := writable(p); err != nil {
			return err
		}
	}
	return nil
}

func same(a, b string) bool {
	sa, ea := os.Stat(a)
	sb, eb := os.Stat(b)
	if ea == nil && eb == nil {
		return sa.Mode().IsRegular() && os.SameFile(sa, sb)
	}
	if ea == nil || eb == nil {
		return false
	}
	// Neither is there: compare folder and name.
	da, ea := os.Stat(filepath.Dir(a))
	db, eb := os.Stat(filepath.Dir(b))
	return ea == nil && eb == nil && os.SameFile(da, db) && filepath.Base(a) == filepath.Base(b)
}

func writable(path string) error {
	st, err := os.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return failure.New(failure.Usage, "is a folder, not a file to write to").In(path)
	case err == nil && !st.Mode().IsRegular(): // a pipe or terminal
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return failure.New(failure.Usage, "cannot be written: %w", cause(err)).In(path)
	}
	dir := filepath.Dir(resolve(path))
	st, err = os.Stat(dir)
	if err != nil {
		return failure.New(failure.Usage, "the folder %s: %w", dir, cause(err)).In(path).WithFix("make the folder first")
	}
	if !st.IsDir() {
		return failure.New(failure.Usage, "%s is not a folder", dir).In(path)
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return failure.New(failure.Usage, "the folder %s cannot be written to: %w", dir, err).In(path)
	}
	return nil
}

// resolve follows a link, so that what it points to is replaced and the link stays.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Write writes all files: each into a temporary file beside its place, then all are put in place. On an error no
// temporary file stays and what was there before is still, or again, there.
func Write(files []File) (err error) {
	staged := make([]*staged, 0, len(files))
	defer func() {
		for _, s := range staged {
			s.discard(err != nil)
		}
	}()
	for _, f := range files {
		s, err := stage(f)
		if s != nil {
			staged = append(staged, s)
		}
		if err != nil {
			return failure.New(failure.IO, "write: %w", cause(err)).In(f.Path)
		}
	}
	for _, s := range staged {
		if err := s.place(); err != nil {
			return failure.New(failure.IO, "write: %w", cause(err)).In(s.path)
		}
	}
	return nil
}

// staged is a file on its way.
type staged struct {
	path string // as named by the user
	dest string // with links followed
	tmp  string // empty if dest is written to directly
	old  string // a second name of what was there before
	data []byte
	// existed says that dest was there before.
	existed bool
	// placed says that dest is the new content.
	placed bool
}

func stage(f File) (*staged, error) {
	s := &staged{path: f.Path, dest: resolve(f.Path), data: f.Data}
	st, err := os.Stat(s.dest)
	exists := err == nil
	if exists && !st.Mode().IsRegular() {
		return s, nil
	}
	s.existed = exists
	// Not os.CreateTemp, whose files nobody else may read: a new file gets the mode that the umask leaves.
	tmp := filepath.Join(filepath.Dir(s.dest), fmt.Sprintf(".%s.tmp-%d-%08x", filepath.Base(s.dest), os.Getpid(), rand.Uint32()))
	h, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return s, err
	}
	s.tmp = tmp
	_, err = h.Write(f.Data)
	if err == nil && exists {
		err = h.Chmod(st.Mode().Perm())
	}
	if err == nil {
		err = h.Sync()
	}
	if e := h.Close(); err == nil {
		err = e
	}
	if err != nil || !exists {
		return s, err
	}
	// File systems without hard links do without the way back.
	old := s.tmp + ".old"
	if os.Link(s.dest, old) == nil {
		s.old = old
	}
	return s, nil
}

func (s *staged) place() error {
	if s.tmp == "" {
		h, err := os.OpenFile(s.dest, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = h.Write(s.data)
		if e := h.Close(); err == nil {
			err = e
		}
		return err
	}
	if err := os.Rename(s.tmp, s.dest); err != nil {
		return err
	}
	s.tmp, s.placed = "", true
	return nil
}

// discard removes what is temporary, and undoes a placing that is part of a failure.
func (s *staged) discard(failed bool) {
	if s.tmp != "" {
		os.Remove(s.tmp)
	}
	if failed && s.placed {
		if s.old != "" {
			if os.Rename(s.old, s.dest) == nil {
				s.old = ""
			}
		} else if !s.existed {
			os.Remove(s.dest)
		}
	}
	if s.old != "" {
		os.Remove(s.old)
	}
}
