package binfile

import "encoding/binary"

// Cursor reads a section from front to back. After the first read that does not fit, Err is set and reads give zeros.
type Cursor struct {
	section *Section
	at      int
	err     error
}

// Cursor begins at the section's start.
func (s *Section) Cursor() *Cursor { return &Cursor{section: s} }

// Err is the first error.
func (c *Cursor) Err() error { return c.err }

// At is the offset of the next byte within the section.
func (c *Cursor) At() int { return c.at }

// Left is the number of bytes not read yet.
func (c *Cursor) Left() int { return len(c.section.data) - c.at }

// Bytes returns the next n bytes, not copied; what names them in messages.
func (c *Cursor) Bytes(n int, what string) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.Left() {
		c.err = c.section.Errorf(c.at, "ends inside %s: %d bytes are wanted and %d are left", what, n, c.Left())
		return nil
	}
	b := c.section.data[c.at : c.at+n : c.at+n]
	c.at += n
	return b
}

// Uint32 returns the next little-endian 32-bit number.
func (c *Cursor) Uint32(what string) uint32 {
	if b := c.Bytes(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Uint64 returns the next little-endian 64-bit number.
func (c *Cursor) Uint64(what string) uint64 {
	if b := c.Bytes(8, what); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// End refuses bytes that are left over.
func (c *Cursor) End() error {
	if c.err == nil && c.Left() > 0 {
		c.err = c.section.Errorf(c.at, "has %d bytes more than its content needs", c.Left())
	}
	return c.err
}
