package groth16_test

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"math/big"
	"strings"
	"testing"

	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"golang.org/x/crypto/sha3"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
)

// committing is a circuit with commitments: each is to the secret, to the public inputs, and to the one before.
type committing struct {
	count  int
	Secret frontend.Variable
	A, B   frontend.Variable `gnark:",public"`
}

func (c *committing) Define(api frontend.API) error {
	api.AssertIsEqual(api.Mul(c.Secret, c.Secret), c.A)
	api.AssertIsEqual(api.Mul(c.A, c.Secret), c.B)
	last := c.B
	for i := range c.count {
		over := []frontend.Variable{c.Secret}
		if i%2 == 0 {
			over = append(over, c.A, c.B)
		}
		if i > 0 {
			over = append(over, last)
		}
		commitment, err := api.(frontend.Committer).Commit(over...)
		if err != nil {
			return err
		}
		api.AssertIsDifferent(commitment, 0)
		last = commitment
	}
	return nil
}

// theirs is a circuit of gnark with its keys.
type theirs struct {
	id      curve.ID
	system  constraint.ConstraintSystem
	pk      gnark.ProvingKey
	vk      gnark.VerifyingKey
	witness witness.Witness
	public  []curve.Scalar
}

func newTheirs(t *testing.T, id curve.ID, count int) *theirs {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g := &theirs{id: id, public: []curve.Scalar{{49}, {343}}}
	var err error
	g.system, err = frontend.Compile(id.ScalarModulus(), r1cs.NewBuilder, &committing{count: count})
	must(err)
	g.pk, g.vk, err = gnark.Setup(g.system)
	must(err)
	g.witness, err = frontend.NewWitness(&committing{Secret: 7, A: 49, B: 343}, id.ScalarModulus())
	must(err)
	return g
}

// key is the verifying key, as it comes out of a file of gnark's.
func (g *theirs) key(t *testing.T) *groth16.VerifyingKey {
	t.Helper()
	var buf bytes.Buffer
	if _, err := g.vk.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	vk, err := gnarkfmt.ParseVerifyingKey(buf.Bytes(), g.id)
	if err != nil {
		t.Fatal(err)
	}
	return vk
}

