package gnark

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// systemOf writes a constraint system to a file and reads its header.
func systemOf(t testing.TB, data []byte) (*System, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ccs.bin")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenSystem(path, "")
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// replaceNumber finds a field of the CBOR body and gives it a 64-bit number.
func replaceNumber(t *testing.T, data []byte, field string, n uint64) []byte {
	t.Helper()
	at := bytes.Index(data, []byte(field)) + len(field)
	size := 1
	if info := data[at] & 0x1f; info >= 24 {
		size += 1 << (info - 24)
	}
	number := binary.BigEndian.AppendUint64([]byte{0x1b}, n)
	out := bytes.Join([][]byte{data[:at], number, data[at+size:]}, nil)
	binary.LittleEndian.PutUint64(out, uint64(len(out)-32))
	binary.LittleEndian.PutUint64(out[56:], binary.LittleEndian.Uint64(out[56:])+uint64(len(number)-size))
	return out
}

func TestMalformedSystems(t *testing.T) {
	good := readFile(t, setUp(t, curve.BN254, "three commitments").path("ccs.bin"))
	put := func(at int, n uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], n); return b }
	}
	section := func(i int) int {
		at := 64
		for j := range i {
			at += int(binary.LittleEndian.Uint64(good[32+8*j:]))
		}
		return at
	}
	other := readFile(t, setUp(t, curve.BLS12381, "three commitments").path("ccs.bin"))
	otherTable := other[len(other)-5*32-8:]
	for name, c := range map[string]struct {
		damage func(b []byte) []byte
		text   string
	}{
		"empty":                       {func(b []byte) []byte { return nil }, "the file is empty"},
		"length of 2^62":              {put(0, 1<<62), "it says that 4611686018427387904 bytes follow"},
		"length of 2^64-1":            {put(0, 1<<64-1), "bytes follow the header"},
		"version 1.0":                 {put(8, 1), "it says gnark 1."},
		"version 0.9":                 {put(16, 9), "it says gnark 0.9."},
		"levels of 2^62":              {put(32, 1<<62), "section levels says it has 4611686018427387904 bytes"},
		"instructions of 2^64-1":      {put(40, 1<<64-1), "section instructions says it has"},
		"calldata of 2^62":            {put(48, 1<<62), "section calldata says it has"},
		"body of 2^62":                {put(56, 1<<62), "section body says it has"},
		"body too short":              {put(56, 20), "section body at offset"},
		"2^62 levels":                 {put(section(0), 1<<62), "levels are claimed"},
		"level of 2^62 words":         {put(section(0)+8, 1<<62), "a list of 4611686018427387904 words"},
		"block of no words":           {put(section(0)+16, 1), "a block of 1 integers in 0 words"},
		"block of 2^32-1 integers":    {put(section(0)+16, 3<<32|(1<<32-1)), "a block of 4294967295 integers"},
		"column of 2^62 words":        {put(section(1), 1<<62), "section instructions at offset"},
		"2^62 words of calldata":      {put(section(2), 1<<62), "section calldata at offset"},
		"2^62 coefficients":           {put(len(good)-len(otherTable), 1<<62), ""},
		"coefficient not below r":     {func(b []byte) []byte { copy(b[len(b)-64:], bytes.Repeat([]byte{0xff}, 32)); return b }, "is not below r, the modulus of BN254"},
		"coefficients of BLS12-381":   {func(b []byte) []byte { return append(b[:len(b)-len(otherTable)], otherTable...) }, "coefficients at offset"},
		"2^50 internal wires":         {func(b []byte) []byte { return replaceNumber(t, b, "NbInternalVariables", 1<<50) }, "the number of internal wires is 1125899906842624"},
		"2^64-1 constraints":          {func(b []byte) []byte { return replaceNumber(t, b, "NbConstraints", 1<<64-1) }, "the number of constraints is 18446744073709551615"},
		"unknown type":                {func(b []byte) []byte { return replaceNumber(t, b, "dType", 9) }, "its type is 9"},
		"commitment to a public wire": {func(b []byte) []byte { return replaceNumber(t, b, "CommitmentIndex", 1) }, "is of wire 1, which is not a private one"},
		"field of another curve":      {func(b []byte) []byte { b[bytes.Index(b, []byte("30644e72"))] = '2'; return b }, "belongs neither to BN254 nor to BLS12-381"},
		"field no number":             {func(b []byte) []byte { b[bytes.Index(b, []byte("30644e72"))] = 'x'; return b }, "is not a hexadecimal number"},
		"something behind":            {func(b []byte) []byte { return append(b, 0) }, "has something behind it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := systemOf(t, c.damage(bytes.Clone(good)))
			wantFailure(t, err, failure.Key, c.text)
		})
	}
}

