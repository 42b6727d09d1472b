package gnarkkey

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	cuzk "github.com/cuzk-dev/cuzk/prover/groth16"
)

// layout is where the parts of a key begin, found by the reader on a good file.
type layout struct {
	domain, vertices, infinities, commitments int
	sections                                  map[cuzk.Section]int // of the number of points
}

func layoutOf(t *testing.T, data []byte) layout {
	t.Helper()
	k, err := openBytes(t, data)
	if err != nil {
		t.Fatal(err)
	}
	l := layout{vertices: int(k.vertices[0].offset), sections: map[cuzk.Section]int{}}
	prefix := 4
	if k.encoding == Dump {
		l.domain, prefix = 8, 8
	}
	for s, r := range k.runs {
		l.sections[cuzk.Section(s)] = int(r.offset) - prefix
	}
	if k.encoding == Dump {
		l.commitments = l.sections[cuzk.SectionA] - 4
	} else {
		l.commitments = int(k.commitments[0].basis.offset) - 8
	}
	l.infinities = l.commitments - 2*k.wires - 24
	return l
}

func TestTruncatedKeysAreRefused(t *testing.T) {
	for _, id := range curve.All {
		for encoding, data := range setUp(t, id).all() {
			t.Run(fmt.Sprintf("%s/%s", id, encoding), func(t *testing.T) {
				for n := range data {
					// Every length near the beginning and the end, and a sample of those between.
					if n > 400 && n < len(data)-50 && n%41 != 0 {
						continue
					}
					_, err := Parse("pk.bin", data[:n], Options{})
					if err == nil {
						t.Fatalf("a key cut to %d of %d bytes was accepted", n, len(data))
					}
					wantFailure(t, err, failure.Key, "")
				}
			})
		}
	}
}

func TestMalformedKeys(t *testing.T) {
	for _, id := range curve.All {
		e := setUp(t, id)
		for encoding, good := range e.all() {
			l := layoutOf(t, good)
			section := func(s cuzk.Section) int { return l.sections[s] }
			count := func(b []byte, at int, n uint64) {
				if encoding == Dump {
					binary.LittleEndian.PutUint64(b[at:], n)
				} else {
					binary.BigEndian.PutUint32(b[at:], uint32(n))
				}
			}
			for name, c := range map[string]struct {
				damage func(b []byte)
				text   string
			}{
				"domain not a power of two":   {func(b []byte) { b[l.domain+7] = 3 }, "not a power of two"},
				"domain of 2^62":              {func(b []byte) { binary.BigEndian.PutUint64(b[l.domain:], 1<<62) }, "not a power of two up to 2^32"},
				"domain doubled":              {func(b []byte) { b[l.domain+7] *= 2 }, "belong neither to BN254 nor to BLS12-381"},
				"domain flag":                 {func(b []byte) { b[l.domain+168] = 7 }, "twiddles is 7"},
				"section A of 2^32-1 points":  {func(b []byte) { count(b, section(cuzk.SectionA), 1<<32-1) }, "says it has 4294967295 points"},
				"section B2 of 2^32-1 points": {func(b []byte) { count(b, section(cuzk.SectionB2), 1<<32-1) }, "section B (G2) at offset"},
				"section Z one point short":   {func(b []byte) { count(b, section(cuzk.SectionH), 0) }, ""},
				"2^50 wires":                  {func(b []byte) { binary.BigEndian.PutUint64(b[l.infinities:], 1<<50) }, "it has 1125899906842624 wires"},
				"2^63 wires":                  {func(b []byte) { binary.BigEndian.PutUint64(b[l.infinities:], 1<<63) }, "it has 9223372036854775808 wires"},
				"infinities of A":             {func(b []byte) { b[l.infinities+15]++ }, "flags are set, but the key says"},
				"flag of 2":                   {func(b []byte) { b[l.infinities+24] = 2 }, "the flag of wire 0 is 2"},
				"2^32-1 commitment keys":      {func(b []byte) { binary.BigEndian.PutUint32(b[l.commitments:], 1<<32-1) }, ""},
				"one commitment key":          {func(b []byte) { binary.BigEndian.PutUint32(b[l.commitments:], 1) }, "after the end of the key"},
				"coordinate not below p":      {func(b []byte) { overflow(id, encoding, b[section(cuzk.SectionA)+prefix(encoding):]) }, "point 0: a coordinate is not below the prime of the field"},
				"vertex not below p":          {func(b []byte) { overflow(id, vertexEncoding(encoding), b[l.vertices:]) }, "alpha in G1 at offset"},
			} {
				t.Run(fmt.Sprintf("%s/%s/%s", id, encoding, name), func(t *testing.T) {
					bad := bytes.Clone(good)
					c.damage(bad)
					k, err := openBytes(t, bad)
					if err == nil {
						err = k.Load(t.Context(), nil)
					}
					wantFailure(t, err, failure.Key, c.text)
				})
			}
			t.Run(fmt.Sprintf("%s/%s/trailing bytes", id, encoding), func(t *testing.T) {
				_, err := openBytes(t, append(bytes.Clone(good), 0))
				wantFailure(t, err, failure.Key, "1 bytes after the end")
			})
		}
	}
}

