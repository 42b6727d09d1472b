package gnark

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/solidity"
	csbls "github.com/consensys/gnark/constraint/bls12-381"
	csbn "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	cuzk "github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

// gnarkSolution is what gnark's own solver computes: wires, A, B and C.
func gnarkSolution(t *testing.T, s *setup) (io.WriterTo, [4][]curve.Scalar) {
	t.Helper()
	solution, err := s.system.Solve(s.witness, solver.WithNbTasks(1))
	if err != nil {
		t.Fatal(err)
	}
	switch v := solution.(type) {
	case *csbn.R1CSSolution:
		return v, [4][]curve.Scalar{limbsOf(v.W), limbsOf(v.A), limbsOf(v.B), limbsOf(v.C)}
	case *csbls.R1CSSolution:
		return v, [4][]curve.Scalar{limbsOf(v.W), limbsOf(v.A), limbsOf(v.B), limbsOf(v.C)}
	}
	t.Fatalf("gnark solved to a %T", solution)
	return nil, [4][]curve.Scalar{}
}

func limbsOf[E ~[4]uint64](v []E) []curve.Scalar {
	return unsafe.Slice((*curve.Scalar)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

func read(t *testing.T, v cuzk.Vector) []curve.Scalar {
	t.Helper()
	if v.Form() != cuzk.Montgomery {
		t.Fatal("the vector is not in Montgomery form")
	}
	// In two pieces, as a device would read it.
	out := make([]curve.Scalar, v.Len())
	half := len(out) / 2
	if err := v.Read(t.Context(), 0, out[:half]); err != nil {
		t.Fatal(err)
	}
	if err := v.Read(t.Context(), half, out[half:]); err != nil {
		t.Fatal(err)
	}
	return out
}

var withoutCommitments = []string{"cubic", "one constraint", "no public", "unused public", "all public", "bits", "chain", "mimc", "own hint"}

func TestAssignmentIsGnarks(t *testing.T) {
	for _, id := range curve.All {
		for _, name := range withoutCommitments {
			t.Run(fmt.Sprintf("%s/%s", id, name), func(t *testing.T) {
				s := setUp(t, id, name)
				solution, want := gnarkSolution(t, s)
				o := open(t, s, Options{})
				a, err := o.solver.Solve(t.Context(), o.witness)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				// gnark's own form of a solution, whole and the wires alone.
				var whole bytes.Buffer
				if _, err := solution.WriteTo(&whole); err != nil {
					t.Fatal(err)
				}
				for _, data := range [][]byte{whole.Bytes(), whole.Bytes()[:4+32*len(want[0])]} {
					completed := complete(t, o, data)
					defer completed.Close()
					compare(t, completed, want)
				}
				compare(t, a, want)
			})
		}
	}
}

func compare(t *testing.T, a *Assignment, want [4][]curve.Scalar) {
	t.Helper()
	for i, v := range []cuzk.Vector{a.Witness, a.A, a.B, a.C} {
		if diff := cmp.Diff(want[i], read(t, v)); diff != "" {
			t.Errorf("vector %d of wires, A, B, C (-gnark +cuzk):\n%s", i, diff)
		}
	}
}

func complete(t *testing.T, o *opened, data []byte) *Assignment {
	t.Helper()
	s, err := ParseSolution(t.Context(), "solution.bin", data, o.system.Curve)
	if err != nil {
		t.Fatal(err)
	}
	a, err := o.solver.Complete(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// solutionOf writes an assignment's wires in the form of a solution.
func solutionOf(t *testing.T, id curve.ID, a *Assignment) []byte {
	t.Helper()
	wires := read(t, a.Witness)
	id.FromMontgomery(wires)
	data := []byte{0, 0, byte(len(wires) >> 8), byte(len(wires))}
	for _, w := range wires {
		data = append(data, curve.ScalarToBig(w).FillBytes(make([]byte, 32))...)
	}
	return data
}

func TestSolutionOfACircuitWithAMissingHint(t *testing.T) {
	for _, id := range curve.All {
		s := newSetup(t, id, &strange{}, &strange{X: 144, Root: 12})
		solution, err := s.system.Solve(s.witness, solver.WithHints(unknown))
		if err != nil {
			t.Fatal(err)
		}
		path := s.path("solution.bin")
		write(t, path, solution.(io.WriterTo))
		o := open(t, s, Options{})
		own, err := OpenSolution(t.Context(), path, id)
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		a, err := o.solver.Complete(t.Context(), own)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		gnarkAccepts(t, s, o.prove(t, a))
	}
}

func TestSolutionThatDoesNotSatisfy(t *testing.T) {
	for _, id := range curve.All {
		s := setUp(t, id, "chain")
		o := open(t, s, Options{})
		a, err := o.solver.Solve(t.Context(), o.witness)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		data := solutionOf(t, id, a)
		// The wires are 1, y, x, then each square: wire 3+k is made by constraint k.
		const k = 100
		data[4+32*(3+k)+31] ^= 1
		solution, err := ParseSolution(t.Context(), "solution.bin", data, id)
		if err != nil {
			t.Fatal(err)
		}
		_, err = o.solver.Complete(t.Context(), solution)
		if e := failureThat(t, err, failure.Input, "the solution does not satisfy it"); e.Constraint != k {
			t.Errorf("named constraint %d, want %d", e.Constraint, k)
		}
	}
}

func TestSolutionWithCommitments(t *testing.T) {
	for _, id := range curve.All {
		s := setUp(t, id, "three commitments")
		o := open(t, s, Options{})
		a, err := o.solver.Solve(t.Context(), o.witness)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		data := solutionOf(t, id, a)
		completed := complete(t, o, data)
		defer completed.Close()
		if diff := cmp.Diff(a.Commitments, completed.Commitments); diff != "" {
			t.Errorf("commitments of the witness and of its solution differ:\n%s", diff)
		}
		// The same solution under another hash is not one.
		other := open(t, s, Options{Hash: cuzk.CommitmentHashKeccak256})
		solution, err := ParseSolution(t.Context(), "solution.bin", data, id)
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.solver.Complete(t.Context(), solution)
		wantFailure(t, err, failure.Input, "another proving key or another commitment hash")
		gnarkAccepts(t, s, o.prove(t, completed))
	}
}

func TestCommitmentHashes(t *testing.T) {
	for _, id := range curve.All {
		for hashName, options := range map[cuzk.CommitmentHash][]backend.VerifierOption{
			"":                              nil,
			cuzk.CommitmentHashSHA256:       nil,
			cuzk.CommitmentHashKeccak256:    {solidity.WithVerifierTargetSolidityVerifier(backend.GROTH16)},
			cuzk.CommitmentHashSHA256Digest: {backend.WithVerifierHashToFieldFunction(sha256New())},
		} {
			for _, name := range []string{"one commitment", "three commitments"} {
				t.Run(fmt.Sprintf("%s/%s/%s", id, hashName, name), func(t *testing.T) {
					s := setUp(t, id, name)
					o := open(t, s, Options{Hash: hashName})
					a, err := o.solver.Solve(t.Context(), o.witness)
					if err != nil {
						t.Fatal(err)
					}
					defer a.Close()
					proof := o.prove(t, a)
					gnarkAccepts(t, s, proof, options...)
					if err := cuzk.Verify(ownKey(t, s), proof, a.Public, hashName); err != nil {
						t.Errorf("our own verification: %v", err)
					}
				})
			}
		}
	}
}

func sha256New() hash.Hash { return sha256.New() }

func ownKey(t *testing.T, s *setup) *cuzk.VerifyingKey {
	t.Helper()
	data, err := os.ReadFile(s.path("vk.bin"))
	if err != nil {
		t.Fatal(err)
	}
	vk, err := gnarkfmt.ParseVerifyingKey(data, s.id)
	if err != nil {
		t.Fatal(err)
	}
	return vk
}

// Proofs of gnark's prover, with the same key, are accepted by our verification.
func TestGnarksProofsAreAccepted(t *testing.T) {
	for _, id := range curve.All {
		for _, name := range []string{"cubic", "three commitments", "emulated"} {
			s := setUp(t, id, name)
			proof, err := groth16.Prove(s.system, s.key, s.witness)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := proof.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			own, err := gnarkfmt.ParseProof(b.Bytes(), id)
			if err != nil {
				t.Fatal(err)
			}
			w, err := OpenWitness(t.Context(), s.path("witness.bin"), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := cuzk.Verify(ownKey(t, s), own, w.PublicInputs(), ""); err != nil {
				t.Errorf("%s/%s: %v", id, name, err)
			}
			_ = w.Close()
		}
	}
}

// The fixtures are files that gnark 0.14 wrote.
func TestFixturesOfGnark014(t *testing.T) {
	for _, id := range curve.All {
		folder := fixture.Path(t, "gnark", map[curve.ID]string{curve.BN254: "bn254", curve.BLS12381: "bls12_381"}[id], "mulchain_1000")
		for _, pk := range []string{"pk.bin", "pk.raw.bin", "pk.dump.bin"} {
			t.Run(fmt.Sprintf("%s/%s", id, pk), func(t *testing.T) {
				path := func(name string) string { return filepath.Join(folder, name) }
				o, err := tryOpen(t, id, path("ccs.bin"), path(pk), path("witness.bin"), Options{})
				if err != nil {
					t.Fatal(err)
				}
				if o.system.Version != "0.14.0" {
					t.Errorf("version is %q", o.system.Version)
				}
				a, err := o.solver.Solve(t.Context(), o.witness)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				s := &setup{id: id, folder: folder}
				if err := cuzk.Verify(ownKey(t, s), o.prove(t, a), a.Public, ""); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A solver serves many witnesses, also at the same time.
func TestConcurrentSolves(t *testing.T) {
	s := setUp(t, curve.BN254, "bits")
	o := open(t, s, Options{})
	results := make(chan error)
	for range 8 {
		go func() {
			a, err := o.solver.Solve(t.Context(), o.witness)
			if err == nil {
				err = a.Close()
			}
			results <- err
		}()
	}
	for range 8 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