func TestPLONKSystemIsRefused(t *testing.T) {
	system, err := frontend.Compile(curve.BN254.ScalarModulus(), scs.NewBuilder, &cubic{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ccs.bin")
	write(t, path, system)
	_, err = OpenSystem(path, "")
	wantFailure(t, err, failure.Key, "compiled for PLONK")
}

func TestOtherCurvesSystemIsRefused(t *testing.T) {
	system, err := frontend.Compile(ecc.BLS12_377.ScalarField(), r1cs.NewBuilder, &cubic{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ccs.bin")
	write(t, path, system)
	_, err = OpenSystem(path, "")
	wantFailure(t, err, failure.Key, "belongs neither to BN254 nor to BLS12-381")
}

func TestTruncatedSystems(t *testing.T) {
	for _, id := range curve.All {
		good := readFile(t, setUp(t, id, "lookup").path("ccs.bin"))
		for n := range good {
			if n > 300 && n < len(good)-50 && n%97 != 0 {
				continue
			}
			if _, err := systemOf(t, good[:n]); err == nil {
				t.Fatalf("a constraint system cut to %d of %d bytes was accepted", n, len(good))
			} else if failure.ClassOf(err) != failure.Key {
				t.Fatalf("cut to %d bytes: %s failure %v", n, failure.ClassOf(err), err)
			}
			// The same with the length made to fit.
			if n < 64 {
				continue
			}
			cut := bytes.Clone(good[:n])
			binary.LittleEndian.PutUint64(cut, uint64(n-32))
			if _, err := systemOf(t, cut); err == nil {
				t.Fatalf("a constraint system cut to %d of %d bytes, with its length, was accepted", n, len(good))
			}
		}
	}
}

// A flipped byte is refused, or changes nothing that matters: no panic, no crash that is not explained.
func TestFlippedBytesOfASystem(t *testing.T) {
	s := setUp(t, curve.BN254, "lookup")
	good := readFile(t, s.path("ccs.bin"))
	dir := t.TempDir()
	path := filepath.Join(dir, "ccs.bin")
	step := len(good)/30 + 1
	for at := 0; at < len(good); at += step {
		bad := bytes.Clone(good)
		bad[at] ^= 0x41
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := tryOpen(t, s.id, path, s.path("pk.bin"), s.path("witness.bin"), Options{MemoryBytes: 700 << 20})
		if err == nil {
			var a *Assignment
			if a, err = o.solver.Solve(t.Context(), o.witness); err == nil {
				_ = a.Close()
			}
		}
		if c := failure.ClassOf(err); err != nil && c != failure.Key && c != failure.Input {
			t.Errorf("byte %d flipped: %s failure %v", at, c, err)
		}
	}
}

func TestMalformedWitnesses(t *testing.T) {
	good := readFile(t, setUp(t, curve.BN254, "emulated").path("witness.bin"))
	put := func(at int, n uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], n); return b }
	}
	for name, c := range map[string]struct {
		damage func(b []byte) []byte
		text   string
	}{
		"empty":             {func([]byte) []byte { return nil }, "the file is empty"},
		"in the header":     {func(b []byte) []byte { return b[:11] }, "ends inside its header of 12 bytes"},
		"header alone":      {func(b []byte) []byte { return b[:12] }, "but 0 bytes follow the header"},
		"length of 2^32-1":  {put(8, 1<<32-1), "but 4294967295 in all"},
		"2^32-1 values":     {func(b []byte) []byte { return put(0, 0)(put(4, 1<<32-1)(put(8, 1<<32-1)(b))) }, "4294967295 values take 137438953440 bytes"},
		"sum overflows":     {func(b []byte) []byte { return put(0, 1<<31)(put(4, 1<<31)(put(8, 0)(b))) }, "but 0 in all"},
		"one byte short":    {func(b []byte) []byte { return b[:len(b)-1] }, "is truncated"},
		"one byte more":     {func(b []byte) []byte { return append(b, 0) }, "bytes follow the header"},
		"value not below r": {func(b []byte) []byte { b[12+32] = 0xff; return b }, "values at offset 44: value 1 is not below r"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "witness.bin")
			if err := os.WriteFile(path, c.damage(bytes.Clone(good)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := OpenWitness(t.Context(), path, curve.BN254)
			wantFailure(t, err, failure.Input, path, c.text)
		})
	}
}

func TestMalformedSolutions(t *testing.T) {
	vector := func(n uint32, values ...byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, n)
		for _, v := range values {
			b = append(b, append(make([]byte, 31), v)...)
		}
		return b
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, c := range map[string]struct {
		data []byte
		text string
	}{
		"empty":            {nil, "ends inside a length"},
		"in a length":      {[]byte{0, 0}, "ends inside a length"},
		"no wires":         {vector(0), "has no wires"},
		"2^32-1 wires":     {vector(1<<32-1, 1), "4294967295 values are claimed"},
		"wire 0 is 2":      {vector(1, 2), "wire 0 is not 1"},
		"A cut off":        {join(vector(1, 1), vector(2, 1)), "A at offset 36"},
		"C missing":        {join(vector(1, 1), vector(1, 1), vector(1, 1)), "C at offset 108"},
		"something behind": {join(vector(1, 1), vector(0), vector(0), vector(0), []byte{7}), "1 bytes follow"},
		"not below r":      {append(vector(2, 1), bytes.Repeat([]byte{0xff}, 32)...), "value 1 is not below r"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSolution(t.Context(), "solution.bin", c.data, curve.BN254)
			wantFailure(t, err, failure.Input, c.text)
		})
	}
}

