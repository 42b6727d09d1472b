package verification

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/simulated"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/worker/statement"
)

// update is the statement of an update in two partitions, with commitments 1 and 2 to the replicas and another to the data.
func update(t *testing.T, data byte) proof.Statement {
	t.Helper()
	s, err := statement.Of(&api.Circuit{Type: api.CircuitFilecoinSnapDeals, FilecoinSnapDeals: &api.FilecoinSnapDealsCircuit{
		Shape:    api.FilecoinShapeTest,
		CommROld: api.SealedCommitment(filecoin.Node{1}.String()), CommRNew: api.SealedCommitment(filecoin.Node{2}.String()),
		CommDNew: api.UnsealedCommitment(filecoin.Node{data}.String()),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Statement
}

// updateInputs are the public inputs of a partition of update(t, 3) as the specification has them: the partition's number
// below one bit for the choice of h, the old comm_r, the new comm_d and the new comm_r.
func updateInputs(partition uint64) []fr.Element {
	return []fr.Element{fr.NewElement(2 + partition), fr.NewElement(1), fr.NewElement(3), fr.NewElement(2)}
}

// absurd is a statement that nothing proves.
type absurd struct{ proof.Statement }

func (absurd) Partitions() int { return 1 }

func (absurd) PublicInputs(int) ([]curve.Scalar, error) { return nil, errors.New("comm_r is zero") }

// TestFilecoin verifies partitions and whole proofs by their statement, and nothing else.
func TestFilecoin(t *testing.T) {
	simulatedKey := simulated.NewFilecoinKey(filecoin.SnapPublicInputs)
	key, err := ParseGroth16(KeyRef{Format: formatFilecoin, Curve: "BLS12-381"}, simulatedKey.VerifyingKey())
	if err != nil {
		t.Fatal(err)
	}
	if key.Public() != filecoin.SnapPublicInputs || key.Commitments() != 0 {
		t.Errorf("%d public inputs, %d commitments", key.Public(), key.Commitments())
	}
	s := update(t, 3)
	first, second := simulatedKey.Proof(updateInputs(0)...), simulatedKey.Proof(updateInputs(1)...)
	damaged := bytes.Clone(first)
	damaged[191] ^= 1
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, c := range []struct {
		name      string
		statement proof.Statement
		proof     []byte
		says      string // "" if it verifies
	}{
		{"first partition", proof.Partition(s, 0), first, ""},
		{"second partition", proof.Partition(s, 1), second, ""},
		{"whole", s, join(first, second), ""},
		{"another partition", proof.Partition(s, 0), second, "does not verify"},
		{"another statement", proof.Partition(update(t, 4), 0), first, "does not verify"},
		{"another order", s, join(second, first), "partition 0"},
		{"one twice", s, join(first, first), "partition 1"},
		{"one too few", s, first, "192 bytes"},
		{"one too many", proof.Partition(s, 0), join(first, second), "384 bytes"},
		{"damaged", proof.Partition(s, 0), damaged, "partition 0"},
		{"no statement", nil, first, "nothing says"},
		{"statement that nothing proves", absurd{}, first, "comm_r is zero"},
	} {
		err := key.Verify(Claim{Proof: base64.StdEncoding.EncodeToString(c.proof), Statement: c.statement})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	if err := key.Verify(Claim{Proof: "{}", Statement: s}); err == nil {
		t.Error("verified what is not base64")
	}
	vk := simulatedKey.VerifyingKey()
	for _, bad := range [][]byte{vk[:len(vk)-1], append(bytes.Clone(vk), 0), nil} {
		if _, err := ParseGroth16(KeyRef{Format: formatFilecoin, Curve: "BLS12-381"}, bad); err == nil {
			t.Errorf("read a verifying key of %d bytes", len(bad))
		}
	}
	if _, err := ParseGroth16(KeyRef{Format: formatFilecoin, Curve: "BN254"}, vk); err == nil {
		t.Error("read a verifying key on another curve")
	}
}
