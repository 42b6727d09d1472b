package circom

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

// maxDigits bounds a single number; r has 78 digits. It keeps parsing linear in the file's size.
const maxDigits = 1000

// maxNesting bounds arrays and objects within each other.
const maxNesting = 64

const inputExample = `write an object of the circuit's input signals, for instance {"a": "3", "b": [1, 2]}`

type nodeKind uint8

const (
	number nodeKind = iota
	array
	object
)

// node is a value of the document. Unlike encoding/json's own tree it keeps members in their order and all of them, so
// that a signal given twice is noticed.
type node struct {
	kind    nodeKind
	value   *big.Int
	items   []node
	members []member
}

type member struct {
	name  string
	value node
}

// holds reports whether a value of the kind is in the array or in the arrays in it.
func (n node) holds(kind nodeKind) bool {
	for _, item := range n.items {
		if item.kind == kind || item.kind == array && item.holds(kind) {
			return true
		}
	}
	return false
}

// flatten appends the numbers in the order of the document.
func (n node) flatten(values []*big.Int) []*big.Int {
	if n.kind == number {
		return append(values, n.value)
	}
	for _, item := range n.items {
		values = item.flatten(values)
	}
	return values
}

type inputParser struct {
	name    string
	decoder *json.Decoder
}

// parseDocument reads an object of numbers, decimal strings, arrays and objects.
func parseDocument(name string, data []byte) (node, error) {
	p := &inputParser{name, json.NewDecoder(bytes.NewReader(data))}
	p.decoder.UseNumber()
	t, err := p.token()
	if err != nil {
		return node{}, err
	}
	if t != json.Delim('{') {
		return node{}, p.errorf(0, "", "must be a JSON object").WithFix(inputExample)
	}
	root, err := p.node("", t, 0)
	if err != nil {
		return node{}, err
	}
	if _, err := p.decoder.Token(); !errors.Is(err, io.EOF) {
		return node{}, p.errorf(p.decoder.InputOffset(), "", "more content follows the object of signals").WithFix(inputExample)
	}
	return root, nil
}

func (p *inputParser) errorf(offset int64, path, msg string, args ...any) *failure.Error {
	e := failure.New(failure.Input, msg, args...).In(p.name)
	e.Offset = offset
	if path != "" {
		e.Section = fmt.Sprintf("signal %q", path)
	}
	return e
}

// token returns the next token; of the decoder's error only the place is told, not the text that it quotes.
func (p *inputParser) token() (json.Token, error) {
	t, err := p.decoder.Token()
	if err == nil {
		return t, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, p.errorf(p.decoder.InputOffset(), "", "the JSON ends too early").WithFix(inputExample)
	}
	return nil, p.errorf(p.decoder.InputOffset(), "", "is not valid JSON").WithFix(inputExample)
}

// node reads the value that begins with the token t. The path is for messages.
func (p *inputParser) node(path string, t json.Token, depth int) (node, error) {
	if depth > maxNesting {
		return node{}, p.errorf(p.decoder.InputOffset(), path, "arrays and objects are nested more than %d deep", maxNesting)
	}
	switch t {
	case json.Delim('['):
		return p.array(path, depth)
	case json.Delim('{'):
		return p.object(path, depth)
	}
	x, why := integer(t)
	if why != "" {
		return node{}, p.errorf(p.decoder.InputOffset(), path, "%s", why).
			WithFix("write integers, and large ones as decimal strings")
	}
	return node{kind: number, value: x}, nil
}

func (p *inputParser) array(path string, depth int) (node, error) {
	n := node{kind: array}
	for {
		t, err := p.token()
		if err != nil {
			return node{}, err
		}
		if t == json.Delim(']') {
			return n, nil
		}
		item, err := p.node(path, t, depth+1)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
}

func (p *inputParser) object(path string, depth int) (node, error) {
	n := node{kind: object}
	for {
		t, err := p.token()
		if err != nil {
			return node{}, err
		}
		key, ok := t.(string)
		if !ok {
			return n, nil // the closing brace: nothing else can stand here
		}
		if t, err = p.token(); err != nil {
			return node{}, err
		}
		name := key
		if path != "" {
			name = path + "." + key
		}
		value, err := p.node(name, t, depth+1)
		if err != nil {
			return node{}, err
		}
		n.members = append(n.members, member{key, value})
	}
}

// integer reads a number as snarkjs users write them: JSON numbers, strings of decimal digits with an optional minus, of
// hexadecimal digits after 0x, and truth values. Unlike JavaScript it takes JSON numbers of any size exactly.
func integer(t json.Token) (x *big.Int, why string) {
	switch v := t.(type) {
	case bool:
		if v {
			return big.NewInt(1), ""
		}
		return new(big.Int), ""
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return nil, "a number has a fraction or an exponent"
		}
		return digits(string(v))
	case string:
		return digits(v)
	}
	return nil, "a value is missing (null)"
}

func digits(s string) (*big.Int, string) {
	if len(s) > maxDigits {
		return nil, fmt.Sprintf("a number has more than %d digits", maxDigits)
	}
	magnitude, negative := strings.CutPrefix(s, "-")
	base, allowed := 10, "0123456789"
	if hex, ok := strings.CutPrefix(magnitude, "0x"); ok && !negative {
		magnitude, base, allowed = hex, 16, "0123456789abcdefABCDEF"
	}
	// big.Int's own parser takes signs, underscores and prefixes that are no numbers to circom's users.
	if magnitude == "" || strings.Trim(magnitude, allowed) != "" {
		return nil, "a string is not an integer"
	}
	x, ok := new(big.Int).SetString(magnitude, base)
	if !ok {
		return nil, "a string is not an integer"
	}
	if negative {
		x.Neg(x)
	}
	return x, ""
}
