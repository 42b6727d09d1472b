// Package statement reads what a ProofJob says that a Filecoin proof must be about. Prover and operator both do: the one to
// prove it, the other to compute the public inputs that the proof is verified with.
package statement

import (
	"errors"
	"fmt"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
)

// Filecoin is what a proof must be about, with the circuit that proves it. It is not changed once it is read.
type Filecoin struct {
	Circuit filecoin.Circuit
	// Shape is that of each partition's circuit; it names the parameters.
	Shape filecoin.Shape
	// PublicInputs is the number of public inputs of a partition, without the one.
	PublicInputs int
	// Statement is one of PoRep, PoSt and Snap: it gives the number of partitions and the public inputs of each.
	Statement proof.Statement

	// PoRep is the statement of a proof of replication, PoSt that of a window or winning PoSt, Snap that of an update: one
	// of them is set.
	PoRep *porep.Statement
	PoSt  *post.Statement
	Snap  *snap.Statement

	// SealProof and UpdateProof are the registered proofs of PoRep and of Snap, for comparison with what an input says;
	// UpdateProof is nil for shapes that are not registered.
	SealProof   filecoin.SealProof
	UpdateProof *filecoin.UpdateProof
}

// Of reads the statement of a Filecoin circuit. What can be wrong with one that the API server let in, errors name by its
// field.
func Of(c *v1alpha1.Circuit) (*Filecoin, error) {
	r := &reader{}
	var f *Filecoin
	switch {
	case c.Type == v1alpha1.CircuitFilecoinPoRep && c.FilecoinPoRep != nil:
		r.member = "filecoinPoRep"
		f = r.porep(c.FilecoinPoRep)
	case c.Type == v1alpha1.CircuitFilecoinWindowPoSt && c.FilecoinWindowPoSt != nil:
		r.member = "filecoinWindowPoSt"
		w := c.FilecoinWindowPoSt
		f = r.post(filecoin.WindowPoSt, w.RegisteredProof, w.Randomness, "sectors", w.Sectors)
	case c.Type == v1alpha1.CircuitFilecoinWinningPoSt && c.FilecoinWinningPoSt != nil:
		r.member = "filecoinWinningPoSt"
		w := c.FilecoinWinningPoSt
		f = r.post(filecoin.WinningPoSt, w.RegisteredProof, w.Randomness, "sector", []v1alpha1.FilecoinSector{w.Sector})
	case c.Type == v1alpha1.CircuitFilecoinSnapDeals && c.FilecoinSnapDeals != nil:
		r.member = "filecoinSnapDeals"
		f = r.snap(c.FilecoinSnapDeals)
	default:
		return nil, fmt.Errorf("circuit.type %s has no statement of a Filecoin proof", c.Type)
	}
	if r.err != nil {
		return nil, r.err
	}
	if n := f.Statement.Partitions(); n > v1alpha1.MaxPartitions {
		return nil, fmt.Errorf("circuit.%s makes %d partitions, more than %d: split it into several ProofJobs", r.member, n, v1alpha1.MaxPartitions)
	}
	return f, nil
}

// reader reads fields of a member and keeps the first error.
type reader struct {
	member string
	err    error
}

func (r *reader) fail(field string, err error) {
	if err == nil || r.err != nil {
		return
	}
	if field != "" {
		field = "." + field
	}
	r.err = fmt.Errorf("circuit.%s%s: %w", r.member, field, err)
}

// read reads a field by a function that knows its form.
func read[T any, S ~string](r *reader, field string, text S, parse func(string) (T, error)) T {
	v, err := parse(string(text))
	r.fail(field, err)
	return v
}

