package binfile

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

var testFormat = Format{Magic: "test", Kind: "test file", MaxVersion: 2, Class: failure.Key,
	Sections: map[uint32]string{1: "first", 2: "second"}}

func file(version, sections uint32, parts ...any) []byte {
	out := []byte("test")
	out = binary.LittleEndian.AppendUint32(out, version)
	out = binary.LittleEndian.AppendUint32(out, sections)
	for _, p := range parts {
		switch v := p.(type) {
		case int:
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		case uint64:
			out = binary.LittleEndian.AppendUint64(out, v)
		case string:
			out = append(out, v...)
		}
	}
	return out
}

func TestParseFindsSections(t *testing.T) {
	data := file(2, 3, 2, uint64(3), "two", 9, uint64(1), "?", 1, uint64(0), "tail")
	c, err := Parse("f", data, testFormat)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Section(2)
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Section(1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"two", int64(24), "", uint32(2), 4}, []any{string(second.Bytes()), second.Offset(),
		string(first.Bytes()), c.Version(), c.Trailing()}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if cap(second.Bytes()) != 3 {
		t.Error("a section can be appended to, into the next one")
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":         {nil, "f: the file is empty"},
		"three bytes":     {[]byte("tes"), `f: offset 0: is not a test file: it must begin with "test" but begins with "tes"`},
		"other magic":     {[]byte("best............"), `begins with "best"`},
		"header":          {file(1, 0)[:11], "offset 11: the file ends inside its header"},
		"version 0":       {file(0, 0), "offset 4: version 0"},
		"version 3":       {file(3, 0), "(known: 1 to 2)"},
		"no section":      {file(1, 1), "offset 12: the file ends where section 1 of 1 should begin"},
		"2^32-1 sections": {file(1, 1<<32-1, 1, uint64(0)), "section 2 of 4294967295"},
		"half a header":   {file(1, 1, 1, 0), "section 1 of 1"},
		"size by one":     {file(1, 1, 1, uint64(2), "x"), "section 1 (first) at offset 12: says it has 2 bytes but the file has only 1 more"},
		"size 2^63":       {file(1, 1, 1, uint64(1)<<63, "x"), "9223372036854775808"},
		"size that wraps": {file(1, 2, 1, ^uint64(0)-11, "x"), "18446744073709551604"},
		"unknown section": {file(1, 1, 7, uint64(5), "x"), "section 7 at offset 12"},
	} {
		_, err := Parse("f", c.data, testFormat)
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Key || e.Fix == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a key error with a fix that says %q", name, err, c.want)
		}
	}
}

func TestSectionMustBeThereOnce(t *testing.T) {
	c, err := Parse("f", file(1, 4, 1, uint64(0), 9, uint64(0), 1, uint64(0), 9, uint64(0)), testFormat)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uint32]string{1: "section 1 (first) is there 2 times", 2: "section 2 (second) is missing"} {
		if _, err := c.Section(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("section %d: got %v, want %q", id, err, want)
		}
	}
}

func TestCursorStopsAtTheEnd(t *testing.T) {
	c, err := Parse("f", file(1, 1, 1, uint64(13), 5, uint64(6), "x"), testFormat)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Section(1)
	if err != nil {
		t.Fatal(err)
	}
	cur := s.Cursor()
	if n := cur.Uint32("a"); n != 5 {
		t.Errorf("a is %d, want 5", n)
	}
	if n := cur.Uint64("b"); n != 6 {
		t.Errorf("b is %d, want 6", n)
	}
	if err := s.Cursor().End(); err == nil || !strings.Contains(err.Error(), "has 13 bytes more") {
		t.Errorf("what is left over gives %v", err)
	}
	if n := cur.Uint32("c"); n != 0 {
		t.Errorf("c is %d, want 0: it is not there", n)
	}
	want := "f: section 1 (first) at offset 36: ends inside c: 4 bytes are wanted and 1 are left"
	if err := cur.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if b := cur.Bytes(1, "d"); b != nil {
		t.Error("a cursor reads on after an error")
	}
	if err := s.Expect(1<<62, "%d things", 7); err == nil || !strings.Contains(err.Error(), "must have 4611686018427387904 (7 things)") {
		t.Errorf("got %v", err)
	}
}
