package circom

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// Input is the values of a circuit's input signals, as users write them in input.json: an object of signals, each a
// number, a decimal string, or nested arrays of them (flattened in order). Members of a bus are objects, named
// "bus.member"; arrays of buses are named "bus[0].member". Numbers are of any size and sign; the circuit's field reduces
// them. Values are often secret: no error of this package contains one.
type Input struct {
	name    string
	signals []signal
}

type signal struct {
	name   string
	values []*big.Int
}

// OpenInput reads an input.json. Errors are *failure.Error of class Input (its content), Usage or IO (the file itself).
func OpenInput(path string) (*Input, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var in *Input
	err = mapped.Guard(func() (err error) { in, err = ParseInput(path, file.Bytes()); return err })
	return in, failure.InFile(err, path)
}

// ParseInput is OpenInput for JSON in memory; name is for messages.
func ParseInput(name string, data []byte) (*Input, error) {
	root, err := parseDocument(name, data)
	if err != nil {
		return nil, err
	}
	in := &Input{name: name}
	if err := in.addMembers("", root); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(in.signals))
	for _, s := range in.signals {
		if seen[s.name] {
			return nil, in.errorf(s.name, "is there twice, so it is unclear which value counts").WithFix("remove one")
		}
		seen[s.name] = true
	}
	return in, nil
}

// Signals counts the signals that the input sets.
func (in *Input) Signals() int { return len(in.signals) }

// names lists the signals for messages: what is missing is best seen from what is there.
func (in *Input) names() string {
	const most = 20
	names := make([]string, 0, most)
	for _, s := range in.signals {
		if len(names) == most {
			names = append(names, fmt.Sprintf("and %d more", len(in.signals)-most))
			break
		}
		names = append(names, fmt.Sprintf("%s (%d)", s.name, len(s.values)))
	}
	return strings.Join(names, ", ")
}

func (in *Input) errorf(name, msg string, args ...any) *failure.Error {
	e := failure.New(failure.Input, msg, args...).In(in.name)
	e.Section = fmt.Sprintf("signal %q", name)
	return e
}

// addMembers adds an object's members as signals whose names begin with prefix.
func (in *Input) addMembers(prefix string, object node) error {
	for _, m := range object.members {
		if err := in.add(prefix+m.name, m.value); err != nil {
			return err
		}
	}
	return nil
}

func (in *Input) add(name string, n node) error {
	switch {
	case n.kind == object:
		return in.addMembers(name+".", n)
	case n.kind == array && n.holds(object):
		if n.holds(number) {
			return in.errorf(name, "mixes numbers and objects in one array")
		}
		for i, item := range n.items {
			if err := in.add(fmt.Sprintf("%s[%d]", name, i), item); err != nil {
				return err
			}
		}
		return nil
	}
	in.signals = append(in.signals, signal{name, n.flatten(nil)})
	return nil
}

// Clear overwrites the values; the input must not be used any more.
func (in *Input) Clear() {
	for _, s := range in.signals {
		for _, x := range s.values {
			clear(x.Bits())
		}
	}
}