func prefix(e Encoding) int {
	if e == Dump {
		return 8
	}
	return 4
}

func vertexEncoding(e Encoding) Encoding {
	if e == Dump {
		return Raw
	}
	return e
}

// overflow sets the first coordinate of a point to 2^k-1, without touching its flags.
func overflow(id curve.ID, e Encoding, point []byte) {
	size := id.BaseBytes()
	keep := byte(0xc0)
	if id == curve.BLS12381 {
		keep = 0xe0
	}
	for i := range size {
		if i == 0 && e != Dump {
			point[i] |= ^keep
			continue
		}
		point[i] = 0xff
	}
}

func TestOtherByteOrderIsNamed(t *testing.T) {
	e := setUp(t, curve.BN254)
	bad := bytes.Clone(e.dump)
	binary.BigEndian.PutUint64(bad, 0xdeadbeef)
	_, err := openBytes(t, bad)
	wantFailure(t, err, failure.Key, "other byte order")
}

// A raw key whose points are no points at all opens; Check names the first of them.
func TestCheckNamesThePoint(t *testing.T) {
	for _, id := range curve.All {
		e := setUp(t, id)
		for _, encoding := range []Encoding{Raw, Dump} {
			data := bytes.Clone(e.all()[encoding])
			l := layoutOf(t, data)
			at := l.sections[cuzk.SectionB2] + prefix(encoding) + 2*id.G2Bytes()
			data[at+id.G2Bytes()-20] ^= 1
			k, err := openBytes(t, data)
			if err != nil {
				t.Fatal(err)
			}
			err = k.Check(t.Context(), nil)
			failed := failureThat(t, err, failure.Key, "point 2: the point is not on the curve")
			if failed.Section != "section B (G2)" || failed.Offset != int64(at) {
				t.Errorf("%s/%s: named %s at %d, want section B (G2) at %d", id, encoding, failed.Section, failed.Offset, at)
			}
		}
	}
}

func TestMixedEncodingsAreRefused(t *testing.T) {
	e := setUp(t, curve.BLS12381)
	l := layoutOf(t, e.raw)
	bad := bytes.Clone(e.raw)
	bad[l.sections[cuzk.SectionA]+4+96] |= 0x80
	k, err := openBytes(t, bad)
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, k.Load(t.Context(), nil), failure.Key, "point 1: its flag bits")
}

func TestLoadEndsWhenCancelled(t *testing.T) {
	k, err := openBytes(t, setUp(t, curve.BN254).compressed)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Load(ctx, nil); err == nil {
		t.Error("a cancelled load succeeded")
	}
	if err := k.Load(t.Context(), nil); err != nil {
		t.Errorf("a load after a cancelled one: %v", err)
	}
}

// Lengths that a file claims must not become memory: a hostile file costs less than ten times its size.
func TestNoMemoryForClaimedLengths(t *testing.T) {
	e := setUp(t, curve.BN254)
	l := layoutOf(t, e.compressed)
	for _, damage := range []func(b []byte){
		func(b []byte) { binary.BigEndian.PutUint32(b[l.sections[cuzk.SectionA]:], 1<<32-1) },
		func(b []byte) { binary.BigEndian.PutUint64(b[l.infinities:], 1<<50) },
		func(b []byte) { binary.BigEndian.PutUint32(b[l.commitments:], 1<<32-1) },
	} {
		bad := bytes.Clone(e.compressed)
		damage(bad)
		path := filepath.Join(t.TempDir(), "pk.bin")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Open(path, Options{}); err == nil {
			t.Error("accepted")
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 10*uint64(len(bad))+1<<20 {
			t.Errorf("%d bytes allocated for a file of %d", used, len(bad))
		}
	}
}

// The seeds in testdata are keys of the circuit committing, in all encodings: a set-up in every process would take longer
// than what is fuzzed.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.bin")
	if err != nil || len(seeds) != 6 {
		f.Fatalf("%d seeds (%v), want 6", len(seeds), err)
	}
	for _, path := range seeds {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := Parse("pk.bin", data, Options{})
		if err != nil {
			if failure.ClassOf(err) != failure.Key {
				t.Errorf("%s failure: %v", failure.ClassOf(err), err)
			}
			return
		}
		if err := k.Load(t.Context(), nil); err != nil && failure.ClassOf(err) != failure.Key {
			t.Errorf("%s failure: %v", failure.ClassOf(err), err)
		}
	})
}
