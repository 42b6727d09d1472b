package vanilla

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// jsonReader reads JSON in place, without a tree of values: an input of 50 MB is nearly all arrays of 32 numbers.
type jsonReader struct {
	place
	data []byte
	at   int
}

func newJSONReader(file string, data []byte) *jsonReader {
	return &jsonReader{place: place{file: file}, data: data}
}

// peek is the next byte that is no space, or 0 at the end.
func (r *jsonReader) peek() byte {
	for r.at < len(r.data) {
		switch c := r.data[r.at]; c {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return c
		}
	}
	return 0
}

// accept takes the next byte if it is c.
func (r *jsonReader) accept(c byte) bool {
	if r.err != nil || r.peek() != c {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) expect(c byte, what string) bool {
	if r.accept(c) {
		return true
	}
	if r.at >= len(r.data) {
		r.fail(r.at, "the file ends where %s is wanted", what)
	} else {
		r.fail(r.at, "%q is no %s", r.data[r.at], what)
	}
	return false
}

// text reads a string.
func (r *jsonReader) text(what string) string {
	if !r.expect('"', what) {
		return ""
	}
	start := r.at - 1
	if !r.skipString() {
		return ""
	}
	raw := r.data[start:r.at]
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		r.fail(start, "is no %s: %v", what, err)
	}
	return s
}

// skipString passes a string whose opening quote has been taken.
func (r *jsonReader) skipString() bool {
	for ; r.at < len(r.data); r.at++ {
		switch r.data[r.at] {
		case '"':
			r.at++
			return true
		case '\\':
			r.at++
		}
	}
	r.at = len(r.data)
	r.fail(r.at, "the file ends inside a string")
	return false
}

// skip passes a value, however deep, and returns it. What is in it is not looked at but for brackets and strings.
func (r *jsonReader) skip() []byte {
	r.peek()
	start, depth := r.at, 0
	for r.err == nil && r.at < len(r.data) {
		c := r.data[r.at]
		switch c {
		case '"':
			r.at++
			if !r.skipString() {
				return nil
			}
			if depth == 0 {
				return r.data[start:r.at]
			}
			continue
		case '[', '{':
			depth++
		case ']', '}', ',':
			if depth == 0 { // the end of a number, or of true, false or null
				r.check(r.at > start, "a value is missing")
				return r.data[start:r.at]
			}
			if c == ',' {
				break
			}
			if depth--; depth == 0 {
				r.at++
				return r.data[start:r.at]
			}
		}
		r.at++
	}
	if depth > 0 || start == r.at {
		r.fail(r.at, "the file ends inside a value")
	}
	return r.data[start:r.at]
}

// ignore passes a value that nobody reads.
func (r *jsonReader) ignore() {
	r.peek()
	start := r.at
	if value := r.skip(); r.err == nil && !json.Valid(value) {
		r.fail(start, "is no JSON")
	}
}

// members calls visit for each member of an object; visit must read the value.
func (r *jsonReader) members(visit func(name string)) {
	if !r.expect('{', "object") || r.accept('}') {
		return
	}
	for r.err == nil {
		name := r.text("field's name")
		if !r.expect(':', "colon") {
			return
		}
		visit(name)
		if !r.accept(',') {
			r.expect('}', "end of the object")
			return
		}
	}
}

func (r *jsonReader) object(fields ...field) {
	seen := 0
	r.members(func(name string) {
		for i, f := range fields {
			if f.name != name {
				continue
			}
			r.enter(name)
			defer r.leave()
			if seen>>i&1 == 1 {
				r.fail(r.at, "is there twice")
				return
			}
			seen |= 1 << i
			if f.value == nil {
				r.ignore()
				return
			}
			f.value()
			return
		}
		r.ignore() // as serde does
	})
	for i, f := range fields {
		if r.err == nil && f.value != nil && seen>>i&1 == 0 {
			r.enter(f.name)
			r.fail(r.at, "is missing")
			r.leave()
		}
	}
}

func (r *jsonReader) list(length int, begin func(), item func(i int)) {
	if !r.expect('[', "list") {
		return
	}
	if begin != nil {
		begin()
	}
	for i := range length {
		if i > 0 && !r.accept(',') || i == 0 && r.peek() == ']' {
			r.listTooShort(i, length)
			return
		}
		r.enterItem(i)
		item(i)
		r.leave()
		if r.err != nil {
			return
		}
	}
	if r.peek() == ',' {
		r.fail(r.at, "has more than %s", noun(length, "item"))
		return
	}
	r.expect(']', "end of the list")
}

func (r *jsonReader) listTooShort(got, want int) {
	if r.peek() == ']' {
		r.fail(r.at, "has %s, there must be %d", noun(got, "item"), want)
		return
	}
	r.expect(',', "comma")
}

