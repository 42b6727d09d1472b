package proof_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
)

// reference is a case whose proofs the reference made, and its verifying key.
type reference struct{ name, vk string }

var references = []reference{
	{"porep-v1_1", "porep_2KiB"}, {"window-v1-2sectors", "window_2KiB"}, {"window-v1_2-3sectors", "window_2KiB"},
	{"winning", "winning_2KiB"}, {"snap", "snap_2KiB"}, {"post-tiny", "post_tiny"},
}

func statementOf(t testing.TB, c *golden.Case) proof.Statement {
	t.Helper()
	register := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case c.RegisteredSeal != "":
		p, err := filecoin.ParseSealProof(c.RegisteredSeal)
		register(err)
		s := &porep.Statement{Prover: filecoin.Node(c.ProverID), Sector: c.SectorID, Ticket: filecoin.Node(c.Ticket), Seed: filecoin.Node(c.Seed),
			CommD: filecoin.Node(c.CommD), CommR: filecoin.Node(c.CommR)}
		register(s.Register(p))
		return s
	case c.CommRNew != golden.Node{}:
		s := &snap.Statement{CommROld: filecoin.Node(c.CommROld), CommRNew: filecoin.Node(c.CommRNew), CommDNew: filecoin.Node(c.CommDNew)}
		register(s.Register(0))
		return s
	}
	s := &post.Statement{Randomness: filecoin.Node(c.Randomness)}
	if c.RegisteredPoSt != "" {
		p, err := filecoin.ParsePoStProof(c.RegisteredPoSt)
		register(err)
		register(s.Register(p))
	} else { // the smallest circuit, which is registered nowhere
		s.Shape = filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 1, Challenges: 1}
	}
	for _, sector := range c.Sectors {
		s.Sectors = append(s.Sectors, post.Sector{ID: sector.ID, CommR: filecoin.Node(sector.CommR)})
	}
	return s
}

