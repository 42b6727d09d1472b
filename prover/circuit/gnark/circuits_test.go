package gnark

import (
	"errors"
	"math/big"
	"os"
	"strings"

	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/gkrapi"
	"github.com/consensys/gnark/std/gkrapi/gkr"
	"github.com/consensys/gnark/std/hash/mimc"
	"github.com/consensys/gnark/std/lookup/logderivlookup"
	"github.com/consensys/gnark/std/math/bits"
	"github.com/consensys/gnark/std/math/emulated"
	"github.com/consensys/gnark/std/rangecheck"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark/hints"
)

// The circuits of the tests, each with a witness that satisfies it.
var circuits = map[string]struct{ circuit, witness frontend.Circuit }{
	"cubic":             {&cubic{}, &cubic{X: 3, Y: 35}},
	"one constraint":    {&oneConstraint{}, &oneConstraint{X: 3, Y: 9}},
	"no public":         {&noPublic{}, &noPublic{X: 3, Y: 4}},
	"unused public":     {&unusedPublic{}, &unusedPublic{X: 3, Y: 9, Unused: 77}},
	"all public":        {&allPublic{}, &allPublic{X: 3, Y: 9}},
	"bits":              {&binaryForm{}, &binaryForm{X: 0xdeadbeef, Ones: 24}},
	"chain":             {&chain{}, chainWitness(3)},
	"mimc":              {&preimage{}, nil},
	"one commitment":    {&oneCommitment{}, &oneCommitment{X: 3, P: 5}},
	"three commitments": {&threeCommitments{}, &threeCommitments{X: 3, Y: 4, Z: 5, P: 60}},
	"public commitment": {&publicCommitment{}, &publicCommitment{P: 5, Q: 6}},
	"range check":       {&ranged{}, &ranged{X: 1 << 40, Y: 12345, P: 1<<40 + 12345}},
	"emulated":          {&emulatedProduct{}, emulatedWitness()},
	"lookup":            {&lookups{}, &lookups{Index: [4]frontend.Variable{0, 7, 3, 3}, Sum: 0 + 49 + 9 + 9}},
	"gkr":               {&gkrSquares{}, &gkrSquares{X: 3, Y: 4}},
	"own hint":          {&ownHint{}, &ownHint{X: 144, Root: 12}},
}

type cubic struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *cubic) Define(api frontend.API) error {
	api.AssertIsEqual(c.Y, api.Add(api.Mul(c.X, c.X, c.X), c.X, 5))
	return nil
}

type oneConstraint struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *oneConstraint) Define(api frontend.API) error {
	api.AssertIsEqual(api.Mul(c.X, c.X), c.Y)
	return nil
}

type noPublic struct{ X, Y frontend.Variable }

func (c *noPublic) Define(api frontend.API) error {
	api.AssertIsEqual(api.Mul(c.X, c.Y), 12)
	return nil
}

type unusedPublic struct {
	X         frontend.Variable
	Y, Unused frontend.Variable `gnark:",public"`
}

func (c *unusedPublic) Define(api frontend.API) error {
	api.AssertIsEqual(api.Mul(c.X, c.X), c.Y)
	return nil
}

type allPublic struct {
	X, Y frontend.Variable `gnark:",public"`
}

func (c *allPublic) Define(api frontend.API) error {
	api.AssertIsEqual(api.Mul(c.X, c.X), c.Y)
	return nil
}

type binaryForm struct {
	X    frontend.Variable
	Ones frontend.Variable `gnark:",public"`
}

func (c *binaryForm) Define(api frontend.API) error {
	sum := frontend.Variable(0)
	for _, b := range bits.ToBinary(api, c.X, bits.WithNbDigits(40)) {
		sum = api.Add(sum, b)
	}
	api.AssertIsEqual(sum, c.Ones)
	return nil
}

const chainLength = 300

