package cpu_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark/backend/groth16"
	groth16bls12381 "github.com/consensys/gnark/backend/groth16/bls12-381"
	groth16bn254 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	csbls12381 "github.com/consensys/gnark/constraint/bls12-381"
	csbn254 "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/logger"

	"github.com/cuzk-dev/cuzk/prover/curve"
	prover "github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/instance"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/provingkey/gnarkkey"
)

func TestMain(m *testing.M) {
	logger.Disable()
	os.Exit(m.Run())
}

// gnarkCircuit is a circuit compiled and set up by gnark.
type gnarkCircuit struct {
	id       curve.ID
	system   constraint.ConstraintSystem
	pk       groth16.ProvingKey
	vk       groth16.VerifyingKey
	witness  witness.Witness
	public   []curve.Scalar
	evaluate prover.Evaluated
}

// newGnarkCircuit compiles a circuit, makes its keys and solves the assignment.
func newGnarkCircuit(t testing.TB, id curve.ID, circuit, assignment frontend.Circuit) *gnarkCircuit {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g := &gnarkCircuit{id: id}
	var err error
	g.system, err = frontend.Compile(id.ScalarModulus(), r1cs.NewBuilder, circuit)
	must(err)
	g.pk, g.vk, err = groth16.Setup(g.system)
	must(err)
	g.witness, err = frontend.NewWitness(assignment, id.ScalarModulus())
	must(err)
	solution, err := g.system.Solve(g.witness)
	must(err)
	switch s := solution.(type) {
	case *csbn254.R1CSSolution:
		g.evaluate = evaluated(s.W, s.A, s.B, s.C)
	case *csbls12381.R1CSSolution:
		g.evaluate = evaluated(s.W, s.A, s.B, s.C)
	}
	g.public = append(g.public, g.evaluate.Witness.(instance.Vector).Elements[1:g.system.GetNbPublicVariables()]...)
	id.FromMontgomery(g.public)
	return g
}

// evaluated takes gnark's solution, in Montgomery form, as it is.
func evaluated[E ~[4]uint64](w, a, b, c []E) prover.Evaluated {
	convert := func(e []E) instance.Vector {
		v := instance.Vector{Elements: make([]curve.Scalar, len(e)), Encoding: prover.Montgomery}
		for i := range e {
			v.Elements[i] = curve.Scalar(e[i])
		}
		return v
	}
	return prover.Evaluated{Witness: convert(w), A: convert(a), B: convert(b), C: convert(c)}
}

// open gives the proving key to a reader by way of a file, as a user does.
func (g *gnarkCircuit) open(t testing.TB) *gnarkkey.Key {
	t.Helper()
	var buf bytes.Buffer
	var err error
	switch pk := g.pk.(type) {
	case *groth16bn254.ProvingKey:
		err = pk.WriteDump(&buf)
	case *groth16bls12381.ProvingKey:
		err = pk.WriteDump(&buf)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pk")
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := gnarkkey.Open(path, gnarkkey.Options{Curve: g.id})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// verifies checks a proof with gnark's own verifier and with ours.
func (g *gnarkCircuit) verifies(t testing.TB, p *prover.Proof) {
	t.Helper()
	theirs := groth16.NewProof(g.id.ECC())
	if _, err := theirs.ReadFrom(bytes.NewReader(gnarkfmt.FormatProof(p, true))); err != nil {
		t.Fatal(err)
	}
	public, err := g.witness.Public()
	if err != nil {
		t.Fatal(err)
	}
	if err := groth16.Verify(theirs, g.vk, public); err != nil {
		t.Errorf("gnark: %v", err)
	}
	var buf bytes.Buffer
	if _, err := g.vk.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	vk, err := gnarkfmt.ParseVerifyingKey(buf.Bytes(), g.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := prover.Verify(vk, p, g.public, ""); err != nil {
		t.Errorf("ours: %v", err)
	}
}
