package porep

import (
	"encoding/binary"
	"math/bits"
)

// chacha8 is the stream cipher ChaCha of 8 rounds as a generator of numbers: the block counter has 64 bits and begins at
// 0, the stream's number is 0.
type chacha8 struct {
	key     [8]uint32
	counter uint64
	block   [16]uint32
	used    int
}

func newChaCha8(key [32]byte) *chacha8 {
	c := &chacha8{used: 16}
	for i := range c.key {
		c.key[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	return c
}

// uint64 takes two words of the stream, the low one first.
func (c *chacha8) uint64() uint64 {
	low := c.word()
	return uint64(low) | uint64(c.word())<<32
}

func (c *chacha8) word() uint32 {
	if c.used == len(c.block) {
		c.next()
	}
	w := c.block[c.used]
	c.used++
	return w
}

// next makes the next block.
func (c *chacha8) next() {
	start := [16]uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574} // "expand 32-byte k"
	copy(start[4:], c.key[:])
	start[12], start[13] = uint32(c.counter), uint32(c.counter>>32)
	s := start
	for range 4 {
		for i := range 4 {
			quarter(&s[i], &s[4+i], &s[8+i], &s[12+i])
		}
		for i := range 4 {
			quarter(&s[i], &s[4+(i+1)%4], &s[8+(i+2)%4], &s[12+(i+3)%4])
		}
	}
	for i := range s {
		c.block[i] = s[i] + start[i]
	}
	c.counter++
	c.used = 0
}

func quarter(a, b, c, d *uint32) {
	for _, by := range [2][2]int{{16, 12}, {8, 7}} {
		*a += *b
		*d = bits.RotateLeft32(*d^*a, by[0])
		*c += *d
		*b = bits.RotateLeft32(*b^*c, by[1])
	}
}
