package gnark

import (
	"math"
	"unicode/utf8"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// CBOR's major types (RFC 8949 §3.1).
const (
	cborUint = iota
	cborNegative
	cborBytes
	cborText
	cborArray
	cborMap
	cborTag
	cborSimple
)

// maxNesting bounds the depth of a document; gnark's has about six levels.
const maxNesting = 32

// cborReader walks over a CBOR document without building it. Every item takes at least a byte, so counts are compared
// with the bytes that are left and nothing is allocated by them. After an error it returns zeros.
type cborReader struct {
	file  string
	label string
	data  []byte
	at    int
	base  int64 // offset of data in the file
	err   error
}

func (c *cborReader) fail(msg string, args ...any) {
	if c.err == nil {
		c.err = failure.New(failure.Key, msg, args...).In(c.file).At(c.label, c.base+int64(c.at)).WithFix("%s", fixSystem)
	}
}

// head reads the type of the next item and its argument: a value, a length, or a tag.
func (c *cborReader) head() (major byte, arg uint64) {
	if c.err != nil {
		return cborSimple, 0
	}
	if c.at >= len(c.data) {
		c.fail("it ends inside the document")
		return cborSimple, 0
	}
	first := c.data[c.at]
	major = first >> 5
	info := first & 0x1f
	size := 0
	switch {
	case info < 24:
		c.at++
		return major, uint64(info)
	case info < 28:
		size = 1 << (info - 24)
	default:
		c.fail("byte %#x begins no item that gnark writes", first)
		return cborSimple, 0
	}
	if size > len(c.data)-c.at-1 {
		c.fail("it ends inside a number")
		return cborSimple, 0
	}
	for _, b := range c.data[c.at+1 : c.at+1+size] {
		arg = arg<<8 | uint64(b)
	}
	if counts := major == cborArray || major == cborMap; counts && arg > uint64(len(c.data)-c.at-1-size) ||
		(major == cborBytes || major == cborText) && arg > uint64(len(c.data)-c.at-1-size) {
		c.fail("a length of %d is claimed, but only %d bytes are left", arg, len(c.data)-c.at-1-size)
		return cborSimple, 0
	}
	c.at += 1 + size
	return major, arg
}

// null consumes a null, if that is next.
func (c *cborReader) null() bool {
	if c.err == nil && c.at < len(c.data) && c.data[c.at] == 0xf6 {
		c.at++
		return true
	}
	return false
}

// expect reads the head of an item that must be of a type.
func (c *cborReader) expect(major byte, what string) uint64 {
	at := c.at
	got, arg := c.head()
	if c.err == nil && got != major {
		c.at = at
		c.fail("%s is of CBOR type %d instead of %d", what, got, major)
	}
	if c.err != nil {
		return 0
	}
	return arg
}

// count reads a number that must not exceed limit.
func (c *cborReader) count(what string, limit uint64) int {
	at := c.at
	n := c.expect(cborUint, what)
	if n > limit || n > math.MaxInt {
		c.at = at
		c.fail("%s is %d: at most %d is possible", what, n, limit)
		return 0
	}
	return int(n)
}

func (c *cborReader) text(what string) string {
	at := c.at
	n := int(c.expect(cborText, what))
	if c.err != nil {
		return ""
	}
	if n > len(c.data)-c.at {
		c.at = at
		c.fail("it ends inside %s", what)
		return ""
	}
	s := string(c.data[c.at : c.at+n])
	if !utf8.ValidString(s) {
		c.at = at
		c.fail("%s is not UTF-8", what)
		return ""
	}
	c.at += n
	return s
}

// array calls item for each element; null is an empty array.
func (c *cborReader) array(what string, item func(i int)) int {
	if c.null() {
		return 0
	}
	n := int(c.expect(cborArray, what))
	for i := 0; i < n && c.err == nil; i++ {
		item(i)
	}
	return n
}

// skip passes over one item.
func (c *cborReader) skip() { c.skipItem(0) }

func (c *cborReader) skipItem(depth int) {
	if depth > maxNesting {
		c.fail("it is nested deeper than %d levels", maxNesting)
		return
	}
	major, n := c.head()
	switch major {
	case cborBytes, cborText:
		if c.err == nil && n > uint64(len(c.data)-c.at) {
			c.fail("it ends inside a string")
		}
		if c.err == nil {
			c.at += int(n)
		}
	case cborArray, cborMap:
		if major == cborMap {
			n *= 2 // counted above: n is at most the number of bytes
		}
		for ; n > 0 && c.err == nil; n-- {
			c.skipItem(depth + 1)
		}
	case cborTag:
		c.skipItem(depth + 1)
	}
}

// fields walks over a map with text keys. The function returns whether it read the value; others are passed over.
func (c *cborReader) fields(what string, field func(name string) bool) {
	n := c.expect(cborMap, what)
	for ; n > 0 && c.err == nil; n-- {
		if name := c.text("a field's name"); c.err == nil && !field(name) {
			c.skip()
		}
	}
}
