package filparams_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/internal/progresstest"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// description is what the reference says of a parameter file.
type description struct {
	Sections []struct {
		Name   string `json:"name"`
		Length int64  `json:"length_offset"`
		Count  *int   `json:"count"`
	} `json:"sections"`
}

func describe(t testing.TB, name string) (d description) {
	t.Helper()
	if err := json.Unmarshal(fixture.Read(t, "filecoin", "params", name+".json"), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func tiny(t testing.TB) []byte {
	t.Helper()
	return fixture.Read(t, "filecoin", "params", "post_tiny.params")
}

func TestLengthsOfTheReferencesFile(t *testing.T) {
	f, err := filparams.Parse("tiny", tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, s := range describe(t, "post_tiny").Sections {
		if s.Count != nil {
			counts[s.Name] = *s.Count
		}
	}
	want := filecoin.Lengths{IC: counts["ic"], H: counts["h"], L: counts["l"], A: counts["a"], B: counts["b_g1"]}
	if diff := cmp.Diff(want, f.Lengths()); diff != "" || want.IC != 3 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.Size() != want.ParamsBytes() {
		t.Errorf("%d bytes, its lengths make %d", f.Size(), want.ParamsBytes())
	}
	if err := f.Check(t.Context(), nil); err != nil {
		t.Errorf("the reference's points: %v", err)
	}
}

// The .vk of the reference is the beginning of its .params.
func TestVerifyingKeysOfTheReference(t *testing.T) {
	for _, name := range []string{"post_tiny", "window_2KiB", "winning_2KiB", "porep_2KiB", "snap_2KiB", "snap_poseidon_2KiB"} {
		path := fixture.Path(t, "filecoin", "params", name+".vk")
		vk, err := filparams.OpenVerifyingKey(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := groth16.NewVerifier(vk, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := filparams.CheckPublic(vk, vk.Public()+1); failure.ClassOf(err) != failure.Key {
			t.Errorf("%s: for a circuit of another number of inputs: %v", name, err)
		}
	}
	f, err := filparams.Parse("tiny", tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	vk, err := filparams.OpenVerifyingKey(fixture.Path(t, "filecoin", "params", "post_tiny.vk"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(vk, f.VerifyingKey()); diff != "" {
		t.Errorf("(-.vk +.params):\n%s", diff)
	}
}

// someCircuit has the lengths of a file; which wires occur is made up.
func someCircuit(l filecoin.Lengths) *filparams.Circuit {
	first := func(n int) r1cs.Density {
		d := make(r1cs.Density, (l.L+63)/64)
		for i := range n {
			d[i/64] |= 1 << (i % 64)
		}
		return d
	}
	return filparams.CircuitOfAux(l.IC, l.L, l.H-l.IC, first(l.A-l.IC), first(l.B-1))
}

func TestPointsAreThoseOfTheFile(t *testing.T) {
	data := tiny(t)
	f, err := filparams.Parse("tiny", data)
	if err != nil {
		t.Fatal(err)
	}
	k, err := f.For(someCircuit(f.Lengths()))
	if err != nil {
		t.Fatal(err)
	}
	offsets := map[string]int64{}
	for _, s := range describe(t, "post_tiny").Sections {
		offsets[s.Name] = s.Length
	}
	l := f.Lengths()
	for s, want := range map[groth16.Section]struct {
		name  string
		count int
		g2    bool
	}{
		groth16.SectionA: {"a", l.A, false}, groth16.SectionB1: {"b_g1", l.B, false}, groth16.SectionB2: {"b_g2", l.B, true},
		groth16.SectionL: {"l", l.L, false}, groth16.SectionH: {"h", l.H, false},
	} {
		points, err := k.Points(s)
		if err != nil {
			t.Fatal(err)
		}
		encode, size := func(p []byte) []byte { return curve.BLS12381.EncodeG1(p, false) }, 96
		if want.g2 {
			encode, size = func(p []byte) []byte { return curve.BLS12381.EncodeG2(p, false) }, 192
		}
		if len(points) != want.count*size {
			t.Fatalf("%s: %d bytes, want %d points", want.name, len(points), want.count)
		}
		at := offsets[want.name] + 4
		for i := 0; i < want.count; i += 97 {
			if !bytes.Equal(encode(points[i*size:(i+1)*size]), data[at+int64(i*size):][:size]) {
				t.Fatalf("%s: point %d is another than in the file", want.name, i)
			}
		}
		part := make([]byte, 3*size)
		if err := k.ReadPoints(t.Context(), s, 5, part); err != nil || !bytes.Equal(part, points[5*size:8*size]) {
			t.Errorf("%s: points 5 to 7 read alone differ (%v)", want.name, err)
		}
	}
	if _, err := k.Points(groth16.SectionH + 1); err == nil {
		t.Error("there is a section behind the last")
	}
	for s, want := range map[groth16.Section]int{groth16.SectionA: l.IC + l.L - l.A, groth16.SectionB1: l.IC + l.L - l.B} {
		if got := r1cs.Density(k.Absent(s)).Count(); got != want {
			t.Errorf("section %d: %d wires are absent, want %d", s, got, want)
		}
	}
	if k.Wires() != l.IC+l.L || k.Public() != l.IC-1 || k.Domain() != l.H+1 || k.Resident() || k.Layout() != groth16.LayoutCoefficients {
		t.Errorf("a key of %d wires, %d public, domain %d", k.Wires(), k.Public(), k.Domain())
	}
	if diff := cmp.Diff(groth16.ShapeOf(k), filparams.ShapeOf(l)); diff != "" {
		t.Errorf("the shape that the lengths tell differs from the key's: %s", diff)
	}
}

func TestFilesOfOtherCircuitsAreRefused(t *testing.T) {
	f, err := filparams.Parse("tiny", tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*filecoin.Lengths){
		"ic": func(l *filecoin.Lengths) { l.IC++ }, "h": func(l *filecoin.Lengths) { l.H = 2*l.H + 1 }, "l": func(l *filecoin.Lengths) { l.L-- },
		"a": func(l *filecoin.Lengths) { l.A++ }, "b_g1": func(l *filecoin.Lengths) { l.B-- },
	} {
		want := f.Lengths()
		change(&want)
		err := f.CheckLengths(want)
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Key || e.File != "tiny" || e.Section != "section "+name || !strings.Contains(err.Error(), "another circuit") {
			t.Errorf("%s: %v", name, err)
		}
	}
	l := f.Lengths()
	l.L++
	if _, err := f.For(someCircuit(l)); err == nil {
		t.Error("a circuit of another size gets the key")
	}
}

// offsetOf finds where the length of an array is.
func offsetOf(t testing.TB, name string) int {
	t.Helper()
	for _, s := range describe(t, "post_tiny").Sections {
		if s.Name == name {
			return int(s.Length)
		}
	}
	t.Fatalf("no section %s", name)
	return 0
}

func TestMalformedFilesAreNamed(t *testing.T) {
	good := tiny(t)
	length := func(name string, n uint32) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.BigEndian.PutUint32(b[offsetOf(t, name):], n)
			return b
		}
	}
	for what, test := range map[string]struct {
		change        func([]byte) []byte
		section, want string
	}{
		"nothing":            {func([]byte) []byte { return nil }, "section alpha_g1", "ends too early"},
		"half a vertex":      {func(b []byte) []byte { return b[:100] }, "section beta_g1", "only 4 more"},
		"no lengths":         {func(b []byte) []byte { return b[:864] }, "section ic", "only 0 bytes more"},
		"a length too large": {length("h", 1<<32-1), "section h", "4294967295 points"},
		"truncated":          {func(b []byte) []byte { return b[:len(b)-1] }, "section b_g2", "only"},
		"one byte more":      {func(b []byte) []byte { return append(b, 0) }, "end of the file", "1 bytes follow"},
		"no ic":              {func(b []byte) []byte { binary.BigEndian.PutUint32(b[864:], 0); return append(b[:868], b[868+3*96:]...) }, "section ic", "is empty"},
		"b shorter in g2": {func(b []byte) []byte {
			at := offsetOf(t, "b_g2")
			binary.BigEndian.PutUint32(b[at:], binary.BigEndian.Uint32(b[at:])-1)
			return b[:len(b)-192]
		}, "section b_g2", "but b_g1 has"},
		"alpha compressed": {func(b []byte) []byte { b[0] |= 0x80; return b }, "section alpha_g1", "marked as compressed"},
		"beta infinity":    {func(b []byte) []byte { clear(b[96:192]); return b }, "section beta_g1", "at infinity"},
		"delta off":        {func(b []byte) []byte { b[863] ^= 1; return b }, "section delta_g2", ""},
		"gamma unreduced":  {func(b []byte) []byte { copy(b[384:], bytes.Repeat([]byte{0x1f}, 48)); return b }, "section gamma_g2", "not below"},
		"ic off":           {func(b []byte) []byte { b[868+96+95] ^= 1; return b }, "section ic, point 1", ""},
	} {
		_, err := filparams.Parse("f", test.change(bytes.Clone(good)))
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Key || e.File != "f" || e.Section != test.section || e.Offset < 0 || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s gives %v, want %q in %s", what, err, test.want, test.section)
		}
	}
}

func TestDamagedPointsAreFound(t *testing.T) {
	good := tiny(t)
	for section, point := range map[string]int{"h": 17, "l": 0, "a": 300, "b_g1": 5, "b_g2": 5} {
		size := 96
		if section == "b_g2" {
			size = 192
		}
		data := bytes.Clone(good)
		at := offsetOf(t, section) + 4 + point*size
		data[at+size-1] ^= 1
		f, err := filparams.Parse("f", data)
		if err != nil {
			t.Fatal(err)
		}
		err = f.Check(t.Context(), nil)
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Key || e.Offset != int64(at) || !strings.HasPrefix(e.Section, "section "+section+", point") {
			t.Errorf("%s, point %d at %d: %v", section, point, at, err)
		}
		data[at] = 0x40
		k, err := f.For(someCircuit(f.Lengths()))
		if err != nil {
			t.Fatal(err)
		}
		s := map[string]groth16.Section{"h": groth16.SectionH, "l": groth16.SectionL, "a": groth16.SectionA, "b_g1": groth16.SectionB1, "b_g2": groth16.SectionB2}[section]
		if _, err := k.Points(s); failure.ClassOf(err) != failure.Key {
			t.Errorf("%s: a point at infinity is handed out: %v", section, err)
		}
	}
}

func TestCheckTellsProgressAndEnds(t *testing.T) {
	f, err := filparams.Parse("f", tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	l := f.Lengths()
	var checked progresstest.Work
	if err := f.Check(t.Context(), checked.Tell); err != nil {
		t.Fatal(err)
	}
	checked.Whole(t, int64(l.IC+l.H+l.L+l.A+2*l.B))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Check(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDigestIsThatOfTheReference(t *testing.T) {
	r := csv.NewReader(strings.NewReader(string(fixture.Read(t, "filecoin", "params", "PARAMS.tsv"))))
	r.Comma, r.Comment = '\t', '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		got, err := filparams.Digest(t.Context(), fixture.Path(t, "filecoin", "params", row[0]+".vk"), nil, nil)
		if err != nil || got != row[5][:32] {
			t.Errorf("%s: %s (%v), want %s", row[0], got, err, row[5][:32])
		}
	}
}

func TestDigestIsRememberedBySizeAndTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	cache := filparams.NewDigestCache(filepath.Join(t.TempDir(), "digests"))
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reads := 0
	digest := func() string {
		t.Helper()
		d, err := filparams.Digest(t.Context(), path, cache, func(_, _ int64) { reads++ })
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	write("one")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	first := digest()
	if again := digest(); again != first || reads != 1 {
		t.Errorf("%s, then %s after %d reads, want one", first, again, reads)
	}
	write("three")
	if other := digest(); other == first || reads != 2 {
		t.Errorf("another size gives %s after %d reads", other, reads)
	}
	write("two")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if forged := digest(); forged != first {
		t.Error("a file of the same path, size and time was read again")
	}
	if d, err := filparams.Digest(t.Context(), path, nil, nil); err != nil || d == first {
		t.Errorf("without a cache: %s (%v)", d, err)
	}
	if len(first) != 32 || hex.EncodeToString(must(hex.DecodeString(first))) != first {
		t.Errorf("%q is not 128 bits in hex", first)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestMeta(t *testing.T) {
	folder := t.TempDir()
	for content, want := range map[string]filecoin.SectorSize{
		`{"sector_size":2048}`: filecoin.Sector2KiB, `{"sector_size":34359738368}`: filecoin.Sector32GiB,
		`{"sector_size":3}`: 0, `{}`: 0, ``: 0, `{"sector_size":-1}`: 0,
	} {
		path := filepath.Join(folder, "f.meta")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := filparams.OpenMeta(path)
		if m.SectorSize != want || (err == nil) != (want > 0) {
			t.Errorf("%q gives %d (%v)", content, m.SectorSize, err)
		}
	}
	if _, err := filparams.OpenMeta(filepath.Join(folder, "none")); failure.ClassOf(err) != failure.Usage {
		t.Errorf("a file that is not there: %v", err)
	}
}

// FuzzParse damages a small file: the reader names what is wrong or hands out a file whose parts agree.
func FuzzParse(f *testing.F) {
	one := make([]byte, fp.Bytes)
	f.Add(one, uint32(0), uint32(0))
	f.Add([]byte(`{"sector_size":2048}`), uint32(1<<31), uint32(0))
	good := tiny(f)
	for _, at := range []int{0, 864, 868, 868 + 3*96, len(good) - 5} {
		f.Add(good[:868+3*96+4+96*4], uint32(at), uint32(1))
		f.Add(good[:868+3*96+4+96*4], uint32(at), uint32(1)<<31)
	}
	f.Fuzz(func(t *testing.T, data []byte, at, value uint32) {
		data = bytes.Clone(data)
		if int(at)+4 <= len(data) {
			binary.BigEndian.PutUint32(data[at:], value)
		}
		for _, read := range []func() error{
			func() error {
				p, err := filparams.Parse("f", data)
				if err == nil && p.Lengths().ParamsBytes() != int64(len(data)) {
					t.Fatalf("lengths %+v of a file of %d bytes", p.Lengths(), len(data))
				}
				return err
			},
			func() error { _, err := filparams.ParseVerifyingKey("f", data); return err },
			func() error { _, err := filparams.ParseMeta("f", data); return err },
		} {
			var e *failure.Error
			if err := read(); err != nil && (!errors.As(err, &e) || e.Class != failure.Key || e.File != "f") {
				t.Fatalf("an error without class or file: %v", err)
			}
		}
	})
}
