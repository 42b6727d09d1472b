package circom

import (
	"encoding/binary"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// Limits on a WebAssembly module that engines in browsers have too. Witness generators stay far below them.
const (
	maxWasmBytes  = 1 << 30
	maxWasmLocals = 50_000
	maxWasmTable  = 10_000_000
)

// boundedModule checks that no count in a module exceeds the bytes that its items take, and returns the module without
// its custom sections (names, debugging). The engine allocates by these counts before it has read the items, so a file of
// a few bytes could take all memory. Everything else about the module is the engine's to check.
func boundedModule(name string, module []byte) ([]byte, error) {
	refuse := func(offset int, why string) error {
		e := failure.New(failure.Key, "%s", why).In(name)
		e.Offset = int64(offset)
		return e.WithFix("hand in the .wasm that circom --wasm wrote")
	}
	if len(module) > maxWasmBytes {
		return nil, refuse(0, fmt.Sprintf("the WebAssembly module is larger than %d bytes", maxWasmBytes))
	}
	if len(module) < 8 || string(module[:4]) != "\x00asm" || binary.LittleEndian.Uint32(module[4:]) != 1 {
		return nil, refuse(0, "is not a WebAssembly module of version 1")
	}
	out := append([]byte(nil), module[:8]...)
	r := &wasmReader{data: module, at: 8}
	for r.at < len(module) {
		start := r.at
		id := r.byte()
		size := r.count()
		if r.why != "" || size > len(module)-r.at {
			return nil, refuse(start, "a section of the WebAssembly module is truncated")
		}
		body := &wasmReader{data: module[:r.at+size], at: r.at}
		r.at += size
		if id == 0 {
			continue
		}
		body.section(id)
		if body.why == "" && body.at != len(body.data) {
			body.refuse("has bytes left over")
		}
		if body.why != "" {
			return nil, refuse(body.at, fmt.Sprintf("section %d of the WebAssembly module %s", id, body.why))
		}
		out = append(out, module[start:r.at]...)
	}
	return out, nil
}

// wasmReader walks a section. After the first error it stands still.
type wasmReader struct {
	data []byte
	at   int
	why  string
}

func (r *wasmReader) refuse(why string) {
	if r.why == "" {
		r.why = why
	}
}

func (r *wasmReader) byte() byte {
	if r.why != "" || r.at >= len(r.data) {
		r.refuse("is truncated")
		return 0
	}
	r.at++
	return r.data[r.at-1]
}

// number reads an unsigned LEB128 of at most 32 bits.
func (r *wasmReader) number() uint32 {
	var n uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			if n > 1<<32-1 {
				break
			}
			return uint32(n)
		}
	}
	r.refuse("holds a malformed number")
	return 0
}

// count reads the number of items that follow, each at least a byte.
func (r *wasmReader) count() int {
	n := r.number()
	if uint64(n) > uint64(len(r.data)-r.at) {
		r.refuse(fmt.Sprintf("says that %d items follow, but it is not long enough", n))
		return 0
	}
	return int(n)
}

func (r *wasmReader) skip(n int) {
	if r.why == "" && n > len(r.data)-r.at {
		r.refuse("is truncated")
	}
	if r.why == "" {
		r.at += n
	}
}

func (r *wasmReader) name() { r.skip(r.count()) }

// each calls fn for each item of a vector.
func (r *wasmReader) each(fn func()) {
	for n := r.count(); n > 0 && r.why == ""; n-- {
		fn()
	}
}

// section walks the items of a section, by its number in the WebAssembly 1.0 specification, §5.5.
func (r *wasmReader) section(id byte) {
	switch id {
	case 1:
		r.each(func() {
			if r.byte() != 0x60 {
				r.refuse("holds a type that is no function's")
			}
			r.name() // parameters: a vector of bytes, as names are
			r.name() // results
		})
	case 2:
		r.each(func() {
			r.name()
			r.name()
			r.external()
		})
	case 3:
		r.each(func() { r.number() })
	case 4:
		r.each(func() { r.byte(); r.limits(maxWasmTable) })
	case 5:
		r.each(func() { r.limits(1 << 16) })
	case 6:
		r.each(func() { r.skip(2); r.constant() })
	case 7:
		r.each(func() { r.name(); r.byte(); r.number() })
	case 8:
		r.number()
	case 9:
		r.each(func() {
			if r.number() != 0 {
				r.refuse("holds elements of a kind that circom does not write")
			}
			r.constant()
			r.each(func() { r.number() })
		})
	case 10:
		r.each(r.function)
	case 11:
		r.each(func() {
			if r.number() != 0 {
				r.refuse("holds data of a kind that circom does not write")
			}
			r.constant()
			r.name() // the bytes
		})
	default:
		r.refuse("is of a kind that circom does not write")
	}
}

// external is what an import is: a function by its type, a table, a memory or a global.
func (r *wasmReader) external() {
	switch r.byte() {
	case 0:
		r.number()
	case 1:
		r.byte()
		r.limits(maxWasmTable)
	case 2:
		r.limits(1 << 16)
	case 3:
		r.skip(2)
	default:
		r.refuse("holds an import of unknown kind")
	}
}

func (r *wasmReader) limits(most uint32) {
	flag := r.byte()
	least := r.number()
	if flag == 1 {
		r.number()
	}
	if flag > 1 || least > most {
		r.refuse(fmt.Sprintf("asks for a size of %d, more than %d", least, most))
	}
}

// constant is an initial value: one instruction and the end.
func (r *wasmReader) constant() {
	switch r.byte() {
	case 0x41, 0x42: // i32.const, i64.const: a signed LEB128
		for n := 0; r.byte()&0x80 != 0; n++ {
			if n == 9 {
				r.refuse("holds a malformed number")
				return
			}
		}
	case 0x43:
		r.skip(4)
	case 0x44:
		r.skip(8)
	case 0x23: // global.get
		r.number()
	default:
		r.refuse("holds an initial value that is no constant")
	}
	if r.byte() != 0x0b {
		r.refuse("holds an initial value that is no constant")
	}
}

// function is a body: its size, its locals, then instructions that are the engine's to check.
func (r *wasmReader) function() {
	size := r.count()
	body := &wasmReader{data: r.data[:r.at+size], at: r.at}
	var locals uint64
	body.each(func() {
		locals += uint64(body.number())
		body.byte()
	})
	if locals > maxWasmLocals {
		body.refuse(fmt.Sprintf("holds a function with more than %d local variables", maxWasmLocals))
	}
	if body.why != "" {
		r.refuse(body.why)
		return
	}
	r.skip(size)
}
