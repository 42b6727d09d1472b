package job_test

import (
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
)

// assigned checks that a partition has a witness, about the public inputs of the reference.
func assigned(t *testing.T, s *structure.Structure, c *golden.Case, j *job.Job, partition int) {
	t.Helper()
	w, public, err := j.Assign(t.Context(), s, partition)
	if err != nil {
		t.Error(err)
		return
	}
	defer w.Free()
	for i, want := range c.Inputs(partition) {
		if public[i] != want || w.Inputs[i+1].Bits() != want {
			t.Errorf("public input %d of partition %d is another", i+1, partition)
		}
	}
}

func sealProof(t *testing.T, c *golden.Case) *filecoin.SealProof {
	t.Helper()
	p, err := filecoin.ParseSealProof(c.RegisteredSeal)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

func TestReadsCommitmentsOfTheReference(t *testing.T) {
	system := synthesis.Record(filecoin.PoRepShapeOf(filecoin.Sector2KiB))
	for _, name := range []string{"porep-v1_1", "porep-v1", "porep-synthetic"} {
		c := golden.Read(t, name)
		for _, form := range []string{"raw.bincode", "api.bincode", "api.json", "commit2in.json"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				file := name + ".c1." + form
				piece := job.Piece{Name: file, Data: golden.File(t, file)}
				want := job.PoRep{Proof: sealProof(t, c), Prover: filecoin.Node(c.ProverID), Sector: &c.SectorID}
				j, err := job.ReadPoRep(t.Context(), piece, want)
				if err != nil {
					t.Fatal(err)
				}
				assigned(t, system, c, j, 0)
			})
		}
	}
}

// What is said of a seal must agree with what its input says.
func TestContradictionsAreRefused(t *testing.T) {
	const file = "porep-v1_1.c1.commit2in.json"
	c := golden.Read(t, "porep-v1_1")
	piece := job.Piece{Name: file, Data: golden.File(t, file)}
	other, sector, registered := filecoin.Node{1}, c.SectorID+1, filecoin.SealProof(0)
	valid := func() job.PoRep { return job.PoRep{Prover: filecoin.Node(c.ProverID)} }
	if _, err := job.ReadPoRep(t.Context(), piece, valid()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*job.PoRep){
		"replica_id":           func(p *job.PoRep) { p.Prover = other },
		"the sector":           func(p *job.PoRep) { p.Sector = &sector },
		"the registered proof": func(p *job.PoRep) { p.Proof = &registered },
		"the ticket":           func(p *job.PoRep) { p.Ticket = &other },
		"the seed":             func(p *job.PoRep) { p.Seed = &other },
		"comm_d":               func(p *job.PoRep) { p.CommD = &other },
		"comm_r":               func(p *job.PoRep) { p.CommR = &other },
	} {
		p := valid()
		change(&p)
		_, err := job.ReadPoRep(t.Context(), piece, p)
		if err == nil || !strings.Contains(err.Error(), file+": "+want) || failure.ClassOf(err) != failure.Input {
			t.Errorf("%s: %v", want, err)
		}
	}
	raw := job.Piece{Name: "raw", Data: golden.File(t, "porep-v1_1.c1.raw.bincode")}
	p := valid()
	p.Sector = &c.SectorID
	if _, err := job.ReadPoRep(t.Context(), raw, p); failure.ClassOf(err) != failure.Usage || !strings.Contains(err.Error(), "registered proof") {
		t.Errorf("a registered proof that nobody told: %v", err)
	}
}

func postStatement(t *testing.T, c *golden.Case) *post.Statement {
	t.Helper()
	p, err := filecoin.ParsePoStProof(c.RegisteredPoSt)
	if err != nil {
		t.Fatal(err)
	}
	s := &post.Statement{Randomness: filecoin.Node(c.Randomness)}
	if err := s.Register(p); err != nil {
		t.Fatal(err)
	}
	for _, sector := range c.Sectors {
		s.Sectors = append(s.Sectors, post.Sector{ID: sector.ID, CommR: filecoin.Node(sector.CommR)})
	}
	return s
}

func vanillaPieces(t *testing.T, c *golden.Case) []job.Piece {
	t.Helper()
	var in []job.Piece
	for _, s := range c.Sectors {
		in = append(in, job.Piece{Name: s.Vanilla, Data: golden.File(t, s.Vanilla)})
	}
	return in
}

func TestReadsPoStsOfTheReference(t *testing.T) {
	for _, name := range []string{"window-v1_2-3sectors", "window-v1-2sectors", "winning"} {
		t.Run(name, func(t *testing.T) {
			c := golden.Read(t, name)
			s := postStatement(t, c)
			j, err := job.ReadPoSt(t.Context(), vanillaPieces(t, c), s)
			if err != nil {
				t.Fatal(err)
			}
			system := synthesis.Record(j.Shape)
			if len(j.Partitions) != s.Partitions() {
				t.Errorf("partitions %v of %d", j.Partitions, s.Partitions())
			}
			for _, k := range j.Partitions {
				assigned(t, system, c, j, k)
			}
		})
	}
}

// The sectors of one partition are enough to prove it.
func TestPartOfAWindowPoSt(t *testing.T) {
	c := golden.Read(t, "window-v1_2-3sectors")
	in := vanillaPieces(t, c)
	j, err := job.ReadPoSt(t.Context(), in[2:], postStatement(t, c))
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Partitions) != 1 || j.Partitions[0] != 1 {
		t.Fatalf("partitions %v, want the second", j.Partitions)
	}
	assigned(t, synthesis.Record(j.Shape), c, j, 1)
	for want, in := range map[string][]job.Piece{
		"is missing":         in[1:2],
		"of which":           {in[0], in[1], in[0]},
		"none of the sector": {in[0], {Name: "other", Data: golden.File(t, "post-tiny.vanilla-1.bincode")}},
	} {
		s := postStatement(t, c)
		if want == "none of the sector" {
			s.Sectors = s.Sectors[:2]
			in = vanillaPieces(t, c)
		}
		if _, err := job.ReadPoSt(t.Context(), in, s); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestReadsUpdatesOfTheReference(t *testing.T) {
	c := golden.Read(t, "snap")
	proof := filecoin.UpdateProof(0)
	old, updated, data := filecoin.Node(c.CommROld), filecoin.Node(c.CommRNew), filecoin.Node(c.CommDNew)
	want := job.Snap{Proof: &proof, CommROld: &old, CommRNew: &updated, CommDNew: &data}
	system := synthesis.Record(proof.Shape())
	for _, file := range []string{"snap.vanilla-p0.bincode", "snap.vanilla-p0.json"} {
		in := []job.Piece{{Name: file, Data: golden.File(t, file)}}
		j, err := job.ReadSnap(t.Context(), in, want)
		if err != nil {
			t.Fatal(err)
		}
		assigned(t, system, c, j, 0)
		wrong := want
		wrong.CommROld = &updated
		j, err = job.ReadSnap(t.Context(), in, wrong)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := j.Assign(t.Context(), system, 0); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), file) {
			t.Errorf("an update of another sector: %v", err)
		}
		wrong.CommROld = nil
		if _, err := job.ReadSnap(t.Context(), in, wrong); failure.ClassOf(err) != failure.Usage || !strings.Contains(err.Error(), "old comm_r") {
			t.Errorf("an update without a commitment: %v", err)
		}
	}
}
