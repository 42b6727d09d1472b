package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// tinyPoSt is the smallest of Filecoin's circuits, of which the reference's parameters are there whole.
var tinyPoSt = filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 1, Challenges: 1}

func tinyParams(t *testing.T) pipeline.Files {
	t.Helper()
	file := func(name string) *pipeline.File {
		return &pipeline.File{Name: name, Data: fixture.Read(t, "filecoin", "params", name)}
	}
	return pipeline.Files{ProvingKey: file("post_tiny.params"), VerifyingKey: file("post_tiny.vk")}
}

// tinyJob is about two sectors, each a partition.
func tinyJob(t *testing.T, sectors ...uint64) *job.Job {
	t.Helper()
	s := &post.Statement{Shape: tinyPoSt, Version: filecoin.V1_2, Randomness: filecoin.Node{1, 2, 3}}
	for _, id := range sectors {
		s.Sectors = append(s.Sectors, post.Sector{ID: id})
	}
	proofs, err := fabricate.PoSt(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var in []job.Piece
	for _, p := range proofs {
		in = append(in, job.Piece{Name: "vanilla", Data: p.Bincode(tinyPoSt)})
	}
	j, err := job.ReadPoSt(t.Context(), in, s)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func openFilecoin(t *testing.T, files pipeline.Files, shape filecoin.Shape, config pipeline.Config) *pipeline.Filecoin {
	t.Helper()
	if config.Backend == nil {
		config.Backend = cpu.New(cpu.Config{})
	}
	f, err := pipeline.OpenFilecoin(t.Context(), files, shape, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestProvesPartitionsOfFilecoin(t *testing.T) {
	budget := memory.NewBudget(1 << 30)
	f := openFilecoin(t, tinyParams(t), tinyPoSt, pipeline.Config{Backend: cpu.New(cpu.Config{Memory: budget})})
	j := tinyJob(t, 3, 5, 8)
	made, err := f.Prove(t.Context(), j, pipeline.FilecoinOptions{AtOnce: 2, Runs: pipeline.Runs{Measured: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Partitions) != 3 || len(made.Proof) != 3*192 || !made.Whole {
		t.Fatalf("%d partitions, %d bytes, whole: %t", len(made.Partitions), len(made.Proof), made.Whole)
	}
	for k, p := range made.Partitions {
		if p.Partition != k || !p.Verified || len(p.Runs) != 2 || p.Runs[1].Stages[stage.Synth] == 0 || p.Runs[1].Stages[stage.GPU] == 0 {
			t.Errorf("partition %d is %+v", k, p)
		}
		if !bytes.Equal(p.Proof, made.Proof[192*k:192*(k+1)]) {
			t.Errorf("the proof of partition %d is at another place", k)
		}
	}
	if used, peak := budget.Used(); used != budget.Total()-budget.Room() || peak <= used {
		t.Errorf("%d bytes are still taken, of %d; the key holds %d", used, peak, budget.Total()-budget.Room())
	}
	swapped := bytes.Clone(made.Proof)
	copy(swapped, made.Proof[192:384])
	copy(swapped[192:], made.Proof[:192])
	if err := f.Verify(j.Statement, swapped); err == nil {
		t.Error("partitions in another order verify")
	}
	part, err := f.Prove(t.Context(), j, pipeline.FilecoinOptions{Partitions: []int{1}})
	if err != nil || part.Whole || len(part.Proof) != 192 {
		t.Fatalf("%v: %+v", err, part)
	}
	copy(made.Proof[192:], part.Proof)
	if err := f.Verify(j.Statement, made.Proof); err != nil {
		t.Errorf("a partition proved again does not fit: %v", err)
	}
}

// evaluating is a backend that is not taken for the processor, so that it evaluates constraints itself.
type evaluating struct {
	groth16.Backend
	packed int
}

func (b *evaluating) Submit(ctx context.Context, k groth16.Key, a groth16.Assignment, r, s curve.Scalar, o groth16.Options) (groth16.Ticket, error) {
	if p, ok := a.(groth16.Packed); ok && p.Bits != nil {
		b.packed++
	}
	return b.Backend.Submit(ctx, k, a, r, s, o)
}

// A backend that evaluates constraints is handed bits and elements, and makes the same proof.
func TestHandsPackedWitnessesOver(t *testing.T) {
	j := tinyJob(t, 3)
	random := bytes.Repeat([]byte{1}, 64)
	var proofs [][]byte
	other := &evaluating{Backend: cpu.New(cpu.Config{})}
	for _, backend := range []groth16.Backend{cpu.New(cpu.Config{}), other} {
		f := openFilecoin(t, tinyParams(t), tinyPoSt, pipeline.Config{Backend: backend, Random: bytes.NewReader(random)})
		made, err := f.Prove(t.Context(), j, pipeline.FilecoinOptions{})
		if err != nil {
			t.Fatal(err)
		}
		proofs = append(proofs, made.Proof)
	}
	if !bytes.Equal(proofs[0], proofs[1]) || other.packed != 1 {
		t.Errorf("two ways to one proof, of which %d was packed:\n%x\n%x", other.packed, proofs[0], proofs[1])
	}
}

func TestFilecoinRefusals(t *testing.T) {
	files := tinyParams(t)
	// The verifying key of another circuit.
	wrong := files
	wrong.VerifyingKey = &pipeline.File{Name: "window.vk", Data: fixture.Read(t, "filecoin", "params", "window_2KiB.vk")}
	_, err := pipeline.OpenFilecoin(t.Context(), wrong, tinyPoSt, pipeline.Config{Backend: cpu.New(cpu.Config{})}, nil)
	if failure.ClassOf(err) != failure.Key || !strings.Contains(err.Error(), "window.vk") {
		t.Errorf("another verifying key: %v", err)
	}
	// Parameters of another circuit, published or not.
	for _, shape := range []filecoin.Shape{filecoin.WindowPoStShape(filecoin.Sector2KiB), filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 1, Challenges: 2}} {
		_, err := pipeline.OpenFilecoin(t.Context(), files, shape, pipeline.Config{Backend: cpu.New(cpu.Config{})}, nil)
		if failure.ClassOf(err) != failure.Key || !strings.Contains(err.Error(), "post_tiny.params: section ic") {
			t.Errorf("parameters of another circuit: %v", err)
		}
	}
	// No room.
	_, err = pipeline.OpenFilecoin(t.Context(), files, tinyPoSt, pipeline.Config{Backend: cpu.New(cpu.Config{Memory: memory.NewBudget(1 << 16)})}, nil)
	if failure.ClassOf(err) != failure.Memory || !strings.HasPrefix(err.Error(), "post_tiny.params: proving with this key needs") {
		t.Errorf("no memory: %v", err)
	}
	f := openFilecoin(t, files, tinyPoSt, pipeline.Config{})
	// A job of another circuit, and a partition that there is not.
	s := &post.Statement{Randomness: filecoin.Node{1}, Sectors: []post.Sector{{ID: 1}}}
	if err := s.Register(0); err != nil {
		t.Fatal(err)
	}
	proofs, err := fabricate.PoSt(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	other, err := job.ReadPoSt(t.Context(), []job.Piece{{Name: "v", Data: proofs[0].Bincode(s.Shape)}}, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Prove(t.Context(), other, pipeline.FilecoinOptions{}); failure.ClassOf(err) != failure.Usage {
		t.Errorf("a job of another circuit: %v", err)
	}
	if _, err := f.Prove(t.Context(), tinyJob(t, 3), pipeline.FilecoinOptions{Partitions: []int{1}}); failure.ClassOf(err) != failure.Usage {
		t.Errorf("a partition too many: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Prove(ctx, tinyJob(t, 3), pipeline.FilecoinOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Of a proof that does not verify it is found out that the parameters are to blame, and where.
func TestExplainsDamagedParameters(t *testing.T) {
	files := tinyParams(t)
	damaged := bytes.Clone(files.ProvingKey.Data)
	damaged[len(damaged)-1] ^= 1 // of the last point of b_g2
	files.ProvingKey = &pipeline.File{Name: "damaged.params", Data: damaged}
	f := openFilecoin(t, files, tinyPoSt, pipeline.Config{})
	_, err := f.Prove(t.Context(), tinyJob(t, 3), pipeline.FilecoinOptions{})
	if failure.ClassOf(err) != failure.Key || !strings.Contains(err.Error(), "damaged.params: section b_g2, point") {
		t.Errorf("a damaged point: %v", err)
	}
}
