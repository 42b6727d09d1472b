// The program gnark makes the gnark circuits of the end-to-end tests and samples: constraint systems, keys and witnesses
// of two small circuits on BN254, in a folder each beside this file.
//
//	go run ./test/circuits/gnark
//
// merkle is membership of a leaf in a MiMC Merkle tree; age proves an age above a limit with a range check, which makes a
// Pedersen commitment. The keys are new in every run, and nobody needs to trust them: they are for tests only.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/mimc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/logger"
	circuitmimc "github.com/consensys/gnark/std/hash/mimc"
	"github.com/consensys/gnark/std/rangecheck"
)

func main() {
	logger.Disable()
	_, here, _, _ := runtime.Caller(0)
	if err := errors.Join(
		generate(filepath.Join(filepath.Dir(here), "merkle"), &merkle{}, map[string]frontend.Circuit{
			"witness-1": member(3), "witness-2": member(12), "witness-wrong": stranger()}),
		generate(filepath.Join(filepath.Dir(here), "age"), &age{}, map[string]frontend.Circuit{
			"witness-1": &age{Birth: 1990, Now: 2026, Limit: 18}, "witness-wrong": &age{Birth: 2015, Now: 2026, Limit: 18}}),
	); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate compiles a circuit, sets it up and writes its files.
func generate(folder string, circuit frontend.Circuit, witnesses map[string]frontend.Circuit) error {
	field := ecc.BN254.ScalarField()
	system, err := frontend.Compile(field, r1cs.NewBuilder, circuit)
	if err != nil {
		return fmt.Errorf("compile %s: %w", folder, err)
	}
	pk, vk, err := groth16.Setup(system)
	if err != nil {
		return fmt.Errorf("set up %s: %w", folder, err)
	}
	files := map[string]io.WriterTo{"ccs": system, "pk": pk, "vk": vk}
	for name, assignment := range witnesses {
		if files[name], err = frontend.NewWitness(assignment, field); err != nil {
			return fmt.Errorf("make %s of %s: %w", name, folder, err)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		var b bytes.Buffer
		if _, err := content.WriteTo(&b); err != nil {
			return fmt.Errorf("write %s of %s: %w", name, folder, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".bin"), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d constraints\n", filepath.Base(folder), system.GetNbConstraints())
	return nil
}

// depth of the tree; it has 2^depth leaves.
const depth = 4

// merkle proves that a secret leaf is in the tree with the public root.
type merkle struct {
	Root     frontend.Variable `gnark:",public"`
	Leaf     frontend.Variable
	Siblings [depth]frontend.Variable
	// Right tells for each level, from the leaf up, that the node is its parent's right child.
	Right [depth]frontend.Variable
}

func (c *merkle) Define(api frontend.API) error {
	h, err := circuitmimc.NewMiMC(api)
	if err != nil {
		return err
	}
	node := c.Leaf
	for i := range depth {
		api.AssertIsBoolean(c.Right[i])
		h.Reset()
		h.Write(api.Select(c.Right[i], c.Siblings[i], node), api.Select(c.Right[i], node, c.Siblings[i]))
		node = h.Sum()
	}
	api.AssertIsEqual(node, c.Root)
	return nil
}

// member is the witness of the leaf with that index; leaf i holds 1000 + i.
func member(index int) *merkle {
	nodes := make([]*big.Int, 1<<depth)
	for i := range nodes {
		nodes[i] = big.NewInt(int64(1000 + i))
	}
	w := &merkle{Leaf: nodes[index]}
	for level := range depth {
		w.Siblings[level] = nodes[index^1]
		w.Right[level] = index & 1
		next := make([]*big.Int, len(nodes)/2)
		for i := range next {
			next[i] = hash(nodes[2*i], nodes[2*i+1])
		}
		nodes, index = next, index/2
	}
	w.Root = nodes[0]
	return w
}

// stranger is a witness of a leaf that is not in the tree.
func stranger() *merkle {
	w := member(5)
	w.Leaf = 4242
	return w
}

func hash(left, right *big.Int) *big.Int {
	h := mimc.NewMiMC()
	for _, x := range []*big.Int{left, right} {
		// A full-width block is always accepted.
		_, _ = h.Write(x.FillBytes(make([]byte, 32)))
	}
	return new(big.Int).SetBytes(h.Sum(nil))
}

// age proves that a secret year of birth lies at least Limit years before Now.
type age struct {
	Birth frontend.Variable
	Now   frontend.Variable `gnark:",public"`
	Limit frontend.Variable `gnark:",public"`
}

func (c *age) Define(api frontend.API) error {
	r := rangecheck.New(api)
	r.Check(c.Birth, 12)
	r.Check(api.Sub(c.Now, c.Birth, c.Limit), 8)
	return nil
}