func (r reference) verifier(t testing.TB) *groth16.Verifier {
	t.Helper()
	vk, err := filparams.OpenVerifyingKey(fixture.Path(t, "filecoin", "params", r.vk+".vk"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := groth16.NewVerifier(vk, "")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestProofsOfTheReferenceVerify(t *testing.T) {
	for _, r := range references {
		c := golden.Read(t, r.name)
		v, s := r.verifier(t), statementOf(t, c)
		var claims []proof.Claim
		proofs := c.Proofs(t)
		if len(proofs) < 3 {
			t.Fatalf("%s: only %d proofs", r.name, len(proofs))
		}
		for i, p := range proofs {
			claim := proof.Claim{Statement: s, Proof: p}
			if err := proof.Verify(v, claim); err != nil {
				t.Errorf("%s, proof %d: %v", r.name, i, err)
			}
			claims = append(claims, claim)
			decoded, err := proof.Decode(p, s.Partitions())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(proof.Encode(decoded), p) {
				t.Errorf("%s, proof %d does not survive its encoding", r.name, i)
			}
		}
		if err := proof.VerifyBatch(v, claims); err != nil {
			t.Errorf("%s, together: %v", r.name, err)
		}
		claims[1].Proof = swapped(claims[1].Proof)
		if err := proof.VerifyBatch(v, claims); !errors.Is(err, groth16.ErrEquation) || !strings.Contains(err.Error(), "proof 1: ") {
			t.Errorf("%s: a batch with a wrong proof gives %v", r.name, err)
		}
	}
}

// swapped exchanges A and C of the first partition.
func swapped(p []byte) []byte {
	out := bytes.Clone(p)
	copy(out, p[144:192])
	copy(out[144:], p[:48])
	return out
}

func TestChangedProofsAndStatementsAreRefused(t *testing.T) {
	for _, r := range references {
		c := golden.Read(t, r.name)
		v := r.verifier(t)
		p := c.Proofs(t)[1]
		refused := func(what string, s proof.Statement, p []byte) {
			t.Helper()
			err := proof.Verify(v, proof.Claim{Statement: s, Proof: p})
			if class := failure.ClassOf(err); class != failure.Verification && class != failure.Input {
				t.Errorf("%s: %s gives %v", r.name, what, err)
			}
		}
		refused("A and C swapped", statementOf(t, c), swapped(p))
		for at := range p {
			changed := bytes.Clone(p)
			changed[at] ^= 1
			refused(fmt.Sprintf("byte %d changed", at), statementOf(t, c), changed)
		}
		for what, change := range changes(statementOf(t, c)) {
			s := statementOf(t, c)
			change(s)
			refused(what, s, p)
		}
		if len(p) > proof.Bytes {
			refused("partitions in another order", statementOf(t, c), append(bytes.Clone(p[proof.Bytes:]), p[:proof.Bytes]...))
		}
	}
}

// inputs is a statement that is given as its public inputs.
type inputs [][]curve.Scalar

func (s inputs) Partitions() int                            { return len(s) }
func (s inputs) PublicInputs(k int) ([]curve.Scalar, error) { return s[k], nil }

// Every single public input counts, in each partition, for the verifier and for the equation itself.
func TestEveryPublicInputCounts(t *testing.T) {
	for _, r := range references {
		c := golden.Read(t, r.name)
		v, s, p := r.verifier(t), statementOf(t, c), c.Proofs(t)[1]
		vk := fixture.Read(t, "filecoin", "params", r.vk+".vk")
		var public inputs
		for k := range s.Partitions() {
			public = append(public, c.Inputs(k))
		}
		if err := proof.Verify(v, proof.Claim{Statement: public, Proof: p}); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		for k, partition := range public {
			for i := range partition {
				partition[i][0] ^= 1
				if err := proof.Verify(v, proof.Claim{Statement: public, Proof: p}); !errors.Is(err, groth16.ErrEquation) {
					t.Errorf("%s: with input %d of partition %d changed: %v", r.name, i, k, err)
				}
				if golden.Equation(vk, p[k*proof.Bytes:(k+1)*proof.Bytes], partition) == nil {
					t.Errorf("%s: the equation holds with input %d of partition %d changed", r.name, i, k)
				}
				partition[i][0] ^= 1
			}
		}
	}
}

// changes are those of everything that a statement is about.
func changes(s proof.Statement) map[string]func(proof.Statement) {
	switch s.(type) {
	case *porep.Statement:
		of := func(f func(*porep.Statement)) func(proof.Statement) {
			return func(s proof.Statement) { f(s.(*porep.Statement)) }
		}
		return map[string]func(proof.Statement){
			"another prover": of(func(s *porep.Statement) { s.Prover[0]++ }), "another sector": of(func(s *porep.Statement) { s.Sector++ }),
			"another ticket": of(func(s *porep.Statement) { s.Ticket[0]++ }), "another seed": of(func(s *porep.Statement) { s.Seed[0]++ }),
			"another comm_d": of(func(s *porep.Statement) { s.CommD[0]++ }), "another comm_r": of(func(s *porep.Statement) { s.CommR[0]++ }),
			"another PoRep id": of(func(s *porep.Statement) { s.PoRepID[8]++ }), "another version": of(func(s *porep.Statement) { s.Version = filecoin.V1_0 }),
		}
	case *post.Statement:
		of := func(f func(*post.Statement)) func(proof.Statement) {
			return func(s proof.Statement) { f(s.(*post.Statement)) }
		}
		return map[string]func(proof.Statement){
			"another randomness": of(func(s *post.Statement) { s.Randomness[0]++ }), "another sector": of(func(s *post.Statement) { s.Sectors[len(s.Sectors)-1].ID++ }),
			"another comm_r": of(func(s *post.Statement) { s.Sectors[0].CommR[0]++ }),
		}
	}
	of := func(f func(*snap.Statement)) func(proof.Statement) {
		return func(s proof.Statement) { f(s.(*snap.Statement)) }
	}
	return map[string]func(proof.Statement){
		"another old comm_r": of(func(s *snap.Statement) { s.CommROld[0]++ }), "another new comm_r": of(func(s *snap.Statement) { s.CommRNew[0]++ }),
		"another comm_d": of(func(s *snap.Statement) { s.CommDNew[0]++ }),
	}
}

func TestMalformedProofsAreNamed(t *testing.T) {
	c := golden.Read(t, "window-v1_2-3sectors")
	good := c.Proofs(t)[0]
	for what, test := range map[string]struct {
		change func([]byte) []byte
		want   string
	}{
		"nothing":          {func([]byte) []byte { return nil }, "the proof has 0 bytes, those of 2 partitions have 384"},
		"one byte short":   {func(p []byte) []byte { return p[:383] }, "383 bytes"},
		"one partition":    {func(p []byte) []byte { return p[:192] }, "192 bytes"},
		"not compressed":   {func(p []byte) []byte { p[192] &= 0x7f; return p }, "partition 1, point A at offset 192: it is not marked as compressed"},
		"infinity":         {func(p []byte) []byte { clear(p[48:144]); p[48] = 0xc0; return p }, "partition 0, point B at offset 48: it is the point at infinity"},
		"above the prime":  {func(p []byte) []byte { p[144] = 0x9f; return p }, "partition 0, point C at offset 144: "},
		"infinity, marked": {func(p []byte) []byte { clear(p[:48]); p[0] = 0xe0; return p }, "partition 0, point A at offset 0: "},
	} {
		_, err := proof.Decode(test.change(bytes.Clone(good)), 2)
		if failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s gives %v, want %q", what, err, test.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, proof.Bytes))
	for _, r := range references {
		f.Add(golden.Read(f, r.name).Proofs(f)[0])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		proofs, err := proof.Decode(data, len(data)/proof.Bytes)
		if err != nil {
			if failure.ClassOf(err) != failure.Input {
				t.Fatalf("an error of another class: %v", err)
			}
			return
		}
		if !bytes.Equal(proof.Encode(proofs), data) {
			t.Fatal("two spellings of one proof")
		}
	})
}

// The verifier agrees with the equation itself, partition by partition.
func TestVerifierAgreesWithTheEquation(t *testing.T) {
	for _, r := range references {
		c := golden.Read(t, r.name)
		s, v := statementOf(t, c), r.verifier(t)
		vk := fixture.Read(t, "filecoin", "params", r.vk+".vk")
		for _, p := range [][]byte{c.Proofs(t)[2], swapped(c.Proofs(t)[2])} {
			holds := true
			for k := range s.Partitions() {
				inputs, err := s.PublicInputs(k)
				if err != nil {
					t.Fatal(err)
				}
				holds = golden.Equation(vk, p[k*proof.Bytes:(k+1)*proof.Bytes], inputs) == nil && holds
			}
			if err := proof.Verify(v, proof.Claim{Statement: s, Proof: p}); (err == nil) != holds {
				t.Errorf("%s: the equation holds: %t; the verifier says %v", r.name, holds, err)
			}
		}
	}
}