func (r *jsonReader) variant(_ uint32, name string, content func()) {
	found := false
	r.members(func(got string) {
		if got != name || found {
			r.fail(r.at, "is %q, not %q", got, name)
			return
		}
		found = true
		r.enter(name)
		content()
		r.leave()
	})
	if !found && r.err == nil {
		r.fail(r.at, "is empty, but should be %q", name)
	}
}

func (r *jsonReader) node(n *filecoin.Node) {
	r.peek()
	start := r.at
	r.bytes32(n)
	if r.err == nil && !n.IsCanonical() {
		r.fail(start, "%s", notCanonical)
	}
}

// bytes32 reads a list of 32 numbers below 256.
func (r *jsonReader) bytes32(n *filecoin.Node) {
	if !r.expect('[', "list of 32 bytes") {
		return
	}
	for i := range n {
		if i > 0 && !r.accept(',') {
			r.fail(r.at, "has %d bytes, there must be %d", i, len(n))
			return
		}
		v, ok := r.digits(1<<8 - 1)
		if !ok {
			r.fail(r.at, "byte %d is no number from 0 to 255", i)
			return
		}
		n[i] = byte(v)
	}
	if r.err == nil && r.peek() == ',' {
		r.fail(r.at, "has more than %d bytes", len(n))
		return
	}
	r.expect(']', "end of the bytes")
}

// digits reads a number without sign, point or exponent, of at most a limit.
func (r *jsonReader) digits(most uint64) (uint64, bool) {
	if r.err != nil {
		return 0, false
	}
	r.peek()
	start, v := r.at, uint64(0)
	for ; r.at < len(r.data); r.at++ {
		c := r.data[r.at] - '0'
		if c > 9 {
			break
		}
		if v > (most-uint64(c))/10 || r.at > start && r.data[start] == '0' {
			r.at = start
			return 0, false
		}
		v = v*10 + uint64(c)
	}
	if r.at < len(r.data) {
		switch r.data[r.at] {
		case '.', 'e', 'E':
			r.at = start
		}
	}
	return v, r.at > start
}

func (r *jsonReader) uint32(v *uint32) {
	n, ok := r.digits(1<<32 - 1)
	if !ok {
		r.fail(r.at, "is no number from 0 to %d", uint32(1<<32-1))
	}
	*v = uint32(n)
}

func (r *jsonReader) uint64(v *uint64) {
	n, ok := r.digits(1<<64 - 1)
	if !ok {
		r.fail(r.at, "is no number from 0 to %d", uint64(1<<64-1))
	}
	*v = n
}

func (r *jsonReader) check(ok bool, format string, args ...any) {
	if !ok {
		r.fail(r.at, format, args...)
	}
}

// base64 reads a string of base64.
func (r *jsonReader) base64() []byte {
	text := r.skip()
	if r.err != nil {
		return nil
	}
	if len(text) < 2 || text[0] != '"' {
		r.fail(r.at, "is no string of base64")
		return nil
	}
	text = text[1 : len(text)-1]
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	if err != nil {
		r.fail(r.at, "is no base64: %v", err)
	}
	return out[:n]
}

// fork is a reader of the same text that stands at the next value.
func (r *jsonReader) fork() *jsonReader {
	r.peek()
	f := *r
	f.path = slices.Clone(r.path)
	return &f
}

// end refuses text behind the value.
func (r *jsonReader) end() error {
	if r.peek(); r.err == nil && r.at < len(r.data) {
		r.fail(r.at, "text follows its end")
	}
	return r.result()
}

// jsonWriter writes as serde does: no spaces, bytes as lists of numbers.
type jsonWriter struct{ out []byte }

func (w *jsonWriter) object(fields ...field) {
	w.out = append(w.out, '{')
	for i, f := range fields {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.name(f.name)
		if f.value == nil {
			w.out = append(w.out, "null"...)
		} else {
			f.value()
		}
	}
	w.out = append(w.out, '}')
}

// name writes a name that needs no escapes.
func (w *jsonWriter) name(name string) {
	w.out = append(append(append(w.out, '"'), name...), '"', ':')
}

func (w *jsonWriter) list(length int, _ func(), item func(i int)) {
	w.out = append(w.out, '[')
	for i := range length {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		item(i)
	}
	w.out = append(w.out, ']')
}

func (w *jsonWriter) variant(_ uint32, name string, content func()) {
	w.out = append(w.out, '{')
	w.name(name)
	content()
	w.out = append(w.out, '}')
}

func (w *jsonWriter) node(n *filecoin.Node) {
	w.list(len(n), nil, func(i int) { w.out = strconv.AppendUint(w.out, uint64(n[i]), 10) })
}
func (w *jsonWriter) bytes32(n *filecoin.Node)   { w.node(n) }
func (w *jsonWriter) uint32(v *uint32)           { w.out = strconv.AppendUint(w.out, uint64(*v), 10) }
func (w *jsonWriter) uint64(v *uint64)           { w.out = strconv.AppendUint(w.out, *v, 10) }
func (w *jsonWriter) check(bool, string, ...any) {}
