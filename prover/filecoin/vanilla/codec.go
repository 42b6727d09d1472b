// Package vanilla reads and writes the inputs of Filecoin's circuits: the vanilla proofs that open a sector's trees, in
// the two encodings of the reference, JSON (serde's) and bincode.
//
// What an input holds follows from the circuit's shape, down to the length of each list. So a reader knows what has to
// come, allocates nothing that the shape does not need, and names the field that is wrong.
package vanilla

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// codec reads or writes one encoding. Values are described once, in the reference's order, for both encodings and both
// directions. After the first error nothing more is read.
type codec interface {
	// object is a struct of the reference.
	object(fields ...field)
	// list has a known length. begin, which may be nil, is called before the first item, when the length has been found
	// to be right.
	list(length int, begin func(), item func(i int))
	// variant is an enum's value, of which only one is right.
	variant(tag uint32, name string, content func())
	// node is 32 bytes that must be below the field's modulus; bytes32 need not be.
	node(n *filecoin.Node)
	bytes32(n *filecoin.Node)
	uint32(v *uint32)
	uint64(v *uint64)
	// check refuses a value that has been read, unless ok.
	check(ok bool, format string, args ...any)
}

// field is a field of a struct. One without value is serde's phantom: null in JSON, nothing in bincode.
type field struct {
	name  string
	value func()
}

// place is where a reader stands.
type place struct {
	file string
	path []step
	err  *failure.Error
}

// step is a field's name, or a position in a list where the name is empty.
type step struct {
	name  string
	index int
}

func (p *place) enter(name string) { p.path = append(p.path, step{name: name}) }
func (p *place) enterItem(i int)   { p.path = append(p.path, step{index: i}) }
func (p *place) leave()            { p.path = p.path[:len(p.path)-1] }

// fail keeps the first error, with the path of the field.
func (p *place) fail(offset int, format string, args ...any) {
	if p.err == nil {
		p.err = failure.New(failure.Input, format, args...).In(p.file).At(p.String(), int64(offset))
	}
}

// String is the path in the way of Go and JavaScript: vanilla_proofs[0][17].comm_d_proofs.
func (p *place) String() string {
	var b strings.Builder
	for _, s := range p.path {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	if b.Len() == 0 {
		return "the input"
	}
	return b.String()
}

// result is the first error as an error.
func (p *place) result() error {
	if p.err == nil {
		return nil
	}
	return p.err
}

// noun is a number with its noun.
func noun(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
