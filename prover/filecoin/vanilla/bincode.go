package vanilla

import (
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// bincodeReader reads bincode 1 in its default form: little-endian numbers of fixed width, lengths of 64 bits, enums
// numbered with 32.
type bincodeReader struct {
	place
	data []byte
	at   int
}

func newBincodeReader(file string, data []byte) *bincodeReader {
	return &bincodeReader{place: place{file: file}, data: data}
}

// take returns the next n bytes, or nil where there are none.
func (r *bincodeReader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if left := len(r.data) - r.at; n > left {
		r.fail(r.at, "the file ends: %s wanted and %d left", noun(n, "byte"), left)
		return nil
	}
	b := r.data[r.at : r.at+n]
	r.at += n
	return b
}

func (r *bincodeReader) object(fields ...field) {
	for _, f := range fields {
		if f.value == nil {
			continue
		}
		if r.err != nil {
			return
		}
		r.enter(f.name)
		f.value()
		r.leave()
	}
}

func (r *bincodeReader) list(length int, begin func(), item func(i int)) {
	var n uint64
	r.uint64(&n)
	if r.err != nil {
		return
	}
	if n != uint64(length) {
		r.fail(r.at-8, "has %d items, there must be %d", n, length)
		return
	}
	if begin != nil {
		begin()
	}
	for i := range length {
		if r.err != nil {
			return
		}
		r.enterItem(i)
		item(i)
		r.leave()
	}
}

func (r *bincodeReader) variant(tag uint32, name string, content func()) {
	var got uint32
	r.uint32(&got)
	if r.err == nil && got != tag {
		r.fail(r.at-4, "is variant %d, not %d (%s)", got, tag, name)
		return
	}
	r.enter(name)
	content()
	r.leave()
}

func (r *bincodeReader) node(n *filecoin.Node) {
	r.bytes32(n)
	if r.err == nil && !n.IsCanonical() {
		r.fail(r.at-filecoin.NodeBytes, "%s", notCanonical)
	}
}

const notCanonical = "is not below the modulus of BLS12-381's scalar field"

func (r *bincodeReader) bytes32(n *filecoin.Node) {
	if b := r.take(filecoin.NodeBytes); b != nil {
		*n = filecoin.Node(b)
	}
}

func (r *bincodeReader) uint32(v *uint32) {
	if b := r.take(4); b != nil {
		*v = binary.LittleEndian.Uint32(b)
	}
}

func (r *bincodeReader) uint64(v *uint64) {
	if b := r.take(8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

func (r *bincodeReader) check(ok bool, format string, args ...any) {
	if !ok {
		r.fail(r.at, format, args...)
	}
}

// end refuses bytes that are left over.
func (r *bincodeReader) end() error {
	if r.err == nil && r.at < len(r.data) {
		r.fail(r.at, "%s left behind its end", noun(len(r.data)-r.at, "byte"))
	}
	return r.result()
}

// bincodeWriter writes what bincodeReader reads.
type bincodeWriter struct{ out []byte }

func (w *bincodeWriter) object(fields ...field) {
	for _, f := range fields {
		if f.value != nil {
			f.value()
		}
	}
}

func (w *bincodeWriter) list(length int, _ func(), item func(i int)) {
	w.out = binary.LittleEndian.AppendUint64(w.out, uint64(length))
	for i := range length {
		item(i)
	}
}

func (w *bincodeWriter) variant(tag uint32, _ string, content func()) {
	w.out = binary.LittleEndian.AppendUint32(w.out, tag)
	content()
}

func (w *bincodeWriter) node(n *filecoin.Node)      { w.out = append(w.out, n[:]...) }
func (w *bincodeWriter) bytes32(n *filecoin.Node)   { w.out = append(w.out, n[:]...) }
func (w *bincodeWriter) uint32(v *uint32)           { w.out = binary.LittleEndian.AppendUint32(w.out, *v) }
func (w *bincodeWriter) uint64(v *uint64)           { w.out = binary.LittleEndian.AppendUint64(w.out, *v) }
func (w *bincodeWriter) check(bool, string, ...any) {}
