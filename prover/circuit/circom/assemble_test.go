package circom

import (
	"slices"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// The tests assemble witness generators of their own: small, hostile where wanted, and with nobody's licence on them.

// leb128 encodes an unsigned number.
func leb128(n uint64) []byte {
	var out []byte
	for n >= 0x80 {
		out = append(out, byte(n)|0x80)
		n >>= 7
	}
	return append(out, byte(n))
}

// vector is a count and the items.
func vector(items ...[]byte) []byte {
	return append(leb128(uint64(len(items))), slices.Concat(items...)...)
}

func wasmString(s string) []byte { return append(leb128(uint64(len(s))), s...) }

func wasmSection(id byte, body []byte) []byte {
	return slices.Concat([]byte{id}, leb128(uint64(len(body))), body)
}

var wasmHeader = []byte("\x00asm\x01\x00\x00\x00")

// function types of the interface, by their place in the type section.
const (
	typeVoid   = iota // ()
	typeGet           // () i32
	typeTake          // (i32)
	typeTake3         // (i32, i32, i32)
	typeLookup        // (i32, i32) i32
)

const i32 = 0x7f

// program is a generator for a circuit of one input "x" whose witness is ones, unless a function's body is replaced.
type program struct {
	bodies  map[string][]byte
	imports []string
	skip    string // an export to leave out
	memory  []byte
	prime   curve.ID
}

func (p program) assemble() []byte {
	functions := []struct {
		name string
		kind byte
		body []byte
	}{
		{"init", typeTake, nil},
		{"getRawPrime", typeVoid, nil}, // it is there from the start
		{"getFieldNumLen32", typeGet, []byte{0x41, 8}},
		{"getSharedRWMemoryStart", typeGet, []byte{0x41, 0}},
		{"setInputSignal", typeTake3, nil},
		{"getInputSize", typeGet, []byte{0x41, 1}},
		{"getWitnessSize", typeGet, []byte{0x41, 3}},
		// Eight stores make the shared element 1.
		{"getWitness", typeTake, slices.Concat(store(0, 1), store(4, 0), store(8, 0), store(12, 0), store(16, 0), store(20, 0),
			store(24, 0), store(28, 0))},
		{"getMessageChar", typeGet, []byte{0x41, 0}},
		{"getInputSignalSize", typeLookup, []byte{0x41, 1}},
	}
	var imports, kinds, exports, bodies [][]byte
	for _, name := range p.imports {
		imports = append(imports, slices.Concat(wasmString("runtime"), wasmString(name), []byte{0, typeOf(name)}))
	}
	for i, f := range functions {
		kinds = append(kinds, []byte{f.kind})
		if f.name != p.skip {
			exports = append(exports, slices.Concat(wasmString(f.name), []byte{0}, leb128(uint64(len(imports)+i))))
		}
		body := f.body
		if b, ok := p.bodies[f.name]; ok {
			body = b
		}
		code := slices.Concat([]byte{0}, body, []byte{0x0b})
		bodies = append(bodies, append(leb128(uint64(len(code))), code...))
	}
	memory := p.memory
	if memory == nil {
		memory = []byte{0, 1}
	}
	exports = append(exports, append(wasmString("memory"), 2, 0))
	id := p.prime
	if id == "" {
		id = curve.BN254
	}
	prime := id.ScalarModulus().FillBytes(make([]byte, 32))
	slices.Reverse(prime)
	return slices.Concat(wasmHeader,
		wasmSection(1, vector([]byte{0x60, 0, 0}, []byte{0x60, 0, 1, i32}, []byte{0x60, 1, i32, 0},
			[]byte{0x60, 3, i32, i32, i32, 0}, []byte{0x60, 2, i32, i32, 1, i32})),
		wasmSection(2, vector(imports...)),
		wasmSection(3, vector(kinds...)),
		wasmSection(5, vector(memory)),
		wasmSection(7, vector(exports...)),
		wasmSection(10, vector(bodies...)),
		wasmSection(11, vector(slices.Concat([]byte{0, 0x41, 0, 0x0b}, leb128(32), prime))),
	)
}

func typeOf(imported string) byte {
	if imported == "exceptionHandler" {
		return typeTake
	}
	return typeVoid
}

// store is i32.store of a small constant at a small address.
func store(address, value byte) []byte { return []byte{0x41, address, 0x41, value, 0x36, 2, 0} }
