package inspect

import (
	"context"
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/provingkey/gnarkkey"
)

// maxGnarkBytes bounds the verifying keys that are read: about a million public inputs.
const maxGnarkBytes = 128 << 20

func (i *inspection) gnarkProvingKey(context.Context) error {
	k, err := gnarkkey.Open(i.path, gnarkkey.Options{Curve: i.Curve})
	if err != nil {
		return err
	}
	i.done = func() { k.Close() }
	r := i.report
	r.Curve, r.Encoding = k.Curve(), string(k.Encoding())
	r.Circuit = &Circuit{
		Wires: count(k.Wires()), PublicInputs: count(k.Public()), DomainSize: count(k.Domain()),
		Commitments: count(k.Commitments()),
	}
	counts := k.PointCounts()
	for _, s := range sectionNames {
		group := "G1"
		if s.g2 {
			group = "G2"
		}
		r.Sections = append(r.Sections, Section{Name: s.name, Group: group, Points: counts[s.section]})
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

func (i *inspection) gnarkConstraints(context.Context) error {
	s, err := gnark.OpenSystem(i.path, i.Curve)
	if err != nil {
		return err
	}
	defer s.Close()
	i.report.Curve, i.report.GnarkVersion = s.Curve, s.Version
	i.report.Circuit = &Circuit{
		Constraints: count(s.Constraints), Wires: count(s.Wires()), PublicInputs: count(s.Public), PrivateInputs: count(s.Secret),
		Commitments: count(len(s.Commitments)),
	}
	for _, h := range s.Hints {
		i.report.Hints = append(i.report.Hints, Hint{ID: h.ID, Name: h.Name})
	}
	return nil
}

// gnarkWitness tells the counts of a witness; its values are compared with the field where the curve is known. Public
// inputs are shown only of a file without secret ones.
func (i *inspection) gnarkWitness(ctx context.Context) error {
	var head [12]byte
	if err := mapped.Guard(func() error { copy(head[:], i.file.Bytes()); return nil }); err != nil {
		return err
	}
	public, secret := int(binary.BigEndian.Uint32(head[:])), int(binary.BigEndian.Uint32(head[4:]))
	i.report.Curve, i.report.Elements = i.Curve, count(public+secret)
	i.report.Circuit = &Circuit{PublicInputs: count(public), PrivateInputs: count(secret)}
	if i.Curve == "" {
		return nil
	}
	w, err := gnark.OpenWitness(ctx, i.path, i.Curve)
	if err != nil {
		return err
	}
	defer w.Close()
	if secret == 0 {
		i.report.PublicInputs = snarkjs.Decimals(w.PublicInputs())
	}
	return nil
}

// gnarkPoints tries what begins with a point on each curve: a verifying key or a proof.
func (i *inspection) gnarkPoints() error {
	data, err := i.small(maxGnarkBytes)
	if err != nil {
		return err
	}
	curves := curve.All
	if i.Curve != "" {
		curves = []curve.ID{i.Curve}
	}
	for _, id := range curves {
		if vk, err := gnarkfmt.ParseVerifyingKey(data, id); err == nil {
			i.report.Kind, i.report.Curve = GnarkVerifyingKey, id
			i.report.Circuit = &Circuit{PublicInputs: count(vk.Public()), Commitments: count(len(vk.Commitments))}
			i.report.Encoding = encoding(id, data)
			_, err := groth16.NewVerifier(vk, "")
			return failure.InFile(err, i.path)
		}
		if proof, err := gnarkfmt.ParseProof(data, id); err == nil {
			i.report.Kind, i.report.Curve = GnarkProof, id
			i.report.Circuit = &Circuit{Commitments: count(len(proof.Commitments))}
			i.report.Encoding = encoding(id, data)
			return nil
		}
	}
	return failure.New(failure.Usage, "is of no known format").In(i.path).
		WithFix("cuzk reads .zkey, .r1cs, .wtns, snarkjs's JSON, and gnark's keys, constraint systems, witnesses and proofs; a damaged gnark file is not recognised")
}

func encoding(id curve.ID, data []byte) string {
	if id.IsCompressed(data[0]) {
		return string(gnarkkey.Compressed)
	}
	return string(gnarkkey.Raw)
}
