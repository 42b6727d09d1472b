package app

import (
	"context"
	"slices"
	"time"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// prepare makes the constraint system and the input.
func (b *synthBench) prepare(ctx context.Context, c filecoin.Circuit, sector filecoin.SectorSize, report *synthReport) (err error) {
	b.display.begin("input")
	start := time.Now()
	if b.job, err = fabricatedJob(ctx, c, sector, max(1, b.partitions)); err != nil {
		return err
	}
	report.Fabricate = milliseconds(time.Since(start))
	switch n := len(b.job.Partitions); {
	case b.partitions == 0:
		b.partitions = n
	case b.partitions > n:
		return failure.New(failure.Usage, "--partitions %d: a proof has %d", b.partitions, n)
	}
	b.display.begin("constraints")
	start = time.Now()
	b.structure, err = synthesis.Load(ctx, b.app.privateFolder(constraintsFolder), b.job.Shape, b.app.log)
	report.Load = milliseconds(time.Since(start))
	if err != nil {
		return err
	}
	report.Constraints, report.Partitions = b.structure.Constraints, b.partitions
	report.StructureBytes = b.structure.Bytes()
	return nil
}

// fabricatedName is what messages call an input that was made up.
const fabricatedName = "the fabricated input"

// fabricatedJob makes up an input and reads it, as anyone's. A window PoSt has a sector a partition, which fills all slots.
func fabricatedJob(ctx context.Context, c filecoin.Circuit, sector filecoin.SectorSize, partitions int) (*job.Job, error) {
	size := slices.Index(filecoin.PublishedSizes, sector)
	if size < 0 {
		return nil, failure.New(failure.Usage, "--sector-size %s: no registered proof is for sectors of this size", sector)
	}
	sizes := len(filecoin.PublishedSizes)
	switch c {
	case filecoin.WindowPoSt:
		return fabricatedPoSt(ctx, filecoin.PoStProof(2*sizes+size), partitions)
	case filecoin.WinningPoSt:
		return fabricatedPoSt(ctx, filecoin.PoStProof(size), 1)
	case filecoin.SnapDeals, filecoin.SnapDealsPoseidon:
		return fabricatedSnap(ctx, filecoin.SnapShapeOf(sector, c == filecoin.SnapDealsPoseidon))
	case filecoin.PoRep:
	}
	registered := filecoin.SealProof(sizes + size)
	s := &porep.Statement{Prover: filecoin.ProverIDOf(defaultMiner), Sector: 1, Ticket: fabricate.Mark, Seed: orDefault(parsed[filecoin.Node]{})}
	if err := s.Register(registered); err != nil {
		return nil, usage(err)
	}
	commit, err := fabricate.PoRep(ctx, s)
	if err != nil {
		return nil, err
	}
	commit.Proof = &registered
	in := job.Piece{Name: fabricatedName, Data: commit.Format(vanilla.APIBincode)}
	return job.ReadPoRep(ctx, in, job.PoRep{Prover: s.Prover, Sector: &s.Sector})
}

func fabricatedPoSt(ctx context.Context, p filecoin.PoStProof, partitions int) (*job.Job, error) {
	s := &post.Statement{Randomness: orDefault(parsed[filecoin.Node]{})}
	if err := s.Register(p); err != nil {
		return nil, usage(err)
	}
	// A whole partition's sectors would take long to make up, and the last one repeats its own: one is enough for the last.
	sectors := 1
	if !p.Winning() {
		sectors += (partitions - 1) * s.Shape.Slots
	}
	for i := range sectors {
		s.Sectors = append(s.Sectors, post.Sector{ID: uint64(i + 1)})
	}
	proofs, err := fabricate.PoSt(ctx, s)
	if err != nil {
		return nil, err
	}
	in := make([]job.Piece, len(proofs))
	for i, v := range proofs {
		in[i] = job.Piece{Name: fabricatedName, Data: v.Bincode(s.Shape)}
	}
	return job.ReadPoSt(ctx, in, s)
}

func fabricatedSnap(ctx context.Context, shape filecoin.SnapShape) (*job.Job, error) {
	s := &snap.Statement{Shape: shape}
	proofs, err := fabricate.Snap(s)
	if err != nil {
		return nil, err
	}
	in := make([]job.Piece, len(proofs))
	for i, v := range proofs {
		in[i] = job.Piece{Name: fabricatedName, Data: v.Bincode(shape)}
	}
	return job.ReadSnap(ctx, in, job.Snap{Shape: &shape, CommROld: &s.CommROld, CommRNew: &s.CommRNew, CommDNew: &s.CommDNew})
}
