package proof

import (
	"errors"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// Statement is what a proof claims; it gives the public inputs of each partition. Those of the three kinds of proofs are
// in packages porep, post and snap.
type Statement interface {
	// Partitions is the number of partitions of the proof.
	Partitions() int
	// PublicInputs are those of one partition, without the one, canonical.
	PublicInputs(partition int) ([]curve.Scalar, error)
}

// Claim is a proof, all its partitions in a row, and what it should prove.
type Claim struct {
	Statement Statement
	Proof     []byte
}

// Verify checks a proof of all partitions of a statement; they are checked together. Errors are of class Usage (a
// statement that nothing proves), Input (bytes that are no proof) and Verification, which name the partition.
func Verify(v *groth16.Verifier, c Claim) error { return VerifyBatch(v, []Claim{c}) }

// ClaimError says which of several claims is refused, and why.
type ClaimError struct {
	Claim int
	Err   error
}

func (e *ClaimError) Error() string { return fmt.Sprintf("proof %d: %v", e.Claim, e.Err) }

// Unwrap is the reason.
func (e *ClaimError) Unwrap() error { return e.Err }

// VerifyBatch checks proofs of many statements of one circuit together. If there are several, an error is a ClaimError about
// the first that is refused.
func VerifyBatch(v *groth16.Verifier, claims []Claim) error {
	var all []groth16.Statement
	var origin []position
	for i, c := range claims {
		statements, err := c.partitions()
		if err != nil {
			return ofClaim(err, i, len(claims))
		}
		for k := range statements {
			origin = append(origin, position{i, k})
		}
		all = append(all, statements...)
	}
	err := v.VerifyBatch(all)
	var refused *groth16.BatchError
	if !errors.As(err, &refused) {
		return err
	}
	at := origin[refused.Index]
	err = refused.Err
	if n := claims[at.claim].Statement.Partitions(); n > 1 {
		err = fmt.Errorf("partition %d: %w", at.partition, err)
	}
	return ofClaim(err, at.claim, len(claims))
}

// position is where in a batch a partition stands.
type position struct{ claim, partition int }

func ofClaim(err error, claim, claims int) error {
	if claims == 1 {
		return err
	}
	return &ClaimError{Claim: claim, Err: err}
}

// partitions are the claim's proofs with their public inputs.
func (c Claim) partitions() ([]groth16.Statement, error) {
	proofs, err := Decode(c.Proof, c.Statement.Partitions())
	if err != nil {
		return nil, err
	}
	out := make([]groth16.Statement, len(proofs))
	for k := range out {
		inputs, err := c.Statement.PublicInputs(k)
		if err != nil {
			return nil, failure.New(failure.Usage, "%w", err)
		}
		out[k] = groth16.Statement{Proof: proofs[k], Public: inputs}
	}
	return out, nil
}

// Partition is the claim of one partition of a statement alone, as whoever proves partitions one by one has them.
func Partition(s Statement, partition int) Statement { return onePartition{s, partition} }

type onePartition struct {
	all       Statement
	partition int
}

func (p onePartition) Partitions() int { return 1 }

func (p onePartition) PublicInputs(int) ([]curve.Scalar, error) {
	return p.all.PublicInputs(p.partition)
}