type chain struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *chain) Define(api frontend.API) error {
	v := c.X
	for range chainLength {
		v = api.Add(api.Mul(v, v), 1)
	}
	api.AssertIsEqual(v, c.Y)
	return nil
}

// chainWitness leaves Y to be filled in by field.
func chainWitness(x int64) *chain { return &chain{X: x} }

type preimage struct {
	X    frontend.Variable
	Hash frontend.Variable `gnark:",public"`
}

func (c *preimage) Define(api frontend.API) error {
	h, err := mimc.NewMiMC(api)
	if err != nil {
		return err
	}
	h.Write(c.X)
	api.AssertIsEqual(h.Sum(), c.Hash)
	return nil
}

type oneCommitment struct {
	X frontend.Variable
	P frontend.Variable `gnark:",public"`
}

func (c *oneCommitment) Define(api frontend.API) error {
	commitment, err := api.(frontend.Committer).Commit(c.X, c.P)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(commitment, c.P)
	return nil
}

type threeCommitments struct {
	X, Y, Z frontend.Variable
	P       frontend.Variable `gnark:",public"`
}

func (c *threeCommitments) Define(api frontend.API) error {
	committer := api.(frontend.Committer)
	first, err := committer.Commit(c.X, c.Y, c.P)
	if err != nil {
		return err
	}
	second, err := committer.Commit(c.Z, first)
	if err != nil {
		return err
	}
	third, err := committer.Commit(api.Mul(first, second), c.X)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(first, third)
	api.AssertIsEqual(api.Mul(c.X, c.Y, c.Z), c.P)
	return nil
}

type publicCommitment struct {
	P, Q frontend.Variable `gnark:",public"`
}

func (c *publicCommitment) Define(api frontend.API) error {
	commitment, err := api.(frontend.Committer).Commit(c.P, c.Q)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(commitment, 0)
	return nil
}

type ranged struct {
	X, Y frontend.Variable
	P    frontend.Variable `gnark:",public"`
}

func (c *ranged) Define(api frontend.API) error {
	r := rangecheck.New(api)
	r.Check(c.X, 48)
	r.Check(c.Y, 20)
	api.AssertIsEqual(api.Add(c.X, c.Y), c.P)
	return nil
}

type emulatedProduct struct {
	X, Y, Product emulated.Element[emulated.Secp256k1Fp]
	Low           frontend.Variable `gnark:",public"`
}

func (c *emulatedProduct) Define(api frontend.API) error {
	f, err := emulated.NewField[emulated.Secp256k1Fp](api)
	if err != nil {
		return err
	}
	f.AssertIsEqual(f.Mul(&c.X, &c.Y), &c.Product)
	api.AssertIsEqual(c.X.Limbs[0], c.Low)
	return nil
}

func emulatedWitness() *emulatedProduct {
	p := emulated.Secp256k1Fp{}.Modulus()
	x := new(big.Int).Sub(p, big.NewInt(12345))
	y := new(big.Int).Sub(p, big.NewInt(67890))
	product := new(big.Int).Mul(x, y)
	low := new(big.Int).And(x, new(big.Int).SetUint64(^uint64(0)))
	return &emulatedProduct{X: emulated.ValueOf[emulated.Secp256k1Fp](x), Y: emulated.ValueOf[emulated.Secp256k1Fp](y),
		Product: emulated.ValueOf[emulated.Secp256k1Fp](product.Mod(product, p)), Low: low}
}

type lookups struct {
	Index [4]frontend.Variable
	Sum   frontend.Variable `gnark:",public"`
}

func (c *lookups) Define(api frontend.API) error {
	table := logderivlookup.New(api)
	for i := range 8 {
		table.Insert(i * i)
	}
	sum := frontend.Variable(0)
	for _, v := range table.Lookup(c.Index[:]...) {
		sum = api.Add(sum, v)
	}
	api.AssertIsEqual(sum, c.Sum)
	return nil
}

// gkrSquares proves its products by GKR inside of the circuit, with blueprints of its own.
type gkrSquares struct{ X, Y frontend.Variable }

