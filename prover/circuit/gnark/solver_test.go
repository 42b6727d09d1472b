package gnark

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"

	gchash "github.com/consensys/gnark-crypto/hash"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	gwitness "github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark/hints"
	"github.com/cuzk-dev/cuzk/prover/curve"
	cuzk "github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/provingkey/gnarkkey"
)

// files is the folder of all setups.
var files string

func TestMain(m *testing.M) {
	// The circuits in testdata were compiled in package main.
	err := hints.RegisterAs("main.squareRoot", squareRoot)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	Main()
	if files, err = os.MkdirTemp("", "cuzk-gnark-test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(files)
	os.Exit(code)
}

// setup is a circuit compiled and set up by gnark, with its files.
type setup struct {
	id      curve.ID
	folder  string
	system  constraint.ConstraintSystem
	key     groth16.ProvingKey
	vk      groth16.VerifyingKey
	witness gwitness.Witness
	// witnessFile is the name of the witness, if it is not witness.bin.
	witnessFile string
}

func (s *setup) path(name string) string { return filepath.Join(s.folder, name) }

var setups sync.Map

// setUp compiles a circuit of the table; each is set up once.
func setUp(t testing.TB, id curve.ID, name string) *setup {
	t.Helper()
	c := circuits[name]
	make := sync.OnceValue(func() *setup { return newSetup(t, id, c.circuit, fill(t, id, c.witness)) })
	value, _ := setups.LoadOrStore(fmt.Sprint(id, name), make)
	return value.(func() *setup)()
}

// fill computes the public outputs of witnesses that depend on the field.
func fill(t testing.TB, id curve.ID, w frontend.Circuit) frontend.Circuit {
	r := id.ScalarModulus()
	switch w := w.(type) {
	case *chain:
		v := big.NewInt(w.X.(int64))
		for range chainLength {
			v.Mul(v, v).Add(v, big.NewInt(1)).Mod(v, r)
		}
		return &chain{X: w.X, Y: v}
	case nil:
		h := map[curve.ID]gchash.Hash{curve.BN254: gchash.MIMC_BN254, curve.BLS12381: gchash.MIMC_BLS12_381}[id].New()
		h.Write(big.NewInt(12345).FillBytes(make([]byte, 32)))
		return &preimage{X: 12345, Hash: h.Sum(nil)}
	}
	return w
}

func newSetup(t testing.TB, id curve.ID, circuit, assignment frontend.Circuit) *setup {
	t.Helper()
	s := &setup{id: id}
	var err error
	if s.folder, err = os.MkdirTemp(files, ""); err != nil {
		t.Fatal(err)
	}
	if s.system, err = frontend.Compile(id.ScalarModulus(), r1cs.NewBuilder, circuit); err != nil {
		t.Fatal(err)
	}
	if s.key, s.vk, err = groth16.Setup(s.system); err != nil {
		t.Fatal(err)
	}
	if s.witness, err = frontend.NewWitness(assignment, id.ScalarModulus()); err != nil {
		t.Fatal(err)
	}
	write(t, s.path("ccs.bin"), s.system)
	write(t, s.path("pk.bin"), s.key)
	write(t, s.path("vk.bin"), s.vk)
	write(t, s.path("witness.bin"), s.witness)
	return s
}

func write(t testing.TB, path string, what io.WriterTo) {
	t.Helper()
	var b bytes.Buffer
	if _, err := what.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// opened is the three files read by the code under test.
type opened struct {
	system  *System
	key     *gnarkkey.Key
	witness *Witness
	solver  *Solver
}

func open(t testing.TB, s *setup, options Options) *opened {
	t.Helper()
	o, err := tryOpen(t, s.id, s.path("ccs.bin"), s.path("pk.bin"), s.path(cmp.Or(s.witnessFile, "witness.bin")), options)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func tryOpen(t testing.TB, id curve.ID, ccs, pk, witness string, options Options) (*opened, error) {
	t.Helper()
	o := &opened{}
	var err error
	if o.system, err = OpenSystem(ccs, ""); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = o.system.Close() })
	if o.key, err = gnarkkey.Open(pk, gnarkkey.Options{}); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = o.key.Close() })
	if err := o.key.Bind(o.system.Circuit()); err != nil {
		return nil, err
	}
	if o.witness, err = OpenWitness(t.Context(), witness, id); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = o.witness.Close() })
	if o.solver, err = NewSolver(t.Context(), o.system, o.key, options); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := o.solver.Close(); err != nil {
			t.Error(err)
		}
	})
	return o, nil
}

// prove computes a proof from an assignment with the CPU backend. It takes the key over.
func (o *opened) prove(t testing.TB, a *Assignment) *cuzk.Proof {
	t.Helper()
	b := cpu.New(cpu.Config{})
	key, err := b.LoadKey(t.Context(), o.key, cuzk.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	random := func() curve.Scalar {
		x, err := rand.Int(rand.Reader, o.system.Curve.ScalarModulus())
		if err != nil {
			t.Fatal(err)
		}
		return curve.ScalarFromBig(x)
	}
	ticket, err := b.Submit(t.Context(), key, a.Evaluated, random(), random(), cuzk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := ticket.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

// gnarkAccepts verifies a proof with gnark.
func gnarkAccepts(t testing.TB, s *setup, proof *cuzk.Proof, options ...backend.VerifierOption) {
	t.Helper()
	p := groth16.NewProof(s.id.ECC())
	if _, err := p.ReadFrom(bytes.NewReader(gnarkfmt.FormatProof(proof, true))); err != nil {
		t.Fatal(err)
	}
	public, err := s.witness.Public()
	if err != nil {
		t.Fatal(err)
	}
	if err := groth16.Verify(p, s.vk, public, options...); err != nil {
		t.Errorf("gnark does not accept the proof: %v", err)
	}
}

func eachCircuit(t *testing.T, f func(t *testing.T, id curve.ID, name string)) {
	for _, id := range curve.All {
		for name := range circuits {
			t.Run(fmt.Sprintf("%s/%s", id, name), func(t *testing.T) { f(t, id, name) })
		}
	}
}

func TestGnarkAcceptsProofs(t *testing.T) {
	eachCircuit(t, func(t *testing.T, id curve.ID, name string) {
		s := setUp(t, id, name)
		o := open(t, s, Options{})
		a, err := o.solver.Solve(t.Context(), o.witness)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		gnarkAccepts(t, s, o.prove(t, a))
	})
}