// prove is gnark's proof, as it comes out of a file of gnark's.
func (g *theirs) prove(t *testing.T, opts ...backend.ProverOption) *groth16.Proof {
	t.Helper()
	proof, err := gnark.Prove(g.system, g.pk, g.witness, opts...)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := proof.WriteRawTo(&buf); err != nil {
		t.Fatal(err)
	}
	out, err := gnarkfmt.ParseProof(buf.Bytes(), g.id)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var hashes = map[groth16.CommitmentHash]func() hash.Hash{
	groth16.CommitmentHashSHA256:       nil, // gnark's default
	groth16.CommitmentHashKeccak256:    sha3.NewLegacyKeccak256,
	groth16.CommitmentHashSHA256Digest: sha256.New,
}

// What gnark proves with commitments, our verifier accepts, for each hash; what was made with another hash, for other
// inputs, or tampered with, it refuses.
func TestVerifiesCommitmentsOfGnark(t *testing.T) {
	for _, id := range curve.All {
		for _, count := range []int{0, 1, 2, 3} {
			g := newTheirs(t, id, count)
			vk := g.key(t)
			for name, newHash := range hashes {
				t.Run(strings.Join([]string{string(id), string(rune('0' + count)), string(name)}, "/"), func(t *testing.T) {
					var opts []backend.ProverOption
					if newHash != nil {
						opts = append(opts, backend.WithProverHashToFieldFunction(newHash()))
					}
					proof := g.prove(t, opts...)
					for used := range hashes {
						v, err := groth16.NewVerifier(vk, used)
						if err != nil {
							t.Fatal(err)
						}
						err = v.Verify(proof, g.public)
						if want := used == name || count == 0; (err == nil) != want {
							t.Errorf("verified with %s: %v", used, err)
						}
					}
					v, err := groth16.NewVerifier(vk, name)
					if err != nil {
						t.Fatal(err)
					}
					if err := v.Verify(proof, []curve.Scalar{{49}, {344}}); failure.ClassOf(err) != failure.Verification {
						t.Errorf("another public input: %v", err)
					}
					for i := range proof.Commitments {
						changed := *proof
						changed.Commitments = append([]curve.G1(nil), proof.Commitments...)
						changed.Commitments[i] = proof.A
						if err := v.Verify(&changed, g.public); failure.ClassOf(err) != failure.Verification {
							t.Errorf("another commitment %d: %v", i, err)
						}
						changed.Commitments = proof.Commitments[:i]
						if err := v.Verify(&changed, g.public); err == nil || !strings.Contains(err.Error(), "commitments, the verifying key wants") {
							t.Errorf("%d commitments: %v", i, err)
						}
					}
					changed := *proof
					if changed.PoK = proof.C; v.Verify(&changed, g.public) == nil {
						t.Error("another proof of knowledge was accepted")
					}
				})
			}
		}
	}
}

func TestVerifyingKeyWithCommitmentsSurvivesItsFile(t *testing.T) {
	for _, id := range curve.All {
		g := newTheirs(t, id, 2)
		vk := g.key(t)
		if got := vk.Public(); got != 2 {
			t.Errorf("%d public inputs", got)
		}
		for _, compressed := range []bool{true, false} {
			var want bytes.Buffer
			var err error
			if compressed {
				_, err = g.vk.WriteTo(&want)
			} else {
				_, err = g.vk.WriteRawTo(&want)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := gnarkfmt.FormatVerifyingKey(vk, compressed)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want.Bytes()) {
				t.Errorf("%s, compressed %t: not the bytes that gnark writes", id, compressed)
			}
		}
	}
}

func TestParseCommitmentHash(t *testing.T) {
	for name, want := range map[string]groth16.CommitmentHash{
		"": groth16.CommitmentHashSHA256, "sha256": groth16.CommitmentHashSHA256,
		"keccak256": groth16.CommitmentHashKeccak256, "sha256-digest": groth16.CommitmentHashSHA256Digest,
	} {
		if got, err := groth16.ParseCommitmentHash(name); err != nil || got != want {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	if _, err := groth16.ParseCommitmentHash("md5"); failure.ClassOf(err) != failure.Usage || !strings.Contains(err.Error(), "keccak256") {
		t.Errorf("md5: %v", err)
	}
}

// The batch against proofs one by one; a wrong one is named.
func TestVerifyBatch(t *testing.T) {
	for _, id := range curve.All {
		for _, count := range []int{0, 2} {
			g := newTheirs(t, id, count)
			v, err := groth16.NewVerifier(g.key(t), "")
			if err != nil {
				t.Fatal(err)
			}
			if err := v.VerifyBatch(nil); err != nil {
				t.Errorf("an empty batch: %v", err)
			}
			var batch []groth16.Statement
			for range 4 {
				batch = append(batch, groth16.Statement{Proof: g.prove(t), Public: g.public})
				if err := v.VerifyBatch(batch); err != nil {
					t.Errorf("%s, %d commitments, batch of %d: %v", id, count, len(batch), err)
				}
			}
			wrong := *batch[2].Proof
			wrong.A, wrong.C = wrong.C, wrong.A
			batch[2].Proof = &wrong
			err = v.VerifyBatch(batch)
			if e, ok := err.(*groth16.BatchError); !ok || e.Index != 2 || failure.ClassOf(err) != failure.Verification {
				t.Errorf("a wrong proof among good ones: %v", err)
			}
			batch[1].Public = []curve.Scalar{{49}, curve.ScalarFromBig(new(big.Int).Add(id.ScalarModulus(), big.NewInt(343)))}
			err = v.VerifyBatch(batch)
			if e, ok := err.(*groth16.BatchError); !ok || e.Index != 1 || !strings.Contains(err.Error(), "public input 1 is not below r") {
				t.Errorf("an alias among good inputs: %v", err)
			}
		}
	}
}

// Two wrong proofs whose errors cancel out in a plain sum: A and B of one statement scaled by k and 1/k is still a proof,
// so take C + P and C − P. The random weights must catch it.
func TestVerifyBatchIsNotFooledByOppositeErrors(t *testing.T) {
	id := curve.BN254
	g := newTheirs(t, id, 0)
	v, err := groth16.NewVerifier(g.key(t), "")
	if err != nil {
		t.Fatal(err)
	}
	first, second := *g.prove(t), *g.prove(t)
	first.C, second.C = shiftBN254(first.C, 1), shiftBN254(second.C, -1)
	err = v.VerifyBatch([]groth16.Statement{{Proof: &first, Public: g.public}, {Proof: &second, Public: g.public}})
	if e, ok := err.(*groth16.BatchError); !ok || e.Index != 0 {
		t.Errorf("got %v", err)
	}
}
