package job_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/internal/golden"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
)

// long tells whether what takes minutes is wanted too: `make test-filecoin-long` says so.
func long() bool { return os.Getenv("CUZK_TEST_LONG") != "" }

// proved is a job with the parameters of its circuit.
type proved struct {
	*golden.Case // nil where it is none of the golden set
	params, vk   []byte
	job          *job.Job
}

// inputs are the public inputs of a partition: the reference's, where it has been asked.
func (p *proved) inputs(t *testing.T, partition int) []curve.Scalar {
	t.Helper()
	if p.Case != nil {
		return p.Inputs(partition)
	}
	public, err := p.job.Statement.PublicInputs(partition)
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// open makes a prover that draws these bytes as its randomness, or real ones.
func (p *proved) open(t *testing.T, random []byte) *pipeline.Filecoin {
	t.Helper()
	config := pipeline.Config{Backend: cpu.New(cpu.Config{})}
	if random != nil {
		config.Random = bytes.NewReader(random)
	}
	f, err := pipeline.OpenFilecoin(t.Context(), pipeline.Files{
		ProvingKey: &pipeline.File{Name: "params", Data: p.params}, VerifyingKey: &pipeline.File{Name: "vk", Data: p.vk},
	}, p.job.Shape, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func poStOf(t *testing.T, name, params string) *proved {
	t.Helper()
	c := golden.Read(t, name)
	j, err := job.ReadPoSt(t.Context(), vanillaPieces(t, c), postStatement(t, c))
	if err != nil {
		t.Fatal(err)
	}
	p := &proved{Case: c, job: j}
	p.params, p.vk = golden.Params(t, params, j.Shape)
	return p
}

func poRepOf(t *testing.T) *proved {
	t.Helper()
	c := golden.Read(t, "porep-v1_1")
	in := job.Piece{Name: "c1", Data: golden.File(t, "porep-v1_1.c1.commit2in.json")}
	j, err := job.ReadPoRep(t.Context(), in, job.PoRep{Prover: filecoin.Node(c.ProverID)})
	if err != nil {
		t.Fatal(err)
	}
	p := &proved{Case: c, job: j}
	p.params, p.vk = golden.Params(t, "porep_2KiB", j.Shape)
	return p
}

func snapOf(t *testing.T) *proved {
	t.Helper()
	c := golden.Read(t, "snap")
	registered := filecoin.UpdateProof(0)
	old, updated, data := filecoin.Node(c.CommROld), filecoin.Node(c.CommRNew), filecoin.Node(c.CommDNew)
	in := []job.Piece{{Name: "vanilla", Data: golden.File(t, "snap.vanilla-p0.bincode")}}
	j, err := job.ReadSnap(t.Context(), in, job.Snap{Proof: &registered, CommROld: &old, CommRNew: &updated, CommDNew: &data})
	if err != nil {
		t.Fatal(err)
	}
	p := &proved{Case: c, job: j}
	p.params, p.vk = golden.Params(t, "snap_2KiB", j.Shape)
	return p
}

// With r and s of the reference, proofs of all partitions come out byte for byte; with others they verify.
func TestProofsAreThoseOfTheReference(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T) *proved
		long bool
	}{
		{"window-v1_2-3sectors", func(t *testing.T) *proved { return poStOf(t, "window-v1_2-3sectors", "window_2KiB") }, false},
		{"window-v1-2sectors", func(t *testing.T) *proved { return poStOf(t, "window-v1-2sectors", "window_2KiB") }, true},
		{"winning", func(t *testing.T) *proved { return poStOf(t, "winning", "winning_2KiB") }, true},
		{"snap", snapOf, true},
		{"porep-v1_1", poRepOf, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && !long() {
				t.Skip("takes minutes: set CUZK_TEST_LONG=1")
			}
			p := c.make(t)
			for i := range p.Groth16.ProofFiles {
				if i != 1 && !long() {
					continue
				}
				made, err := p.open(t, p.Blinding(i)).Prove(t.Context(), p.job, pipeline.FilecoinOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if want := golden.File(t, fmt.Sprintf("%s.proof%d.bin", c.name, i)); !bytes.Equal(made.Proof, want) {
					t.Errorf("proof %d is\n%x, want\n%x", i, made.Proof, want)
				}
			}
			p.checkRandomProof(t)
		})
	}
}

// The Poseidon variant of an update has no case of the reference, but its parameters.
func TestUpdateOfThePoseidonVariant(t *testing.T) {
	shape := filecoin.SnapShapeOf(filecoin.Sector2KiB, true)
	s := &snap.Statement{Shape: shape}
	proofs, err := fabricate.Snap(s)
	if err != nil {
		t.Fatal(err)
	}
	in := []job.Piece{{Name: "vanilla", Data: proofs[0].Bincode(shape)}}
	j, err := job.ReadSnap(t.Context(), in, job.Snap{Shape: &shape, CommROld: &s.CommROld, CommRNew: &s.CommRNew, CommDNew: &s.CommDNew})
	if err != nil {
		t.Fatal(err)
	}
	p := &proved{job: j}
	p.params, p.vk = golden.Params(t, "snap_poseidon_2KiB", shape)
	p.checkRandomProof(t)
}

// The smallest proof of replication that has two partitions, of an input that was never sealed.
func TestPoRepOfTwoPartitions(t *testing.T) {
	if !long() {
		t.Skip("takes minutes: set CUZK_TEST_LONG=1")
	}
	registered := filecoin.SealProof(5)
	s := &porep.Statement{Prover: filecoin.ProverIDOf(1000), Sector: 7, Ticket: fabricate.Mark, Seed: filecoin.Node{1}}
	if err := s.Register(registered); err != nil {
		t.Fatal(err)
	}
	s.Shape = filecoin.PoRepTestShape
	c, err := fabricate.PoRep(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c.Proof = &registered
	in := job.Piece{Name: "c1", Data: c.Format(vanilla.CommitJSON)}
	j, err := job.ReadPoRep(t.Context(), in, job.PoRep{Shape: &filecoin.PoRepTestShape, Prover: s.Prover})
	if err != nil {
		t.Fatal(err)
	}
	p := &proved{job: j}
	p.params, p.vk = golden.Params(t, "porep_2KiB", j.Shape)
	p.checkRandomProof(t)
}

// checkRandomProof makes a proof as production does, which must verify by ours and by another verifier, and by neither when
// anything of it changes.
func (p *proved) checkRandomProof(t *testing.T) {
	t.Helper()
	f := p.open(t, nil)
	made, err := f.Prove(t.Context(), p.job, pipeline.FilecoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v := parseVK(t, p.vk)
	check := func(what string, data []byte, public func(partition, i int, e *fr.Element)) {
		t.Helper()
		want := what == ""
		if got := v.all(t, p, data, public); got != want {
			t.Errorf("another verifier accepts %q: %t", what, got)
		}
		if public != nil {
			return
		}
		if err := f.Verify(p.job.Statement, data); (err == nil) != want {
			t.Errorf("%q: %v", what, err)
		}
	}
	check("", made.Proof, nil)
	for i := 0; i < len(made.Proof); i += 61 {
		damaged := bytes.Clone(made.Proof)
		damaged[i] ^= 4
		check(fmt.Sprintf("byte %d changed", i), damaged, nil)
	}
	if len(made.Partitions) > 1 {
		check("another order", append(bytes.Clone(made.Proof[192:384]), made.Proof[:192]...), nil)
	}
	for n := range min(24, len(p.inputs(t, 0))) {
		check(fmt.Sprintf("public input %d changed", n), made.Proof, func(partition, i int, e *fr.Element) {
			if partition == 0 && i == n {
				one := fr.One()
				e.Add(e, &one)
			}
		})
	}
}

// otherVerifier verifies by the equation of the specification and nothing of ours.
type otherVerifier struct {
	alpha              bls12381.G1Affine
	beta, gamma, delta bls12381.G2Affine
	ic                 []bls12381.G1Affine
}

func parseVK(t *testing.T, data []byte) *otherVerifier {
	t.Helper()
	g1 := func(at int) (p bls12381.G1Affine) {
		if _, err := p.SetBytes(data[at : at+96]); err != nil {
			t.Fatal(err)
		}
		return p
	}
	g2 := func(at int) (p bls12381.G2Affine) {
		if _, err := p.SetBytes(data[at : at+192]); err != nil {
			t.Fatal(err)
		}
		return p
	}
	const lengthAt = 3*96 + 3*192
	v := &otherVerifier{alpha: g1(0), beta: g2(192), gamma: g2(384), delta: g2(672)}
	for i := range int(binary.BigEndian.Uint32(data[lengthAt:])) {
		v.ic = append(v.ic, g1(lengthAt+4+96*i))
	}
	return v
}

// all verifies the partitions; change, if not nil, may change public inputs.
func (v *otherVerifier) all(t *testing.T, p *proved, data []byte, change func(partition, i int, e *fr.Element)) bool {
	for k := range len(data) / 192 {
		var public []fr.Element
		for i, s := range p.inputs(t, k) {
			e := element(s)
			if change != nil {
				change(k, i, &e)
			}
			public = append(public, e)
		}
		if !v.one(data[192*k:192*(k+1)], public) {
			return false
		}
	}
	return true
}

func element(s curve.Scalar) fr.Element {
	n := curve.ScalarToBig(s)
	var e fr.Element
	e.SetBigInt(n)
	return e
}

// one checks e(A, B) = e(α, β)·e(Σ xᵢ·icᵢ, γ)·e(C, δ).
func (v *otherVerifier) one(data []byte, public []fr.Element) bool {
	var a, c, sum bls12381.G1Affine
	var b bls12381.G2Affine
	if _, err := a.SetBytes(data[:48]); err != nil {
		return false
	}
	if _, err := b.SetBytes(data[48:144]); err != nil {
		return false
	}
	if _, err := c.SetBytes(data[144:]); err != nil {
		return false
	}
	inputs := v.ic[0]
	for i := range public {
		inputs.Add(&inputs, sum.ScalarMultiplication(&v.ic[i+1], public[i].BigInt(curve.ScalarToBig(curve.Scalar{}))))
	}
	a.Neg(&a)
	ok, err := bls12381.PairingCheck([]bls12381.G1Affine{a, v.alpha, inputs, c}, []bls12381.G2Affine{b, v.beta, v.gamma, v.delta})
	return err == nil && ok
}