func (r *reader) porep(c *v1alpha1.FilecoinPoRepCircuit) *Filecoin {
	registered := read(r, "registeredProof", c.RegisteredProof, filecoin.ParseSealProof)
	s := &porep.Statement{
		Prover: filecoin.ProverIDOf(read(r, "miner", c.Miner, filecoin.ParseMiner)),
		Sector: r.number("sectorNumber", c.SectorNumber),
		Ticket: read(r, "ticket", c.Ticket, filecoin.ParseNode),
		Seed:   read(r, "seed", c.Seed, filecoin.ParseNode),
		CommD:  read(r, "commD", c.CommD, filecoin.Unsealed.Parse),
		CommR:  read(r, "commR", c.CommR, filecoin.Sealed.Parse),
	}
	r.fail("registeredProof", s.Register(registered))
	if c.Shape == v1alpha1.FilecoinShapeTest {
		if s.Shape.Sector != filecoin.PoRepTestShape.Sector {
			r.fail("shape", fmt.Errorf("%s is of %s, the registered proof of %s", c.Shape, filecoin.PoRepTestShape.Sector, s.Shape.Sector))
		}
		s.Shape = filecoin.PoRepTestShape
	}
	r.fail("", s.Check())
	return &Filecoin{
		Circuit: filecoin.PoRep, Shape: s.Shape, PublicInputs: s.Shape.PublicInputs(), Statement: s, PoRep: s, SealProof: registered,
	}
}

func (r *reader) post(circuit filecoin.Circuit, name string, randomness v1alpha1.Bytes32, field string, sectors []v1alpha1.FilecoinSector) *Filecoin {
	registered := read(r, "registeredProof", name, filecoin.ParsePoStProof)
	if winning := circuit == filecoin.WinningPoSt; registered.Winning() != winning {
		r.fail("registeredProof", fmt.Errorf("%s is that of the other kind of PoSt", registered))
	}
	s := &post.Statement{
		// On the chain the top bits are cleared too, wherever the randomness is drawn.
		Randomness: read(r, "randomness", randomness, filecoin.ParseNode).Trim(),
		Sectors:    make([]post.Sector, len(sectors)),
	}
	for i := range sectors {
		at := field
		if circuit == filecoin.WindowPoSt {
			at = fmt.Sprintf("%s[%d]", field, i)
		}
		s.Sectors[i] = post.Sector{
			ID:    r.number(at+".sectorNumber", sectors[i].SectorNumber),
			CommR: read(r, at+".commR", sectors[i].CommR, filecoin.Sealed.Parse),
		}
	}
	r.fail("registeredProof", s.Register(registered))
	s.Sort()
	r.fail(field, s.Check())
	return &Filecoin{Circuit: circuit, Shape: s.Shape, PublicInputs: s.Shape.PublicInputs(), Statement: s, PoSt: s}
}

func (r *reader) snap(c *v1alpha1.FilecoinSnapDealsCircuit) *Filecoin {
	s := &snap.Statement{
		CommROld: read(r, "commROld", c.CommROld, filecoin.Sealed.Parse),
		CommRNew: read(r, "commRNew", c.CommRNew, filecoin.Sealed.Parse),
		CommDNew: read(r, "commDNew", c.CommDNew, filecoin.Unsealed.Parse),
	}
	f := &Filecoin{Circuit: filecoin.SnapDeals, PublicInputs: filecoin.SnapPublicInputs, Statement: s, Snap: s}
	if c.Shape == v1alpha1.FilecoinShapeTest {
		s.Shape = filecoin.SnapTestShape
	} else {
		registered := read(r, "registeredProof", c.RegisteredProof, filecoin.ParseUpdateProof)
		r.fail("registeredProof", s.Register(registered))
		f.UpdateProof = &registered
	}
	if c.Shape == v1alpha1.FilecoinShapePoseidon && r.err == nil {
		s.Shape = filecoin.SnapShapeOf(s.Shape.Sector, true)
		f.Circuit, f.UpdateProof = filecoin.SnapDealsPoseidon, nil
	}
	f.Shape = s.Shape
	r.fail("", s.Check())
	return f
}

func (r *reader) number(field string, n *int64) uint64 {
	if n == nil || *n < 0 {
		r.fail(field, errors.New("is missing or negative"))
		return 0
	}
	return uint64(*n)
}
