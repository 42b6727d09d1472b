package structure

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// A structure's file is the magic, the structure's digest, the SHA-256 of what follows, and that: numbers of 64 bits and
// arrays as they are in memory, each behind its length and padded to 8 bytes. All is little-endian. The magic changes with
// the form of the arrays.
const (
	fileMagic   = "cuzk constraints\x00\x00\x00\x00\x00\x00\x00\x01"
	headerBytes = len(fileMagic) + DigestBytes + sha256.Size
)

// WriteTo writes the structure as a file. digest is its Digest, under which it is found again.
func (s *Structure) WriteTo(out io.Writer, digest [DigestBytes]byte) error {
	e := &encoder{}
	e.structure(s)
	sum := sha256.New()
	for _, part := range e.parts {
		sum.Write(part)
	}
	header := sum.Sum(append([]byte(fileMagic), digest[:]...))
	for _, part := range append([][]byte{header}, e.parts...) {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// Parse reads what WriteTo wrote. The structure keeps data, which must be aligned to 8 bytes, as what is read at once is.
// A file of another structure, or one that has changed, is refused.
func Parse(data []byte, digest [DigestBytes]byte) (*Structure, error) {
	if len(data) < headerBytes || string(data[:len(fileMagic)]) != fileMagic {
		return nil, errors.New("not a file of constraints, or of another version")
	}
	header, body := data[len(fileMagic):headerBytes], data[headerBytes:]
	if !bytes.Equal(header[:DigestBytes], digest[:]) {
		return nil, fmt.Errorf("constraints of digest %x, not %x", header[:DigestBytes], digest)
	}
	if sum := sha256.Sum256(body); !bytes.Equal(header[DigestBytes:], sum[:]) {
		return nil, errors.New("the content has changed: its checksum is wrong")
	}
	d := &decoder{data: body}
	s := d.structure()
	if d.short || len(d.data) > 0 {
		return nil, errors.New("the lengths inside do not fit together")
	}
	return s, nil
}

// encoder lists the parts of a file; arrays stay where they are.
type encoder struct{ parts [][]byte }

func (e *encoder) numbers(numbers ...int) {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	e.parts = append(e.parts, b)
}

// encodeArray appends an array of plain numbers.
func encodeArray[T any](e *encoder, array []T) {
	e.numbers(len(array))
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(array))), len(array)*int(unsafe.Sizeof(*new(T))))
	e.parts = append(e.parts, raw, make([]byte, -len(raw)&7))
}

func (e *encoder) structure(s *Structure) {
	templates := s.Templates()
	e.numbers(s.Inputs, s.Aux, s.Constraints, len(templates), len(s.Sections))
	encodeArray(e, s.Coefficients)
	for _, t := range templates {
		e.numbers(t.Inputs, t.Aux, t.Rows, t.BitExternals, t.FullExternals, t.Entries[0], t.Entries[1], t.Entries[2])
		encodeArray(e, t.Full)
		encodeArray(e, t.Products)
		encodeArray(e, t.Sums)
		for i := range t.Long {
			l := &t.Long[i]
			encodeArray(e, l.Row)
			encodeArray(e, l.Start)
			encodeArray(e, l.Split)
			encodeArray(e, l.Slot)
			encodeArray(e, l.Coefficient)
		}
		encodeArray(e, t.Occurs[0])
		encodeArray(e, t.Occurs[1])
		encodeArray(e, t.ExternalBits)
		encodeArray(e, t.ExternalFull)
	}
	for i := range s.Sections {
		section := &s.Sections[i]
		e.numbers(slices.Index(templates, section.Template), section.Copies, section.FirstInput, section.FirstAux, section.FirstRow)
		encodeArray(e, section.Bits)
		encodeArray(e, section.Full)
	}
}

// decoder reads from the front of data. When it is short, everything is zero.
type decoder struct {
	data  []byte
	short bool
}

func (d *decoder) number() int {
	if len(d.data) < 8 {
		d.short, d.data = true, nil
		return 0
	}
	n := binary.LittleEndian.Uint64(d.data)
	d.data = d.data[8:]
	return int(n)
}

// decodeArray is a view of the data.
func decodeArray[T any](d *decoder) []T {
	n, size := d.number(), int(unsafe.Sizeof(*new(T)))
	if n < 0 || n > len(d.data)/size {
		d.short, d.data = true, nil
	}
	if d.short || n == 0 {
		return nil
	}
	array := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(d.data))), n)
	d.data = d.data[min(len(d.data), (n*size+7)&^7):]
	return array
}

// maxParts bounds the numbers of templates and sections, of which circuits have a few.
const maxParts = 1 << 16

func (d *decoder) structure() *Structure {
	s := &Structure{Inputs: d.number(), Aux: d.number(), Constraints: d.number()}
	templates, sections := d.number(), d.number()
	if uint(templates) > maxParts || uint(sections) > maxParts {
		d.short = true
		return nil
	}
	s.Coefficients = decodeArray[curve.Scalar](d)
	var all []*Template
	for range templates {
		if d.short {
			return nil
		}
		all = append(all, d.template())
	}
	for range sections {
		number := d.number()
		if d.short || uint(number) >= uint(len(all)) {
			d.short = true
			return nil
		}
		section := Section{Template: all[number], Copies: d.number(), FirstInput: d.number(), FirstAux: d.number(), FirstRow: d.number()}
		section.Bits, section.Full = decodeArray[Var](d), decodeArray[Var](d)
		s.Sections = append(s.Sections, section)
	}
	return s
}

func (d *decoder) template() *Template {
	t := &Template{Inputs: d.number(), Aux: d.number(), Rows: d.number(), BitExternals: d.number(), FullExternals: d.number(),
		Entries: [3]int{d.number(), d.number(), d.number()}}
	t.Full, t.Products, t.Sums = decodeArray[uint32](d), decodeArray[Product](d), decodeArray[Sum](d)
	for i := range t.Long {
		t.Long[i] = LongRows{Row: decodeArray[uint32](d), Start: decodeArray[uint32](d), Split: decodeArray[uint32](d),
			Slot: decodeArray[uint32](d), Coefficient: decodeArray[uint16](d)}
	}
	t.Occurs = [2][]uint64{decodeArray[uint64](d), decodeArray[uint64](d)}
	t.ExternalBits, t.ExternalFull = decodeArray[Occurrence](d), decodeArray[Occurrence](d)
	t.rank()
	return t
}
