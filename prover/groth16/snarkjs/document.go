// Package snarkjs reads and writes the JSON of snarkjs: proof.json, public.json and the verification key.
//
// Reading is strict, because what a verifier accepts must not depend on how lenient a parser is: numbers are decimal
// strings without sign, space or leading zero and below their modulus; points are on the curve and in the subgroup,
// in projective form with z = 1. Errors name the place in the document, for instance pi_b[1][0].
package snarkjs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// Bounds of what is read. A document of the largest size is tens of times larger than its content once parsed.
const (
	// MaxProofBytes bounds proof.json; a real one has about a kilobyte.
	MaxProofBytes = 64 << 10
	// MaxDocumentBytes bounds public.json and verification keys: about 200,000 public inputs.
	MaxDocumentBytes = 64 << 20

	maxDepth  = 8
	maxDigits = 120
)

// reader parses one document and turns what is wrong with it into errors of its class.
type reader struct {
	// what the document is, for messages: "proof".
	what  string
	class failure.Class
}

func (r reader) errorf(path, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if path != "" {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return failure.New(r.class, "%s: %w", r.what, err)
}

// refusedf is for what is well-formed but cannot be part of a valid proof, whatever the key.
func (r reader) refusedf(path, format string, args ...any) error {
	if r.class == failure.Input {
		r.class = failure.Verification
	}
	return r.errorf(path, format, args...)
}

// document parses JSON into maps, slices and strings, refusing what encoding/json would let pass: repeated members, depth
// beyond any snarkjs document, anything after the value.
func (r reader) document(data []byte, limit int) (any, error) {
	if len(data) > limit {
		return nil, r.errorf("", "it has %d bytes, more than the %d that are read", len(data), limit)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := r.value(dec, "", 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, r.errorf("", "there is something after the end of the JSON value, at byte %d", dec.InputOffset())
	}
	return v, nil
}

func (r reader) syntax(dec *json.Decoder, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.errorf("", "the JSON ends early, at byte %d", dec.InputOffset())
	}
	return r.errorf("", "it is not JSON: %w", err)
}

func (r reader) value(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, r.errorf(path, "nested more than %d deep", maxDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return nil, r.syntax(dec, err)
	}
	switch token {
	case json.Delim('{'):
		members := map[string]any{}
		for dec.More() {
			token, err := dec.Token()
			if err != nil {
				return nil, r.syntax(dec, err)
			}
			name, _ := token.(string) // the decoder accepts nothing else here
			at := name
			if path != "" {
				at = path + "." + name
			}
			if _, repeated := members[name]; repeated {
				return nil, r.errorf(at, "appears twice")
			}
			if members[name], err = r.value(dec, at, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := dec.Token()
		if err != nil {
			return nil, r.syntax(dec, err)
		}
		return members, nil
	case json.Delim('['):
		items := []any{}
		for dec.More() {
			item, err := r.value(dec, fmt.Sprintf("%s[%d]", path, len(items)), depth+1)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		if _, err := dec.Token(); err != nil {
			return nil, r.syntax(dec, err)
		}
		return items, nil
	}
	return token, nil
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a bare number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}

func (r reader) object(v any, path string) (map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, r.errorf(path, "want an object, got %s", kind(v))
	}
	return m, nil
}

// list reads a list of exactly want items, or of any number if want is negative.
func (r reader) list(v any, path string, want int) ([]any, error) {
	l, ok := v.([]any)
	switch {
	case !ok:
		return nil, r.errorf(path, "want a list, got %s", kind(v))
	case want >= 0 && len(l) != want:
		return nil, r.errorf(path, "want %d items, got %d", want, len(l))
	}
	return l, nil
}

// member is a required member of an object.
func (r reader) member(m map[string]any, name string) (any, error) {
	v, ok := m[name]
	if !ok {
		return nil, r.errorf(name, "missing")
	}
	return v, nil
}

func (r reader) text(v any, path string) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", r.errorf(path, "want a string, got %s", kind(v))
	}
	return s, nil
}

// integer reads a canonical decimal string: digits alone, no leading zero, of a bounded length.
func (r reader) integer(v any, path string) (*big.Int, error) {
	s, ok := v.(string)
	if !ok {
		return nil, r.errorf(path, "want a decimal number in quotes, got %s", kind(v))
	}
	switch {
	case s == "":
		return nil, r.errorf(path, "want a decimal number, got an empty string")
	case strings.HasPrefix(s, "-"):
		return nil, r.errorf(path, "the number is negative: reduce it modulo the field first")
	case strings.HasPrefix(s, "0x"), strings.HasPrefix(s, "0X"):
		return nil, r.errorf(path, "the number is hexadecimal: write it in decimal")
	case strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' }):
		return nil, r.errorf(path, "want decimal digits alone, got %q", clip(s))
	case len(s) > 1 && s[0] == '0':
		return nil, r.errorf(path, "the number has a leading zero")
	case len(s) > maxDigits:
		return nil, r.refusedf(path, "the number has %d digits, more than any field element", len(s))
	}
	n, _ := new(big.Int).SetString(s, 10)
	return n, nil
}

func clip(s string) string {
	if len(s) > 32 {
		return s[:32] + "…"
	}
	return s
}
