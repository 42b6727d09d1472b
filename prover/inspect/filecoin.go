package inspect

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
)

// Filecoin is what a file of Filecoin's tells beyond its circuit's counts. Commitments are in hex.
type Filecoin struct {
	// Circuit and SectorSize are those of published parameters with the file's lengths, or of the input.
	Circuit    string `json:"circuit,omitempty"`
	SectorSize uint64 `json:"sectorSize,omitempty"`

	RegisteredProof string  `json:"registeredProof,omitempty"`
	SectorNumber    *uint64 `json:"sectorNumber,omitempty"`
	Partitions      int     `json:"partitions,omitempty"`
	// Challenges of each partition.
	Challenges int    `json:"challenges,omitempty"`
	ReplicaID  string `json:"replicaID,omitempty"`
	Ticket     string `json:"ticket,omitempty"`
	Seed       string `json:"seed,omitempty"`
	CommD      string `json:"commD,omitempty"`
	CommR      string `json:"commR,omitempty"`
	CommROld   string `json:"commROld,omitempty"`
	CommRNew   string `json:"commRNew,omitempty"`
	CommDNew   string `json:"commDNew,omitempty"`
	// Fabricated says that no sector stands behind the input.
	Fabricated bool `json:"fabricated,omitempty"`
}

// filecoin looks at Filecoin's files, which are recognised by more than their first bytes; ok is false for all others.
func (i *inspection) filecoin(ctx context.Context) (ok bool, err error) {
	kind := Unknown
	data := i.file.Bytes()
	err = mapped.Guard(func() error {
		switch {
		case filparams.IsVerifyingKey(data):
			kind = FilecoinVerifyingKey
		case filparams.IsParams(data):
			kind = FilecoinParams
		case vanilla.IsCommit1(data):
			kind = FilecoinCommit1
		case vanilla.IsUpdate(data):
			kind = FilecoinUpdate
		}
		return nil
	})
	if err != nil || kind == Unknown {
		return false, err
	}
	i.report.Kind = kind
	switch kind {
	case FilecoinVerifyingKey:
		return true, i.filecoinVerifyingKey(data)
	case FilecoinParams:
		return true, i.filecoinParams()
	case FilecoinCommit1:
		return true, i.filecoinCommit1(ctx, data)
	default:
		return true, i.filecoinUpdate(data)
	}
}

func (i *inspection) filecoinVerifyingKey(data []byte) error {
	vk, err := filparams.ParseVerifyingKey(i.path, data)
	if err != nil {
		return err
	}
	i.report.Curve, i.report.Circuit = vk.Curve, &Circuit{PublicInputs: count(vk.Public())}
	_, err = groth16.NewVerifier(vk, "")
	return failure.InFile(err, i.path)
}

func (i *inspection) filecoinParams() error {
	f, err := filparams.Open(i.path)
	if err != nil {
		return err
	}
	l := f.Lengths()
	r := i.report
	r.Curve = f.VerifyingKey().Curve
	r.Circuit = &Circuit{PublicInputs: count(l.IC - 1), Wires: count(l.IC + l.L), DomainSize: count(l.H + 1)}
	r.Sections = []Section{{"ic", "G1", l.IC}, {"h", "G1", l.H}, {"l", "G1", l.L}, {"a", "G1", l.A}, {"b_g1", "G1", l.B}, {"b_g2", "G2", l.B}}
	r.Filecoin = &Filecoin{}
	for _, p := range filecoin.PublishedParameters {
		if p.Lengths == l {
			r.Filecoin.Circuit, r.Filecoin.SectorSize = p.Circuit.String(), uint64(p.Sector)
		}
	}
	points := int64(0)
	for _, s := range r.Sections {
		points += int64(s.Points)
	}
	i.done = func() { f.Close() }
	i.checkPoints = func(ctx context.Context) (int64, error) {
		return points, f.Check(ctx, i.tell("points"))
	}
	return nil
}

func (i *inspection) filecoinCommit1(ctx context.Context, data []byte) error {
	c, err := vanilla.ReadCommit1(ctx, i.path, data, vanilla.CommitOptions{})
	if err != nil {
		return err
	}
	f := &Filecoin{
		Circuit: filecoin.PoRep.String(), SectorSize: uint64(c.Shape.Sector), SectorNumber: c.Sector,
		Partitions: c.Shape.Partitions, Challenges: c.Shape.Challenges, ReplicaID: c.ReplicaID.String(), Ticket: c.Ticket.String(),
		Seed: c.Seed.String(), CommD: c.CommD.String(), CommR: c.CommR.String(), Fabricated: c.Ticket == fabricate.Mark,
	}
	if c.Proof != nil {
		f.RegisteredProof = c.Proof.String()
	}
	i.report.Encoding, i.report.Filecoin = c.Encoding.String(), f
	return nil
}

func (i *inspection) filecoinUpdate(data []byte) error {
	u, err := vanilla.ReadUpdate(i.path, data)
	if err != nil {
		return err
	}
	shape := u.Proof.Shape()
	i.report.Filecoin = &Filecoin{
		Circuit: filecoin.SnapDeals.String(), SectorSize: uint64(shape.Sector), RegisteredProof: u.Proof.String(),
		Partitions: shape.Partitions, Challenges: shape.Challenges,
		CommROld: u.CommROld.String(), CommRNew: u.CommRNew.String(), CommDNew: u.CommDNew.String(),
	}
	return nil
}
