package groth16

import (
	"crypto/sha256"
	"hash"
	"math/big"

	"golang.org/x/crypto/sha3"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// CommitmentHash is the function by which a gnark circuit with commitments turns a commitment into a scalar. Prover and
// verifier must agree on it; no file tells it.
type CommitmentHash string

const (
	// CommitmentHashSHA256 is gnark's default: hash_to_field of RFC 9380 with SHA-256. The empty string means it too.
	CommitmentHashSHA256 CommitmentHash = "sha256"
	// CommitmentHashKeccak256 is the legacy Keccak-256 digest modulo r, as gnark's Solidity verifiers compute it.
	CommitmentHashKeccak256 CommitmentHash = "keccak256"
	// CommitmentHashSHA256Digest is the plain SHA-256 digest modulo r, for Solidity verifiers exported with SHA-256.
	CommitmentHashSHA256Digest CommitmentHash = "sha256-digest"
)

// The domain separators are gnark's.
const (
	commitmentDomain = "bsb22-commitment"
	foldingDomain    = "G16-BSB22"
)

func (h CommitmentHash) valid() error {
	switch h {
	case "", CommitmentHashSHA256, CommitmentHashKeccak256, CommitmentHashSHA256Digest:
		return nil
	}
	return failure.New(failure.Usage, "unknown commitment hash %q: use %s, %s or %s", string(h), CommitmentHashSHA256, CommitmentHashKeccak256, CommitmentHashSHA256Digest)
}

// ParseCommitmentHash accepts the names of the commitment hashes; the empty string is the default.
func ParseCommitmentHash(name string) (CommitmentHash, error) {
	h := CommitmentHash(name)
	if h == "" {
		h = CommitmentHashSHA256
	}
	return h, h.valid()
}

// Scalar is the hash of a message as a canonical scalar of the curve.
func (h CommitmentHash) Scalar(id curve.ID, message []byte) (curve.Scalar, error) {
	var digest hash.Hash
	switch h {
	case CommitmentHashKeccak256:
		digest = sha3.NewLegacyKeccak256()
	case CommitmentHashSHA256Digest:
		digest = sha256.New()
	default:
		return pairingsOf(id).hashToField(message, []byte(commitmentDomain))
	}
	digest.Write(message)
	x := new(big.Int).SetBytes(digest.Sum(nil))
	return curve.ScalarFromBig(x.Mod(x, id.ScalarModulus())), nil
}

// CommitmentMessage is what is hashed for a commitment: the point, uncompressed, and the committed public values, each as
// 32 bytes big-endian.
func CommitmentMessage(id curve.ID, commitment curve.G1, public []curve.Scalar) []byte {
	message := id.EncodeG1(commitment, false)
	for _, s := range public {
		message = append(message, scalarBytes(s)...)
	}
	return message
}

func scalarBytes(s curve.Scalar) []byte {
	return curve.ScalarToBig(s).FillBytes(make([]byte, curve.ScalarBytes))
}

// CommitmentChallenge is the scalar that folds the proofs of knowledge of several commitments into one, from the
// commitments' scalars.
func CommitmentChallenge(id curve.ID, hashed []curve.Scalar) (curve.Scalar, error) {
	var message []byte
	for _, s := range hashed {
		message = append(message, scalarBytes(s)...)
	}
	return pairingsOf(id).hashToField(message, []byte(foldingDomain))
}

// commitmentInputs derives the further inputs that gnark's commitments make, and checks their proof of knowledge:
// Π e([χ^i]Dᵢ, [-σᵢ]G) · e(PoK, G) = 1. The points are checked already.
func (v *Verifier) commitmentInputs(proof *Proof, public []curve.Scalar) ([]curve.Scalar, error) {
	id := v.key.Curve
	inputs := public
	for i := range v.key.Commitments {
		var committed []curve.Scalar
		for _, wire := range v.key.Commitments[i].Committed {
			committed = append(committed, inputs[wire-1])
		}
		s, err := v.hash.Scalar(id, CommitmentMessage(id, proof.Commitments[i], committed))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs[:len(inputs):len(inputs)], s)
	}
	derived := inputs[len(public):]
	challenge, err := CommitmentChallenge(id, derived)
	if err != nil {
		return nil, err
	}
	arith := pairingsOf(id)
	left, right := make([]curve.G1, 0, len(derived)+1), make([]curve.G2, 0, len(derived)+1)
	for i, commitment := range proof.Commitments {
		for range i {
			commitment = arith.scale(commitment, challenge)
		}
		left, right = append(left, commitment), append(right, v.key.Commitments[i].GSigmaNeg)
	}
	left, right = append(left, proof.PoK), append(right, v.key.Commitments[0].G)
	if !arith.productIsOne(left, right) {
		return nil, refuse("%w: the proof of knowledge of its commitments does not hold; check that the commitment hash is the one the proof was made with", ErrEquation)
	}
	return derived, nil
}
