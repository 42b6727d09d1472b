package pipeline

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// File is a file that the caller has opened, or content in memory. The pipeline does not close it.
type File struct {
	// Name is for messages.
	Name string
	// File is nil for content in memory.
	File *os.File
	Data []byte
}

// OpenFile opens a file by its path, naming it after the path.
func OpenFile(path string, class failure.Class) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, failure.New(class, "%w", err).In(path).WithFix("check the path")
	}
	return &File{Name: path, File: f}, nil
}

// Close closes the file, if there is one.
func (f *File) Close() error {
	if f == nil || f.File == nil {
		return nil
	}
	return f.File.Close()
}

// contents is a file's bytes, mapped or in memory.
type contents struct {
	data   []byte
	mapped *mapped.File
}

func (f *File) contents() (*contents, error) {
	if f.File == nil {
		return &contents{data: f.Data}, nil
	}
	m, err := mapped.FromFile(f.File, f.Name)
	if err != nil {
		return nil, err
	}
	return &contents{data: m.Bytes(), mapped: m}, nil
}

func (c *contents) Close() error {
	if c.mapped == nil {
		return nil
	}
	return c.mapped.Close()
}

// parse hands a file's bytes to a reader that keeps none of them.
func (f *File) parse(read func(data []byte) error) error {
	c, err := f.contents()
	if err != nil {
		return err
	}
	err = mapped.Guard(func() error { return read(c.data) })
	return errors.Join(err, c.Close())
}

// begins tells whether the file's first bytes are these.
func (f *File) begins(magic string) bool {
	head := make([]byte, len(magic))
	if f.File == nil {
		return bytes.HasPrefix(f.Data, []byte(magic))
	}
	n, err := f.File.ReadAt(head, 0)
	return (err == nil || err == io.EOF) && n == len(magic) && string(head) == magic
}

// firstByte is the first byte that is not white space, 0 if there is none near the beginning.
func (f *File) firstByte() byte {
	head := f.Data
	if f.File != nil {
		head = make([]byte, 256)
		n, _ := f.File.ReadAt(head, 0) // a file that cannot be read tells so to whoever reads it whole
		head = head[:n]
	}
	for _, b := range head[:min(len(head), 256)] {
		if b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b
		}
	}
	return 0
}
