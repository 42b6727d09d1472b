package proofjob

import (
	"encoding/base64"
	"fmt"
	"strings"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
)

// A Filecoin partition's proof waits in its report until all partitions are verified. Then the whole is verified once more,
// as its user will, and moves into status.result with the write that ends the job: each proof is stored once.

// wholeProof stands in the place of a partition's number for a check of all together.
const wholeProof int32 = -1

// checkForm refuses what cannot be a Filecoin partition's proof, so that what is joined has each in its place.
func checkForm(text string) error {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return fmt.Errorf("it is not base64: %w", err)
	}
	if len(data) != proof.Bytes {
		return fmt.Errorf("it has %d bytes, not the %d of a partition", len(data), proof.Bytes)
	}
	return nil
}

// joinProofs joins the partitions' proofs in their order; ok is false while one is not there. 192 bytes are whole groups of
// base64, so that texts can be joined as they are.
func joinProofs(reports []*api.PartitionReport) (whole string, ok bool) {
	var all strings.Builder
	for _, r := range reports {
		if r == nil || r.Proof == "" {
			return "", false
		}
		all.WriteString(r.Proof)
	}
	return all.String(), true
}

// result puts a Filecoin proof together once all its partitions count; done is false while it is not there.
func (p *planner) result() (done bool) {
	if !p.circuit.whole() {
		return true
	}
	reports := make([]*api.PartitionReport, len(p.partitions))
	for i := range reports {
		reports[i] = p.partitions[i].report
	}
	whole, _ := joinProofs(reports) // no partition counts without its proof
	if len(p.partitions) > 1 && p.o.Job.Spec.Verification != api.VerificationSkip {
		switch v, known := p.ask(wholeProof, whole, p.circuit.wholeClaim()); {
		case !known:
			return false
		case !v.Valid:
			p.fail(api.ReasonWholeProofInvalid, "The partitions' proofs verify alone, but not together: "+v.Message)
			return false
		}
	}
	p.status.Result = &api.ProofJobResult{Proof: whole}
	for i := range reports {
		moved := *reports[i]
		moved.Proof = ""
		p.partitions[i].is.Report = &moved
	}
	return true
}

// wholeProof joins the proofs that a status has, where there is a whole to be checked.
func (c *circuit) wholeProof(partitions []api.PartitionStatus) (whole string, ok bool) {
	if !c.whole() || c.partitions < 2 {
		return "", false
	}
	reports := make([]*api.PartitionReport, c.partitions)
	for i := range partitions {
		if e := &partitions[i]; e.Index < c.partitions {
			reports[e.Index] = e.Report
		}
	}
	return joinProofs(reports)
}
