// Package binfile reads the container that iden3's tools keep their files in (.r1cs, .wtns, .zkey): a magic of four
// letters, a version, and sections in any order, all little-endian. No length is believed before it has been compared
// with the size of the file.
package binfile

import (
	"encoding/binary"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// headerBytes is magic, version, number of sections; sectionHeaderBytes is id and size.
const (
	headerBytes        = 12
	sectionHeaderBytes = 12
)

// Format describes one kind of container.
type Format struct {
	// Magic is the four letters that the file begins with.
	Magic string
	// Kind is what the file is called in messages, for instance "proving key".
	Kind string
	// MaxVersion is the highest version that is understood; the lowest is 1.
	MaxVersion uint32
	// Class is the class of errors in such a file.
	Class failure.Class
	// Sections names the sections that are read; others are ignored.
	Sections map[uint32]string
}

// Container is a file of which the table of sections has been read and checked.
type Container struct {
	format   Format
	file     string
	version  uint32
	sections map[uint32]*Section
	trailing int
	size     int
}

// Section is one section's place and content.
type Section struct {
	file   string
	class  failure.Class
	label  string
	offset int64
	data   []byte
	count  int
}

// Parse reads the table of sections. The name of the file is for messages.
func Parse(file string, data []byte, format Format) (*Container, error) {
	c := &Container{format: format, file: file, sections: make(map[uint32]*Section), size: len(data)}
	fail := func(offset int, msg string, args ...any) *failure.Error {
		e := failure.New(format.Class, msg, args...).In(file)
		e.Offset = int64(offset)
		return e
	}
	fix := fmt.Sprintf("hand in a complete %s file as the tool that made it wrote it", format.Magic)
	if len(data) == 0 {
		return nil, failure.New(format.Class, "the file is empty").In(file).WithFix("%s", fix)
	}
	if len(data) < len(format.Magic) || string(data[:len(format.Magic)]) != format.Magic {
		return nil, fail(0, "is not a %s: it must begin with %q but begins with %q", format.Kind, format.Magic,
			data[:min(len(data), len(format.Magic))]).WithFix("check that the right file is named")
	}
	if len(data) < headerBytes {
		return nil, fail(len(data), "the file ends inside its header of %d bytes", headerBytes).WithFix("%s", fix)
	}
	c.version = binary.LittleEndian.Uint32(data[4:])
	if c.version < 1 || c.version > format.MaxVersion {
		return nil, fail(4, "version %d of the %s format is not supported (known: 1 to %d)", c.version, format.Kind,
			format.MaxVersion).WithFix("write the file again with a tool that writes a supported version")
	}
	n := binary.LittleEndian.Uint32(data[8:])
	at := headerBytes
	for i := range n {
		if len(data)-at < sectionHeaderBytes {
			return nil, fail(at, "the file ends where section %d of %d should begin: it is truncated, or the number of sections is wrong",
				i+1, n).WithFix("%s", fix)
		}
		id := binary.LittleEndian.Uint32(data[at:])
		size := binary.LittleEndian.Uint64(data[at+4:])
		body := at + sectionHeaderBytes
		if size > uint64(len(data)-body) {
			return nil, failure.New(format.Class, "says it has %d bytes but the file has only %d more: it is truncated, or the size is wrong",
				size, len(data)-body).In(file).At(format.label(id), int64(at)).WithFix("%s", fix)
		}
		end := body + int(size)
		if _, known := format.Sections[id]; known {
			if s := c.sections[id]; s != nil {
				s.count++
			} else {
				c.sections[id] = &Section{file: file, class: format.Class, label: format.label(id), offset: int64(body),
					data: data[body:end:end], count: 1}
			}
		}
		at = end
	}
	c.trailing = len(data) - at
	return c, nil
}

func (f Format) label(id uint32) string {
	if name, ok := f.Sections[id]; ok {
		return fmt.Sprintf("section %d (%s)", id, name)
	}
	return fmt.Sprintf("section %d", id)
}

// Version is the format's version that the file says it has.
func (c *Container) Version() uint32 { return c.version }

// Trailing is the number of bytes behind the last section.
func (c *Container) Trailing() int { return c.trailing }

// Has reports whether the file holds a section at all.
func (c *Container) Has(id uint32) bool { return c.sections[id] != nil }

// Section returns a section that must be there once.
func (c *Container) Section(id uint32) (*Section, error) {
	s := c.sections[id]
	if s == nil {
		return nil, failure.New(c.format.Class, "%s is missing", c.format.label(id)).In(c.file).
			WithFix("the %s is incomplete; write it again", c.format.Kind)
	}
	if s.count > 1 {
		return nil, failure.New(c.format.Class, "%s is there %d times, so it is unclear which one counts", s.label, s.count).
			In(c.file).WithFix("the %s is damaged; write it again", c.format.Kind)
	}
	return s, nil
}

// Offset is where the section's content begins in the file.
func (s *Section) Offset() int64 { return s.offset }

// Bytes is the section's content.
func (s *Section) Bytes() []byte { return s.data }

// Len is the size of the section's content.
func (s *Section) Len() int { return len(s.data) }

// Errorf makes an error about the byte at an offset within the section.
func (s *Section) Errorf(offset int, msg string, args ...any) *failure.Error {
	return failure.New(s.class, msg, args...).In(s.file).At(s.label, s.offset+int64(offset))
}

// Expect refuses a section that is not exactly size bytes long. The size is a product of counts from the file, so it
// comes as 64 bits and is compared before it is used.
func (s *Section) Expect(size uint64, why string, args ...any) error {
	if uint64(len(s.data)) == size {
		return nil
	}
	return s.Errorf(0, "has %d bytes but must have %d (%s)", len(s.data), size, fmt.Sprintf(why, args...))
}
