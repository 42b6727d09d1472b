package job

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// Files are the pieces of an input that lie in files. They are mapped, not read.
type Files struct {
	Pieces []Piece
	mapped []*mapped.File
}

// MostFiles bounds a folder of vanilla proofs: as many sectors as eight partitions of the largest window PoSt.
const MostFiles = 1 << 15

// OpenFiles opens a file, or all files of a folder whose name does not begin with a dot, in the order of their names, where
// numbers count as such. What is named as an exception is left out of a folder. Errors are of class Input, Usage or IO.
func OpenFiles(path string, except ...string) (*Files, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, failure.New(failure.Usage, "%w", withoutPath(err)).In(path).WithFix("check the path")
	}
	paths := []string{path}
	if st.IsDir() {
		names, err := filesOf(os.DirFS(path), path, except)
		if err != nil {
			return nil, err
		}
		paths = make([]string, len(names))
		for i, name := range names {
			paths[i] = filepath.Join(path, name)
		}
	}
	f := &Files{}
	for _, p := range paths {
		m, err := mapped.Open(p)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.add(m)
	}
	return f, nil
}

// OpenFile is OpenFiles for a file that is open; the caller may close it afterwards. The name is for messages.
func OpenFile(file *os.File, name string) (*Files, error) {
	m, err := mapped.FromFile(file, name)
	if err != nil {
		return nil, err
	}
	f := &Files{}
	f.add(m)
	return f, nil
}

// OpenFolder is OpenFiles for an open folder, which nothing in it leads out of. The name is for messages.
func OpenFolder(folder *os.Root, name string) (*Files, error) {
	names, err := filesOf(folder.FS(), name, nil)
	if err != nil {
		return nil, err
	}
	f := &Files{}
	for _, n := range names {
		m, err := mapBelow(folder, n, filepath.Join(name, n))
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.add(m)
	}
	return f, nil
}

// mapBelow maps a file below a root; others may have filled the folder, so that nothing but a regular file is opened.
func mapBelow(folder *os.Root, path, name string) (*mapped.File, error) {
	st, err := folder.Stat(path)
	if err != nil {
		return nil, failure.New(failure.IO, "%w", withoutPath(err)).In(name)
	}
	if !st.Mode().IsRegular() {
		return nil, failure.New(failure.Input, "is not a regular file").In(name)
	}
	file, err := folder.Open(path)
	if err != nil {
		return nil, failure.New(failure.IO, "%w", withoutPath(err)).In(name)
	}
	defer file.Close()
	return mapped.FromFile(file, name)
}

// withoutPath is an error of the file system for a message that names the file itself.
func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (f *Files) add(m *mapped.File) {
	f.mapped = append(f.mapped, m)
	f.Pieces = append(f.Pieces, Piece{m.Name(), m.Bytes()})
}

// Close unmaps the files. A job that was read from them does not need them any more.
func (f *Files) Close() error {
	var errs []error
	for _, m := range f.mapped {
		errs = append(errs, m.Close())
	}
	f.Pieces, f.mapped = nil, nil
	return errors.Join(errs...)
}

// filesOf lists the names of a folder's files but for some, in their order. The path is where the folder lies, and its name
// in messages.
func filesOf(folder fs.FS, path string, except []string) ([]string, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, failure.New(failure.IO, "%w", withoutPath(err)).In(path)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !isOneOf(filepath.Join(path, e.Name()), except) {
			names = append(names, e.Name())
		}
	}
	switch {
	case len(names) == 0:
		return nil, failure.New(failure.Input, "the folder holds no files").In(path)
	case len(names) > MostFiles:
		return nil, failure.New(failure.Input, "the folder holds %d files, more than the %d that there can be", len(names), MostFiles).In(path)
	}
	slices.SortFunc(names, compareNames)
	return names, nil
}

// isOneOf tells whether a path leads to one of these files.
func isOneOf(path string, files []string) bool {
	if len(files) == 0 {
		return false
	}
	st, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(files, func(other string) bool {
		o, err := os.Stat(other)
		return err == nil && os.SameFile(st, o)
	})
}

// compareNames orders names so that partition 2 comes before partition 10.
func compareNames(a, b string) int {
	for a != "" && b != "" {
		x, restA := leadingNumber(a)
		y, restB := leadingNumber(b)
		if x == "" || y == "" {
			if c := cmp.Compare(a[0], b[0]); c != 0 {
				return c
			}
			a, b = a[1:], b[1:]
			continue
		}
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// leadingNumber is the number that a text begins with, without leading zeros, and what follows it; a number of zeros alone
// is "0".
func leadingNumber(s string) (number, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return "", s
	}
	number = strings.TrimLeft(s[:n-1], "0") + s[n-1:n]
	return number, s[n:]
}
