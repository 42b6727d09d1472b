package worker

import (
	"context"
	"encoding/hex"
	"io"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/prover/circuit/gnark"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/provingkey/gnarkkey"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// The largest verifying key that is looked at: more than all ConfigMaps of an inspection hold.
const maxVerifyingKeyBytes = 64 << 20

// KeyReaders inspects keys with the readers of their formats.
type KeyReaders struct{}

// InspectKey implements KeyInspector.
func (KeyReaders) InspectKey(ctx context.Context, key KeyFiles, o *order.InspectionOrder, tell progress.Func) (*KeyFacts, error) {
	id, err := curve.Parse(o.Key.Curve)
	if err != nil {
		return nil, failure.New(failure.Key, "%w", err)
	}
	switch v1alpha1.KeyFormat(o.Key.Format) {
	case v1alpha1.KeyFormatGnark:
		return gnarkFacts(ctx, key, id, tell)
	case v1alpha1.KeyFormatFilecoin:
		return filecoinFacts(ctx, key, id, o.Key.ProvingKey.Digest, tell)
	}
	return snarkjsFacts(ctx, key, id, tell)
}

func snarkjsFacts(ctx context.Context, key KeyFiles, id curve.ID, tell progress.Func) (*KeyFacts, error) {
	k, err := zkey.OpenFile(ctx, key.ProvingKey.File, key.ProvingKey.Name, tell)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	if k.Curve() != id {
		return nil, wrongCurve(key.ProvingKey, k.Curve(), id)
	}
	vk, err := k.VerifyingKey(ctx)
	if err != nil {
		return nil, err
	}
	if key.VerifyingKey != nil {
		if err := sameKey(vk, key); err != nil {
			return nil, err
		}
	}
	m, err := k.Matrices()
	if err != nil {
		return nil, err
	}
	structure, err := m.Digest(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := k.ComputeDigest(ctx, tell)
	if err != nil {
		return nil, err
	}
	if c := key.ConstraintSystem; c != nil {
		system, err := circom.OpenConstraintsFile(ctx, c.File, c.Name)
		if err != nil {
			return nil, err
		}
		if err := circom.MatchConstraints(system.Matrices, c.Name, k, k.Constraints(), k.Name()); err != nil {
			return nil, err
		}
	}
	text, err := snarkjs.FormatVerifyingKey(vk, true)
	if err != nil {
		return nil, failure.New(failure.Key, "write the verifying key: %w", err).In(k.Name())
	}
	return &KeyFacts{
		Curve: string(id), Constraints: int64(k.Constraints()), PublicInputs: int64(k.Public()), Wires: int64(k.Wires()),
		DomainSize: int64(k.Domain()), StructureDigest: sha256Digest(structure), ProvingKeyDigest: sha256Digest(digest),
		ProvingKeyBytes: k.Size(), VerifyingKey: text,
	}, nil
}

// sameKey refuses a verifying key that is not the proving key's own.
func sameKey(own *groth16.VerifyingKey, key KeyFiles) error {
	data, err := readSmall(key.VerifyingKey)
	if err != nil {
		return err
	}
	given, err := snarkjs.ParseVerifyingKey(data)
	if err != nil {
		return failure.InFile(err, key.VerifyingKey.Name)
	}
	if !own.SameStatement(given) {
		return failure.New(failure.Key, "is not the verifying key of %s", key.ProvingKey.Name).In(key.VerifyingKey.Name).
			WithFix("export it again from the proving key, or leave files.verifyingKey out")
	}
	return nil
}

func gnarkFacts(ctx context.Context, key KeyFiles, id curve.ID, tell progress.Func) (*KeyFacts, error) {
	k, err := gnarkkey.OpenFile(key.ProvingKey.File, key.ProvingKey.Name, gnarkkey.Options{Curve: id})
	if err != nil {
		return nil, err
	}
	defer k.Close()
	digest, err := k.ComputeDigest(ctx, tell)
	if err != nil {
		return nil, err
	}
	facts := &KeyFacts{
		Curve: string(id), PublicInputs: int64(k.Public()), Wires: int64(k.Wires()), DomainSize: int64(k.Domain()),
		ProvingKeyDigest: sha256Digest(digest), ProvingKeyBytes: k.Size(),
	}
	if c := key.ConstraintSystem; c != nil {
		system, err := gnark.OpenSystemFile(c.File, c.Name, id)
		if err != nil {
			return nil, err
		}
		defer system.Close()
		if err := k.Bind(system.Circuit()); err != nil {
			return nil, err
		}
		facts.Constraints = int64(system.Constraints)
	}
	if key.VerifyingKey == nil {
		return facts, nil
	}
	if facts.VerifyingKey, err = readSmall(key.VerifyingKey); err != nil {
		return nil, err
	}
	vk, err := gnarkfmt.ParseVerifyingKey(facts.VerifyingKey, id)
	if err == nil {
		_, err = groth16.NewVerifier(vk, "")
	}
	if err != nil {
		return nil, failure.InFile(err, key.VerifyingKey.Name)
	}
	if vk.Public() != k.Public() {
		return nil, failure.New(failure.Key, "is for %d public inputs, the proving key %s for %d", vk.Public(), k.Name(), k.Public()).
			In(key.VerifyingKey.Name).WithFix("use the keys of one setup")
	}
	return facts, nil
}

func wrongCurve(f *NamedFile, is, want curve.ID) error {
	return failure.New(failure.Key, "is on %s, but spec.curve is %s", is, want).In(f.Name).
		WithFix("make a ProvingKey with spec.curve %s", is)
}

func sha256Digest(d [32]byte) string { return "sha256:" + hex.EncodeToString(d[:]) }

func readSmall(f *NamedFile) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(f.File, 0, maxVerifyingKeyBytes+1))
	if err != nil {
		return nil, failure.New(failure.IO, "%w", err).In(f.Name)
	}
	if len(data) > maxVerifyingKeyBytes {
		return nil, failure.New(failure.Key, "is larger than %d bytes, which no verifying key is", maxVerifyingKeyBytes).In(f.Name)
	}
	return data, nil
}
