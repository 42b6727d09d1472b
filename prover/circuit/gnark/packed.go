package gnark

import (
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// packedReader walks over the integers that gnark compresses (github.com/ronanh/intcomp), without unpacking them. The
// decompressor believes the sizes in the headers of its blocks: a size of zero makes it turn for ever, and the sum of the
// counts is what it allocates.
type packedReader struct {
	file  string
	label string
	data  []byte
	at    int
	base  uint64
	err   error
}

func (p *packedReader) fail(msg string, args ...any) {
	if p.err == nil {
		p.err = failure.New(failure.Key, msg, args...).In(p.file).At(p.label, int64(p.base)+int64(p.at)).WithFix("%s", fixSystem)
	}
}

func (p *packedReader) uint64() uint64 {
	if p.err == nil && len(p.data)-p.at < 8 {
		p.fail("it ends inside a number")
	}
	if p.err != nil {
		return 0
	}
	n := binary.LittleEndian.Uint64(p.data[p.at:])
	p.at += 8
	return n
}

// maxPacked is how many integers a word of a packed block can stand for: blocks of 128 32-bit or 256 64-bit integers
// have a header of at least one word.
const maxPacked = 256

// skipPacked passes over one list of words of 4 or 8 bytes and returns how many integers it unpacks to.
func (p *packedReader) skipPacked(word uint64) (total uint64) {
	n := p.uint64()
	if left := uint64(len(p.data) - p.at); p.err == nil && n > left/word {
		p.at -= 8
		p.fail("a list of %d words of %d bytes is claimed, but only %d bytes are left", n, word, left)
	}
	if p.err != nil {
		return 0
	}
	list := p.data[p.at : p.at+int(n*word)]
	if n > 0 {
		n-- // The last word is the size of the last block.
	}
	for i := uint64(0); i < n; {
		count, size := blockHeader(list, i, n, word)
		if size == 0 || size > n-i || count > maxPacked*size {
			p.at += int(i * word)
			p.fail("a block of %d integers in %d words is claimed, with %d words left: that cannot be", count, size, n-i)
			return 0
		}
		total += count
		i += size
	}
	p.at += len(list)
	return total
}

// blockHeader reads how many integers the block that begins at word i holds, and its size in words: 32 bits each. A size
// of zero stands for a header that is cut off.
func blockHeader(list []byte, i, n, word uint64) (count, size uint64) {
	if (n-i)*word < 8 {
		return 0, 0
	}
	return uint64(binary.LittleEndian.Uint32(list[i*word:])), uint64(binary.LittleEndian.Uint32(list[i*word+4:]))
}

func (p *packedReader) end() error {
	if p.err == nil && p.at != len(p.data) {
		p.fail("%d bytes follow its end", len(p.data)-p.at)
	}
	return p.err
}
