package circom

import (
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

type filePart struct {
	id   uint32
	data []byte
}

// container writes a file of iden3's binary format.
func container(magic string, version uint32, parts ...filePart) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(magic), version)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(parts)))
	for _, p := range parts {
		out = binary.LittleEndian.AppendUint32(out, p.id)
		out = binary.LittleEndian.AppendUint64(out, uint64(len(p.data)))
		out = append(out, p.data...)
	}
	return out
}

func littleEndian(x *big.Int) []byte {
	b := x.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return b
}

func words(ns ...uint32) []byte {
	var out []byte
	for _, n := range ns {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out
}

// header is a .r1cs header: wires, outputs, public inputs, private inputs, two words of labels, constraints.
func header(id curve.ID, counts ...uint32) []byte {
	return slices.Concat(words(32), littleEndian(id.ScalarModulus()), words(counts...))
}

func term(wire uint32, coefficient int64, id curve.ID) []byte {
	x := new(big.Int).Mod(big.NewInt(coefficient), id.ScalarModulus())
	return append(words(wire), littleEndian(x)...)
}

// oneConstraint is (wire 2)·(wire 3) = wire 1 - 5·wire 0.
func oneConstraint(id curve.ID) []byte {
	return slices.Concat(words(1), term(2, 1, id), words(1), term(3, 1, id), words(2), term(0, -5, id), term(1, 1, id))
}

func TestParseConstraintsReadsAnyOrderOfSections(t *testing.T) {
	for _, id := range curve.All {
		head := filePart{1, header(id, 4, 1, 0, 2, 4, 0, 1)}
		body := filePart{2, oneConstraint(id)}
		for name, file := range map[string][]byte{
			"header first":      container("r1cs", 1, head, body),
			"constraints first": container("r1cs", 1, body, filePart{3, make([]byte, 32)}, head, filePart{99, []byte("?")}),
		} {
			c, err := ParseConstraints(t.Context(), "c.r1cs", file)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			m := c.Matrices
			type facts struct {
				Curve                                                       curve.ID
				Wires, Public, Constraints, Outputs, PublicInputs, Privates int
				Labels                                                      uint64
			}
			got := facts{m.Curve, m.Wires, m.Public, m.Constraints, c.Outputs, c.PublicInputs, c.PrivateInputs, c.Labels}
			want := facts{id, 4, 1, 1, 1, 0, 2, 4}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if err := m.Satisfied(t.Context(), []curve.Scalar{{1}, {47}, {6}, {7}}); err != nil {
				t.Errorf("%s: 6·7 = 47 - 5 is refused: %v", name, err)
			}
			if err := m.Satisfied(t.Context(), []curve.Scalar{{1}, {46}, {6}, {7}}); err == nil {
				t.Errorf("%s: 6·7 = 46 - 5 is accepted", name)
			}
		}
	}
}

func TestParseConstraintsNamesWhatIsWrong(t *testing.T) {
	const id = curve.BN254
	head := filePart{1, header(id, 4, 1, 0, 2, 4, 0, 1)}
	good := oneConstraint(id)
	unreduced := slices.Clone(good)
	copy(unreduced[8:], littleEndian(id.ScalarModulus()))
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":               {nil, "the file is empty"},
		"magic":               {container("wtns", 1), `must begin with "r1cs"`},
		"version":             {container("r1cs", 2, head, filePart{2, good}), "version 2"},
		"no header":           {container("r1cs", 1, filePart{2, good}), "section 1 (header) is missing"},
		"no constraints":      {container("r1cs", 1, head), "section 2 (constraints) is missing"},
		"two headers":         {container("r1cs", 1, head, head, filePart{2, good}), "section 1 (header) is there 2 times"},
		"short header":        {container("r1cs", 1, filePart{1, head.data[:50]}, filePart{2, good}), "ends inside the number of"},
		"long header":         {container("r1cs", 1, filePart{1, append(slices.Clone(head.data), 0)}, filePart{2, good}), "1 bytes more"},
		"prime":               {container("r1cs", 1, filePart{1, slices.Concat(words(32), littleEndian(big.NewInt(101)), head.data[36:])}, filePart{2, good}), "no supported curve"},
		"prime's size":        {container("r1cs", 1, filePart{1, slices.Concat(words(1<<31), head.data[4:])}, filePart{2, good}), "field elements of 2147483648 bytes"},
		"no wires":            {container("r1cs", 1, filePart{1, header(id, 0, 0, 0, 0, 0, 0, 1)}, filePart{2, good}), "no wires"},
		"too many signals":    {container("r1cs", 1, filePart{1, header(id, 4, 1<<31, 1<<31, 1, 0, 0, 1)}, filePart{2, good}), "do not fit into 4 wires"},
		"constraints' number": {container("r1cs", 1, filePart{1, header(id, 4, 1, 0, 2, 4, 0, 1<<32-1)}, filePart{2, good}), "too few for the 4294967295 constraints"},
		"one too many":        {container("r1cs", 1, filePart{1, header(id, 4, 1, 0, 2, 4, 0, 2)}, filePart{2, good}), "constraint 1: ends before the combination A"},
		"one too few":         {container("r1cs", 1, filePart{1, header(id, 4, 1, 0, 2, 4, 0, 0)}, filePart{2, good}), "bytes behind its 0 constraints"},
		"terms":               {container("r1cs", 1, head, filePart{2, slices.Concat(words(1<<32-1), good[4:])}), "constraint 0: the combination A says it has 4294967295 terms"},
		"wire":                {container("r1cs", 1, filePart{1, header(id, 3, 1, 0, 1, 4, 0, 1)}, filePart{2, good}), "a term of B is of wire 3"},
		"coefficient":         {container("r1cs", 1, head, filePart{2, unreduced}), "not below r"},
		"labels":              {container("r1cs", 1, head, filePart{2, good}, filePart{3, make([]byte, 24)}), "8 for each of 4 wires"},
		"wires":               {container("r1cs", 1, filePart{1, header(id, 1<<31, 1, 0, 2, 4, 0, 1)}, filePart{2, good}), "more than the file has bytes"},
		"custom gates":        {container("r1cs", 1, head, filePart{2, good}, filePart{4, words(1)}, filePart{5, words(1)}), "custom gates (1)"},
	} {
		_, err := ParseConstraints(t.Context(), "c.r1cs", c.file)
		var e *failure.Error
		if !errors.As(err, &e) || e.Class != failure.Key || e.File != "c.r1cs" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a key error that says %q", name, err, c.want)
		}
	}
	if _, err := ParseConstraints(t.Context(), "c.r1cs", container("r1cs", 1, head, filePart{2, good}, filePart{4, words(0)})); err != nil {
		t.Errorf("an empty list of custom gates is refused: %v", err)
	}
}
