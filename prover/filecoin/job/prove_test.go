package job_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
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

// checkRandomProof makes a proof as production does, which must verify by ours and by the equation itself, and by neither
// when anything of it changes.
func (p *proved) checkRandomProof(t *testing.T) {
	t.Helper()
	f := p.open(t, nil)
	made, err := f.Prove(t.Context(), p.job, pipeline.FilecoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, data []byte) {
		t.Helper()
		want := what == ""
		if got := p.holds(t, data, nil); got != want {
			t.Errorf("the equation holds with %q: %t", what, got)
		}
		if err := f.Verify(p.job.Statement, data); (err == nil) != want {
			t.Errorf("%q: %v", what, err)
		}
	}
	check("", made.Proof)
	for i := range made.Proof {
		damaged := bytes.Clone(made.Proof)
		damaged[i] ^= 4
		check(fmt.Sprintf("byte %d changed", i), damaged)
	}
	if len(made.Partitions) > 1 {
		check("another order", append(bytes.Clone(made.Proof[proof.Bytes:2*proof.Bytes]), made.Proof[:proof.Bytes]...))
	}
	for n := range p.inputs(t, 0) {
		if p.holds(t, made.Proof, func(inputs []curve.Scalar) { inputs[n][0] ^= 1 }) {
			t.Errorf("public input %d can be changed", n)
		}
	}
}

// holds tells whether the equation holds for all partitions; change, if not nil, changes the public inputs of the first.
func (p *proved) holds(t *testing.T, data []byte, change func([]curve.Scalar)) bool {
	t.Helper()
	for k := range len(data) / proof.Bytes {
		inputs := p.inputs(t, k)
		if k == 0 && change != nil {
			change(inputs)
		}
		if golden.Equation(p.vk, data[proof.Bytes*k:proof.Bytes*(k+1)], inputs) != nil {
			return false
		}
	}
	return true
}
