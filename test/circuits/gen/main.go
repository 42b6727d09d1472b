// Command gen writes what the sample circuits need but nobody should type: Poseidon's constants as circom functions, and
// inputs that satisfy the circuits.
//
//	gen FOLDER
//
// writes FOLDER/src/<prime>/poseidon_constants.circom and FOLDER/<prime>/<circuit>/input.json, and
//
//	gen ceremony PRIME POWER FILE
//
// the outcome of an insecure powers-of-tau ceremony for keys of up to 2^POWER constraints.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/consensys/gnark-crypto/ecc"
)

// fields are the sample circuits' fields under circom's names, with the depths of the Merkle trees to prove in.
var fields = []struct {
	prime  string
	id     ecc.ID
	depths []int
}{
	{"bls12381", ecc.BLS12_381, []int{3, 16}},
	{"bn128", ecc.BN254, []int{3}},
}

// members are those who prove membership of small trees; the first one's input has no name of its own.
var members = []string{"", "bob", "carol"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1:
		return writeSources(args[0])
	case len(args) == 4 && args[0] == "ceremony":
		power, err := strconv.Atoi(args[2])
		if err != nil || power < 1 || power > 20 {
			return fmt.Errorf("the power %q is not a number from 1 to 20", args[2])
		}
		for _, f := range fields {
			if f.prime == args[1] {
				return writeCeremony(f.id, power, args[3])
			}
		}
		return fmt.Errorf("unknown prime %q", args[1])
	}
	return errors.New("usage: gen FOLDER, or gen ceremony PRIME POWER FILE")
}

func writeSources(folder string) error {
	for _, f := range fields {
		p := newPoseidon(f.id.ScalarField())
		source := filepath.Join(folder, "src", f.prime, "poseidon_constants.circom")
		if err := write(source, []byte(constantsSource(f.prime, p))); err != nil {
			return err
		}
		inputs := map[string]any{
			"multiplier/input": map[string]string{"x": "3", "k": "5"},
			"bits/input":       map[string]any{"x": []string{"1", "2", "3", "1000000007"}},
		}
		for _, depth := range f.depths {
			folder := fmt.Sprintf("merkle%d/input", depth)
			inputs[folder] = merkleInput(p, depth, members[0])
			if f.id == ecc.BLS12_381 && depth == 3 {
				for _, m := range members[1:] {
					inputs[folder+"-"+m] = merkleInput(p, depth, m)
				}
			}
		}
		for name, input := range inputs {
			data, err := json.MarshalIndent(input, "", "  ")
			if err != nil {
				return err
			}
			if err := write(filepath.Join(folder, f.prime, name+".json"), append(data, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func constantsSource(prime string, p *poseidon) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Poseidon's constants over the scalar field of %s: written by test/circuits/gen; do not edit.\n", prime)
	b.WriteString("pragma circom 2.0.0;\n\n")
	fmt.Fprintf(&b, "// The constant that is added to each of the %d elements before each of the %d rounds.\n", width, rounds)
	b.WriteString("function poseidonConstants() {\n    return [\n")
	for r, row := range p.constants {
		fmt.Fprintf(&b, "        [%v,\n         %v,\n         %v]%s\n", row[0], row[1], row[2], comma(r, rounds))
	}
	b.WriteString("    ];\n}\n\n// The matrix that mixes the elements after each round.\nfunction poseidonMatrix() {\n    return [\n")
	for i, row := range p.matrix {
		fmt.Fprintf(&b, "        [%v,\n         %v,\n         %v]%s\n", row[0], row[1], row[2], comma(i, width))
	}
	b.WriteString("    ];\n}\n")
	return b.String()
}

func comma(i, n int) string {
	if i < n-1 {
		return ","
	}
	return ""
}

// merkle is an input of the circuit merkle.circom.
type merkle struct {
	Leaf     string   `json:"leaf"`
	Siblings []string `json:"siblings"`
	Right    []string `json:"right"`
	Root     string   `json:"root"`
}

// merkleInput is the membership of a member's leaf at position 0b…0101 of a tree whose other nodes are made up.
func merkleInput(p *poseidon, depth int, member string) merkle {
	node := new(big.Int).SetBytes([]byte("a sample leaf" + member))
	in := merkle{Leaf: node.String()}
	for level := range depth {
		sibling := p.hash(big.NewInt(int64(level)), big.NewInt(1))
		in.Siblings = append(in.Siblings, sibling.String())
		if level%2 == 0 {
			in.Right = append(in.Right, "1")
			node = p.hash(sibling, node)
		} else {
			in.Right = append(in.Right, "0")
			node = p.hash(node, sibling)
		}
	}
	in.Root = node.String()
	return in
}
