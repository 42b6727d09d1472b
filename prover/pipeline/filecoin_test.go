package pipeline_test

import (
	"bytes"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
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
	if used, peak := budget.Used(); used != 0 || peak == 0 {
		t.Errorf("%d bytes are still reserved, of %d", used, peak)
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
