package inspect

import (
	"context"
	"encoding/hex"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// sectionNames are groth16's names of a key's runs of points.
var sectionNames = []struct {
	section groth16.Section
	name    string
	g2      bool
}{
	{groth16.SectionA, "A", false},
	{groth16.SectionB1, "B1", false},
	{groth16.SectionB2, "B2", true},
	{groth16.SectionL, "L", false},
	{groth16.SectionH, "H", false},
}

func (i *inspection) zkey(ctx context.Context) error {
	k, err := zkey.Open(ctx, i.path, i.tell("coordinates"))
	if err != nil {
		return err
	}
	i.done = func() { k.Close() }
	r := i.report
	r.Curve, r.Warnings = k.Curve(), k.Warnings()
	r.Circuit = &Circuit{
		Constraints: count(k.Constraints()), Wires: count(k.Wires()), PublicInputs: count(k.Public()),
		DomainSize: count(k.Domain()), Entries: count(k.Coefficients()),
	}
	r.Sections = append(r.Sections, Section{Name: "IC", Group: "G1", Points: k.Public() + 1})
	if err := i.sections(k); err != nil {
		return err
	}
	if !i.SkipDigests {
		m, err := k.Matrices()
		if err != nil {
			return err
		}
		if err := i.structure(ctx, m); err != nil {
			return err
		}
	}
	i.checkPoints = func(ctx context.Context) (int64, error) {
		var points int64
		for _, s := range r.Sections {
			points += int64(s.Points)
		}
		return points, k.Check(ctx, i.tell("points"))
	}
	return nil
}

// sections counts the points of a key.
func (i *inspection) sections(k groth16.KeySource) error {
	for _, s := range sectionNames {
		raw, err := k.Points(s.section)
		if err != nil {
			return err
		}
		size, group := k.Curve().G1Bytes(), "G1"
		if s.g2 {
			size, group = k.Curve().G2Bytes(), "G2"
		}
		i.report.Sections = append(i.report.Sections, Section{Name: s.name, Group: group, Points: len(raw) / size})
	}
	return nil
}

func (i *inspection) structure(ctx context.Context, m *r1cs.Matrices) error {
	d, err := m.Digest(ctx)
	if err == nil {
		i.report.Digests.Structure = "sha256:" + hex.EncodeToString(d[:])
	}
	return err
}

func (i *inspection) r1cs(ctx context.Context) error {
	c, err := circom.OpenConstraints(ctx, i.path)
	if err != nil {
		return err
	}
	m := c.Matrices
	i.report.Curve = m.Curve
	i.report.Circuit = &Circuit{
		Constraints: count(m.Constraints), Wires: count(m.Wires), PublicInputs: count(m.Public),
		Outputs: count(c.Outputs), PrivateInputs: count(c.PrivateInputs),
		Entries: count(len(m.A.Wire) + len(m.B.Wire) + len(m.C.Wire)),
	}
	if i.SkipDigests {
		return nil
	}
	return i.structure(ctx, m)
}

func (i *inspection) wtns(ctx context.Context) error {
	w, err := circom.OpenWitness(ctx, i.path)
	if err != nil {
		return err
	}
	i.report.Curve, i.report.Elements = w.Curve(), count(w.Len())
	return w.Close()
}
