package zkey_test

import (
	"encoding/binary"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
)

// All sections of the format, in one order that snarkjs never writes.
func TestParseReadsAnyOrderOfSections(t *testing.T) {
	for _, id := range curve.All {
		for name, order := range map[string][]uint32{
			"as snarkjs's zkey new":        {1, 2, 4, 3, 9, 8, 5, 6, 7, 10},
			"as snarkjs's zkey contribute": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
			"backwards":                    {10, 9, 8, 7, 6, 5, 4, 3, 2, 1},
			"with unknown ones":            {77, 1, 2, 4, 3, 88, 9, 8, 5, 6, 7, 77},
			"without contributions":        {1, 2, 3, 4, 5, 6, 7, 8, 9},
		} {
			k := newTiny(id)
			k.order = order
			got, err := zkey.Parse(t.Context(), "key", k.bytes(), nil)
			if err != nil {
				t.Errorf("%s, %s: %v", id, name, err)
				continue
			}
			if got.Curve() != id || got.Wires() != 4 || got.Public() != 1 || got.Domain() != 4 || got.Constraints() != 1 || got.Rows() != 3 {
				t.Errorf("%s, %s: %s, %d wires, %d public, domain %d, %d constraints, %d rows", id, name, got.Curve(), got.Wires(),
					got.Public(), got.Domain(), got.Constraints(), got.Rows())
			}
		}
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*tiny)
		bytes  func([]byte) []byte
		want   string
	}{
		"empty":             {bytes: func([]byte) []byte { return nil }, want: "the file is empty"},
		"magic":             {bytes: func(b []byte) []byte { b[0] = 'Z'; return b }, want: `must begin with "zkey"`},
		"short header":      {bytes: func(b []byte) []byte { return b[:10] }, want: "ends inside its header"},
		"truncated":         {bytes: func(b []byte) []byte { return b[:len(b)-1] }, want: "truncated"},
		"sections' number":  {bytes: func(b []byte) []byte { b[8]++; return b }, want: "the number of sections is wrong"},
		"section's size":    {bytes: func(b []byte) []byte { b[16+7] = 0xff; return b }, want: "section 1 (protocol)"},
		"version 0":         {change: func(k *tiny) { k.version = 0 }, want: "version 0"},
		"version 3":         {change: func(k *tiny) { k.version = 3 }, want: "version 3"},
		"fflonk":            {change: func(k *tiny) { k.protocol = 10 }, want: "protocol FFLONK"},
		"other protocol":    {change: func(k *tiny) { k.protocol = 5 }, want: "protocol number 5"},
		"missing":           {change: func(k *tiny) { k.order = k.order[:8] }, want: "section 7 (B2 points) is missing"},
		"twice":             {change: func(k *tiny) { k.order = append(k.order, 4) }, want: "section 4 (coefficients) is there 2 times"},
		"domain of 3":       {change: func(k *tiny) { k.domain = 3 }, want: "the domain's size 3 is not a power of two"},
		"domain of 0":       {change: func(k *tiny) { k.domain = 0 }, want: "the domain's size 0 is not a power of two"},
		"domain of 1":       {change: func(k *tiny) { k.domain, k.public, k.coefficients = 1, 0, nil }, want: "the domain's size 1 is not a power of two of at least 2"},
		"small domain":      {change: func(k *tiny) { k.domain, k.public, k.coefficients = 2, 2, nil }, want: "too small for 2 public inputs"},
		"public = wires":    {change: func(k *tiny) { k.public = 4; k.order = []uint32{1, 2} }, want: "4 public inputs do not fit into 4 wires"},
		"no wires":          {change: func(k *tiny) { k.wires = 0; k.order = []uint32{1, 2} }, want: "no wires"},
		"2^32-1 wires":      {change: func(k *tiny) { k.order = []uint32{2, 1, 3, 4, 5, 6, 7, 8, 9} }, bytes: func(b []byte) []byte { copy(b[12+12+72:], words(1<<32-1)); return b }, want: "must have 274877906880 (4294967295 wires of 64 bytes each)"},
		"matrix":            {change: func(k *tiny) { k.coefficients[1].matrix = 2 }, want: "coefficient 1 belongs to matrix 2"},
		"row":               {change: func(k *tiny) { k.coefficients[1].row = 4 }, want: "coefficient 1 is in row 4, but the domain has only 4"},
		"wire":              {change: func(k *tiny) { k.coefficients[3].wire = 4 }, want: "coefficient 3 is of wire 4, but there are only 4"},
		"short coefficient": {change: func(k *tiny) { k.order = []uint32{1, 2, 3, 5, 6, 7, 8, 9, 4} }, bytes: func(b []byte) []byte { b[len(b)-4*44-4]++; return b }, want: "5 coefficients of 44 bytes each"},
		"coefficient":       {change: func(k *tiny) { k.order = []uint32{1, 2, 3, 5, 6, 7, 8, 9, 4} }, bytes: func(b []byte) []byte { copy(b[len(b)-8:], words(1<<32-1, 1<<32-1)); return b }, want: "the value of coefficient 3 is not below r"},
		"prime":             {bytes: func(b []byte) []byte { b[12+12+4+12+4]++; return b }, want: "of no supported curve"},
		"prime's size":      {bytes: func(b []byte) []byte { copy(b[12+12+4+12:], words(1<<32-1)); return b }, want: "ends inside the prime q"},
		"primes of two":     {bytes: func(b []byte) []byte { copy(b[12+12+4+12+4:], number(curve.BN254.ScalarModulus(), 32)); return b }, want: "of no supported curve"},
	} {
		k := newTiny(curve.BN254)
		if c.change != nil {
			c.change(k)
		}
		data := k.bytes()
		if c.bytes != nil {
			data = c.bytes(data)
		}
		_, err := zkey.Parse(t.Context(), "key", data, nil)
		if err == nil {
			t.Errorf("%s: is accepted, want an error that says %q", name, c.want)
			continue
		}
		expectError(t, err, "key", c.want)
	}
}