func (c *gkrSquares) Define(api frontend.API) error {
	inner, err := gkrapi.New(api)
	if err != nil {
		return err
	}
	in := inner.NewInput()
	out := inner.Mul(in, in)
	compiled, err := inner.Compile("MIMC")
	if err != nil {
		return err
	}
	for _, x := range []frontend.Variable{c.X, c.Y} {
		values, err := compiled.AddInstance(map[gkr.Variable]frontend.Variable{in: x})
		if err != nil {
			return err
		}
		api.AssertIsEqual(values[out], api.Mul(x, x))
	}
	return nil
}

// ownHint has a hint that is linked in by package hints, as a user's would be.
type ownHint struct {
	X    frontend.Variable
	Root frontend.Variable `gnark:",public"`
}

func (c *ownHint) Define(api frontend.API) error {
	root, err := api.Compiler().NewHint(squareRoot, 1, c.X)
	if err != nil {
		return err
	}
	api.AssertIsEqual(api.Mul(root[0], root[0]), c.X)
	api.AssertIsEqual(root[0], c.Root)
	return nil
}

func squareRoot(_ *big.Int, inputs, outputs []*big.Int) error {
	if inputs[0].Cmp(big.NewInt(13)) == 0 {
		return errors.New("13 has no root")
	}
	if inputs[0].Cmp(big.NewInt(14)) == 0 {
		panic("14 is worse")
	}
	outputs[0].Sqrt(inputs[0])
	return nil
}

// strange has a hint that no program knows.
type strange struct {
	X    frontend.Variable
	Root frontend.Variable `gnark:",public"`
}

func unknown(_ *big.Int, inputs, outputs []*big.Int) error { return squareRoot(nil, inputs, outputs) }

func (c *strange) Define(api frontend.API) error {
	root, err := api.Compiler().NewHint(unknown, 1, c.X)
	if err != nil {
		return err
	}
	api.AssertIsEqual(api.Mul(root[0], root[0]), c.X)
	api.AssertIsEqual(root[0], c.Root)
	return nil
}

// misbehaving has hints that take all memory, take all time, or crash on a goroutine of their own.
type misbehaving struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *misbehaving) Define(api frontend.API) error {
	y, err := api.Compiler().NewHint(misbehave, 1, c.X)
	if err != nil {
		return err
	}
	api.AssertIsEqual(y[0], c.Y)
	return nil
}

const (
	takeMemory = 1
	takeTime   = 2
	crash      = 3
	// countFiles returns 1000 plus the number of descriptors that are open beside the standard ones.
	countFiles = 4
	// countEnvironment returns 1000 plus the number of environment variables and arguments.
	countEnvironment = 5
)

var sink [][]byte

func misbehave(_ *big.Int, inputs, outputs []*big.Int) error {
	switch inputs[0].Int64() {
	case takeMemory:
		for {
			b := make([]byte, 64<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			sink = append(sink, b)
		}
	case takeTime:
		select {}
	case crash:
		done := make(chan bool)
		go func() { defer close(done); panic("on a thread of its own, with 1234567") }()
		<-done
	case countFiles:
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return err
		}
		n := int64(0)
		for _, e := range entries {
			// Not what Go's runtime has for itself, nor this reading.
			if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.HasPrefix(target, "anon_inode:") &&
				!strings.HasSuffix(target, "/fd") && target != "/dev/null" && !strings.HasPrefix(target, "pipe:") && !strings.HasPrefix(target, "/sys/fs/cgroup/") {
				n++
			}
		}
		outputs[0].SetInt64(1000 + n)
		return nil
	case countEnvironment:
		outputs[0].SetInt64(int64(1000 + len(os.Environ()) + len(os.Args)))
		return nil
	}
	outputs[0].Set(inputs[0])
	return nil
}

func init() {
	hints.Register(squareRoot, misbehave)
}

var _ solver.Hint = squareRoot