// Lengths that a file claims must not become memory.
func TestNoMemoryForClaimedLengths(t *testing.T) {
	good := readFile(t, setUp(t, curve.BN254, "three commitments").path("ccs.bin"))
	systems := map[string][]byte{
		"wires":  replaceNumber(t, bytes.Clone(good), "NbInternalVariables", 1<<31),
		"length": append(binary.LittleEndian.AppendUint64(nil, 1<<62), good[8:]...),
	}
	measure := func(name string, size int, f func()) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 10*uint64(size)+1<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, used, size)
		}
	}
	for name, data := range systems {
		path := filepath.Join(t.TempDir(), "ccs.bin")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		measure(name, len(data), func() {
			if s, err := OpenSystem(path, ""); err == nil {
				_ = s.Close()
			}
		})
	}
	header := []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	measure("witness", len(header), func() {
		if _, err := ParseWitness(t.Context(), "w", header, curve.BN254); err == nil {
			t.Error("accepted")
		}
	})
}

// A constraint system that claims more wires than its key has never reaches the solver.
func TestKeyBoundsTheSystem(t *testing.T) {
	s := setUp(t, curve.BN254, "cubic")
	for field, text := range map[string]string{"NbInternalVariables": "wires and the constraint system", "NbConstraints": "its domain is"} {
		path := filepath.Join(t.TempDir(), "ccs.bin")
		if err := os.WriteFile(path, replaceNumber(t, readFile(t, s.path("ccs.bin")), field, 1<<31), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := tryOpen(t, s.id, path, s.path("pk.bin"), s.path("witness.bin"), Options{})
		wantFailure(t, err, failure.Key, path, text)
	}
}

// seeds adds files of earlier versions and of the repository's circuits: a set-up in every process would take longer than
// what is fuzzed.
func seeds(f *testing.F, name string) {
	n := 0
	for _, pattern := range []string{"testdata/*/*/*/", "../../../test/circuits/gnark/*/"} {
		paths, err := filepath.Glob(pattern + name)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			if data := readFile(f, path); len(data) < 16<<10 {
				f.Add(data)
				n++
			}
		}
	}
	if n < 12 {
		f.Fatalf("%d seeds", n)
	}
}

func FuzzSystem(f *testing.F) {
	seeds(f, "ccs.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &System{name: "ccs.bin"}
		if err := s.parse(data); err != nil {
			if failure.ClassOf(err) != failure.Key {
				t.Errorf("%s failure: %v", failure.ClassOf(err), err)
			}
			return
		}
		if s.SolverBytes() < 0 || s.AssignmentBytes() < 0 {
			t.Errorf("it needs %d bytes to solve and %d for the assignment", s.SolverBytes(), s.AssignmentBytes())
		}
	})
}

func FuzzWitness(f *testing.F) {
	seeds(f, "witness*.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, id := range curve.All {
			w, err := ParseWitness(t.Context(), "witness.bin", data, id)
			if err != nil {
				if failure.ClassOf(err) != failure.Input {
					t.Errorf("%s failure: %v", failure.ClassOf(err), err)
				}
				continue
			}
			if len(w.PublicInputs()) != w.Public() {
				t.Error("public inputs are missing")
			}
		}
	})
}

func FuzzSolution(f *testing.F) {
	one := append(make([]byte, 31), 1)
	f.Add(append([]byte{0, 0, 0, 1}, one...))
	f.Add(bytes.Repeat(append([]byte{0, 0, 0, 1}, one...), 4))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, id := range curve.All {
			if _, err := ParseSolution(t.Context(), "solution.bin", data, id); err != nil && failure.ClassOf(err) != failure.Input {
				t.Errorf("%s failure: %v", failure.ClassOf(err), err)
			}
		}
	})
}
