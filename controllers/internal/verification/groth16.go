package verification

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
)

// Formats of keys and proofs, as in a ProvingKey's spec.format.
const (
	formatSnarkjs  = "Snarkjs"
	formatGnark    = "Gnark"
	formatFilecoin = "Filecoin"
)

// ParseGroth16 reads a Groth16 verifying key of snarkjs, gnark or Filecoin and checks each of its points.
func ParseGroth16(ref KeyRef, data []byte) (Key, error) {
	id, err := curve.Parse(ref.Curve)
	if err != nil {
		return nil, err
	}
	var vk *groth16.VerifyingKey
	k := &groth16Key{curve: id}
	switch ref.Format {
	case formatSnarkjs:
		k.parseProof = snarkjsProof
		vk, err = snarkjs.ParseVerifyingKey(data)
	case formatGnark:
		k.parseProof = gnarkProof
		vk, err = gnarkfmt.ParseVerifyingKey(data, id)
	case formatFilecoin:
		vk, err = filparams.ParseVerifyingKey("the verifying key", data)
	default:
		return nil, fmt.Errorf("unknown key format %q", ref.Format)
	}
	if err != nil {
		return nil, err
	}
	if vk.Curve != id {
		return nil, fmt.Errorf("the verifying key is on %s, and spec.curve is %s", vk.Curve, id)
	}
	hash, err := commitmentHash(ref.CommitmentHash)
	if err != nil {
		return nil, err
	}
	if k.verifier, err = groth16.NewVerifier(vk, hash); err != nil {
		return nil, err
	}
	return k, nil
}

// commitmentHash translates the API's name of a hash.
func commitmentHash(name string) (groth16.CommitmentHash, error) {
	switch name {
	case "", "SHA256":
		return groth16.CommitmentHashSHA256, nil
	case "Keccak256":
		return groth16.CommitmentHashKeccak256, nil
	}
	return "", fmt.Errorf("unknown commitment hash %q", name)
}

type groth16Key struct {
	curve    curve.ID
	verifier *groth16.Verifier
	// parseProof is nil for a key of Filecoin, whose proofs are verified by their statement.
	parseProof func(string, curve.ID) (*groth16.Proof, error)
}

func (k *groth16Key) Verify(c Claim) error {
	if k.parseProof == nil {
		return k.verifyFilecoin(c)
	}
	p, err := k.parseProof(c.Proof, k.curve)
	if err != nil {
		return err
	}
	values, err := snarkjs.ParseDecimals(c.Public, k.curve)
	if err != nil {
		return err
	}
	return k.verifier.Verify(p, values)
}

// verifyFilecoin checks a Filecoin proof of all partitions that its statement has.
func (k *groth16Key) verifyFilecoin(c Claim) error {
	if c.Statement == nil {
		return errors.New("nothing says what the Filecoin proof must be about")
	}
	data, err := base64.StdEncoding.DecodeString(c.Proof)
	if err != nil {
		return fmt.Errorf("the proof is not base64: %w", err)
	}
	return proof.Verify(k.verifier, proof.Claim{Statement: c.Statement, Proof: data})
}

func (k *groth16Key) Public() int  { return k.verifier.Key().Public() }
func (k *groth16Key) Bytes() int64 { return k.verifier.Bytes() }

// Commitments counts the Pedersen commitments of a gnark circuit.
func (k *groth16Key) Commitments() int { return len(k.verifier.Key().Commitments) }

func snarkjsProof(proof string, id curve.ID) (*groth16.Proof, error) {
	return snarkjs.ParseProof([]byte(proof), id)
}

func gnarkProof(proof string, id curve.ID) (*groth16.Proof, error) {
	data, err := base64.StdEncoding.DecodeString(proof)
	if err != nil {
		return nil, fmt.Errorf("the proof is not base64: %w", err)
	}
	return gnarkfmt.ParseProof(data, id)
}
