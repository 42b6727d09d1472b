package circom

import (
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

func flat(in *Input) map[string][]string {
	out := make(map[string][]string)
	for _, s := range in.signals {
		values := []string{}
		for _, x := range s.values {
			values = append(values, x.String())
		}
		out[s.name] = values
	}
	return out
}

func TestParseInputReadsWhatCircomUsersWrite(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 300).String()
	for name, c := range map[string]struct {
		json string
		want map[string][]string
	}{
		"strings and numbers": {`{"a": "3", "b": 4, "c": -5, "d": "-6"}`,
			map[string][]string{"a": {"3"}, "b": {"4"}, "c": {"-5"}, "d": {"-6"}}},
		"nested arrays": {`{"m": [[1, "2"], [3, [4]]]}`, map[string][]string{"m": {"1", "2", "3", "4"}}},
		"exact beyond 2^53": {`{"a": 9007199254740993, "b": "` + huge + `", "c": ` + huge + `}`,
			map[string][]string{"a": {"9007199254740993"}, "b": {huge}, "c": {huge}}},
		"hexadecimal": {`{"a": "0xfF"}`, map[string][]string{"a": {"255"}}},
		"truth":       {`{"a": true, "b": [false, true]}`, map[string][]string{"a": {"1"}, "b": {"0", "1"}}},
		"empty array": {`{"a": []}`, map[string][]string{"a": {}}},
		"nothing":     {` {} `, map[string][]string{}},
		"bus":         {`{"p": {"x": 1, "y": [2, 3]}}`, map[string][]string{"p.x": {"1"}, "p.y": {"2", "3"}}},
		"array of buses": {`{"p": [{"x": 1}, {"x": 2}], "q": [[{"x": 3}], [{"x": 4}]]}`,
			map[string][]string{"p[0].x": {"1"}, "p[1].x": {"2"}, "q[0][0].x": {"3"}, "q[1][0].x": {"4"}}},
		"escaped name": {`{"\u0061": 1}`, map[string][]string{"a": {"1"}}},
	} {
		in, err := ParseInput("input.json", []byte(c.json))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, flat(in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseInputNamesWhatIsWrongWithoutValues(t *testing.T) {
	const secret = "4711471147114711"
	for name, c := range map[string]struct{ json, want string }{
		"empty":              {``, "the JSON ends too early"},
		"not an object":      {`[1]`, "must be a JSON object"},
		"number alone":       {secret, "must be a JSON object"},
		"truncated":          {`{"a": ` + secret, "the JSON ends too early"},
		"truncated array":    {`{"a": [` + secret, "the JSON ends too early"},
		"bad syntax":         {`{"a": ` + secret + `x}`, "is not valid JSON"},
		"trailing":           {`{"a": ` + secret + `} {}`, "more content follows"},
		"fraction":           {`{"a": ` + secret + `.5}`, `signal "a"`},
		"exponent":           {`{"a": ` + secret + `e3}`, "has a fraction or an exponent"},
		"text":               {`{"abc": ["1", "` + secret + `x"]}`, `signal "abc"`},
		"empty string":       {`{"a": ""}`, "a string is not an integer"},
		"plus":               {`{"a": "+` + secret + `"}`, "a string is not an integer"},
		"space":              {`{"a": " ` + secret + `"}`, "a string is not an integer"},
		"underscore":         {`{"a": "4711_` + secret + `"}`, "a string is not an integer"},
		"minus alone":        {`{"a": "-"}`, "a string is not an integer"},
		"negative hex":       {`{"a": "-0x4"}`, "a string is not an integer"},
		"octal":              {`{"a": "0o17"}`, "a string is not an integer"},
		"null":               {`{"a": {"b": null}}`, `signal "a.b"`},
		"too long":           {`{"a": "` + strings.Repeat(secret, 100) + `"}`, "more than 1000 digits"},
		"twice":              {`{"a": 1, "a": 2}`, `signal "a": is there twice`},
		"twice by bus":       {`{"a.b": 1, "a": {"b": 2}}`, `signal "a.b": is there twice`},
		"mixed array":        {`{"a": [1, {"x": 2}]}`, "mixes numbers and objects"},
		"too deep":           {`{"a": ` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, "nested more than 64 deep"},
		"too deep in a bus":  {strings.Repeat(`{"a": `, 70) + "1" + strings.Repeat("}", 70), "nested more than 64 deep"},
		"invalid characters": {"\xff\xfe", "is not valid JSON"},
	} {
		_, err := ParseInput("input.json", []byte(c.json))
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Input || e.File != "input.json" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an input error that says %q", name, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the message tells a value: %v", name, err)
		}
	}
}

func TestOpenInputNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.json")
	if _, err := OpenInput(path); failure.ClassOf(err) != failure.Usage {
		t.Errorf("a missing file gives %v, want a usage error", err)
	}
	if err := os.WriteFile(path, []byte(`{"x": ["1", 2]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := OpenInput(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"x": {"1", "2"}}, flat(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The hashes by which circom's programs know signals: FNV-1a of 64 bits; the values are from the FNV reference.
func TestSignalHashIsFNV1a(t *testing.T) {
	for name, want := range map[string]uint64{"": 0xcbf29ce484222325, "a": 0xaf63dc4c8601ec8c, "foobar": 0x85944171f73967e8} {
		if got := signalHash(name); got != want {
			t.Errorf("hash of %q is %#x, want %#x", name, got, want)
		}
	}
}