// The file holds coefficients times R²; the matrices must hold them times R, in any order of the file.
func TestMatricesHoldTheCoefficients(t *testing.T) {
	for _, id := range curve.All {
		k := newTiny(id)
		k.coefficients = []coefficient{{1, 2, 3, 7}, {0, 1, 2, -3}, {0, 0, 1, 1}, {0, 1, 1, 5}, {1, 2, 0, 7}}
		key, err := zkey.Parse(t.Context(), "key", k.bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := key.Matrices()
		if err != nil {
			t.Fatal(err)
		}
		w := []curve.Scalar{{1}, {10}, {100}, {1000}}
		a, b := make([]curve.Scalar, 3), make([]curve.Scalar, 3)
		if err := m.Evaluate(t.Context(), w, a, b, nil); err != nil {
			t.Fatal(err)
		}
		minus := func(n int64) curve.Scalar {
			return curve.ScalarFromBig(new(big.Int).Sub(id.ScalarModulus(), big.NewInt(n)))
		}
		if diff := cmp.Diff([][]curve.Scalar{{{10}, minus(250), {}}, {{}, {}, {7007}}}, [][]curve.Scalar{a, b}); diff != "" {
			t.Errorf("%s: A·w and B·w (-want +got):\n%s", id, diff)
		}
	}
}

func TestTrailingBytesAreAWarning(t *testing.T) {
	key, err := zkey.Parse(t.Context(), "key", append(newTiny(curve.BN254).bytes(), "garbage"...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"key: 7 bytes follow the last section and are ignored"}, key.Warnings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// No count in the file may decide how much memory is taken before it has been compared with the file's size.
func TestCountsDoNotAllocate(t *testing.T) {
	data := newTiny(curve.BN254).bytes()
	for at := 0; at+8 <= len(data); at += 4 {
		for _, value := range []uint64{1<<32 - 1, 1 << 63, 1<<64 - 1, 1 << 31} {
			damaged := slices.Clone(data)
			binary.LittleEndian.PutUint64(damaged[at:], value)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if key, err := zkey.Parse(t.Context(), "key", damaged, nil); err == nil {
				if _, err := key.Matrices(); err != nil {
					t.Error(err)
				}
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Fatalf("%#x at offset %d of a file of %d bytes makes it allocate %d bytes", value, at, len(data), n)
			}
		}
	}
}
