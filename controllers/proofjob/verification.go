package proofjob

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
)

// verification decides for each report that counts and is complete whether its proof counts. What a proof is about is
// compared before it is asked whether it verifies.
func (p *planner) verification() {
	owner := p.proofOwners()
	for i := range p.partitions {
		x := &p.partitions[i]
		r := x.report
		if r == nil || r.Stage != api.StageDone || r.Proof == "" || x.was.State == api.PartitionFailed {
			continue
		}
		x.is.State = api.PartitionRunning
		if x.was.State == api.PartitionSucceeded {
			x.is.State = api.PartitionSucceeded
		}
		if first := owner[r.Proof]; first != x.index {
			p.refuse(x, api.ReasonDuplicateProof, fmt.Sprintf("The proof is the one of partition %d: two proofs of one prover never have the same bytes.", first))
			continue
		}
		if reason, message := p.otherStatement(x.input, r); reason != "" {
			p.refuse(x, reason, message)
			continue
		}
		p.verify(x)
	}
}

// verify decides whether a proof that may count does.
func (p *planner) verify(x *partition) {
	if p.o.Job.Spec.Verification == api.VerificationSkip {
		x.succeed(api.ReasonSkipped)
		return
	}
	if !p.key {
		return
	}
	c := p.claim(x, x.report)
	reason := api.ReasonAgainstReportedInputs
	if c.declared {
		reason = api.ReasonAgainstDeclaredInputs
	}
	switch v, known := p.ask(x.index, x.report.Proof, c); {
	case known && v.Valid:
		x.is.Verified = ptr.To(true)
		x.succeed(reason)
	case known:
		p.refuse(x, api.ReasonProofInvalid, "The proof was refused: "+v.Message)
	}
}

// claim is what a partition's proof must be about.
func (p *planner) claim(x *partition, r *api.PartitionReport) claim {
	return p.circuit.claim(&p.o.Job.Spec, x.index, r)
}

// ask returns the verdict on a proof, or has it checked.
func (p *planner) ask(partition int32, proof string, about claim) (v verification.Verdict, known bool) {
	digest := checkDigest(p.verifyingKeyDigest(), proof, about)
	v, known = p.o.Verdicts[digest]
	if known && !v.KeyUnavailable {
		return v, true
	}
	if known {
		p.keyUnavailable = true
		p.condition(api.ConditionKeyReady, metav1.ConditionFalse, api.ReasonKeyNotReady, "The verifying key cannot be read: "+v.Message)
		p.lookAgain(verification.KeyRetry)
	}
	p.plan.Checks = append(p.plan.Checks, Check{Partition: partition, Digest: digest, Claim: verification.Claim{
		Proof: proof, Public: about.public, Statement: about.statement,
	}})
	return verification.Verdict{}, false
}

// refuse fails a partition whose pod believes that it has a proof. It is not tried again: the pod has verified the proof
// too, so that something is wrong that a further attempt would only hide.
func (p *planner) refuse(x *partition, reason, message string) {
	if p.o.Job.Spec.Verification == api.VerificationRequired {
		x.is.Verified = ptr.To(false)
	}
	x.fail(reason, message)
}

// proofOwners tells which partition a proof belongs to if several report it: one that already counts, else the first.
func (p *planner) proofOwners() map[string]int32 {
	owner := map[string]int32{}
	for _, counting := range []bool{true, false} {
		for i := range p.partitions {
			x := &p.partitions[i]
			if x.report == nil || x.report.Proof == "" || counting != (x.was.State == api.PartitionSucceeded) {
				continue
			}
			if _, taken := owner[x.report.Proof]; !taken {
				owner[x.report.Proof] = x.index
			}
		}
	}
	return owner
}

// otherStatement says why a report is not about its partition's input, "" if it may be.
func (p *planner) otherStatement(in *api.ProofInput, r *api.PartitionReport) (reason, message string) {
	if len(in.Digest) == len(r.InputDigest) && in.Digest != "" && string(in.Digest) != r.InputDigest {
		return api.ReasonInvalidInput, fmt.Sprintf("The prover read an input with digest %s, and input %s declares %s.", r.InputDigest, in.Name, in.Digest)
	}
	if p.circuit.whole() { // public inputs are computed, and those of a report never looked at
		if err := checkForm(r.Proof); err != nil {
			return api.ReasonProofInvalid, "The proof was refused: " + err.Error()
		}
		return "", ""
	}
	declared := in.PublicInputs
	switch {
	case len(declared) == 0 && len(r.PublicInputs) == 0 && r.PublicInputsDigest != "":
		return api.ReasonProofInvalid, fmt.Sprintf("The public inputs are too long to be reported, so that the proof cannot be verified: declare them in publicInputs of input %s.", in.Name)
	case len(declared) == 0:
		return "", ""
	case len(r.PublicInputs) > 0 && !slices.Equal(declared, r.PublicInputs):
		return api.ReasonPublicInputsMismatch, differing(declared, r.PublicInputs, in.Name)
	case len(r.PublicInputs) == 0 && r.PublicInputsDigest != "" && r.PublicInputsDigest != api.PublicInputsDigest(declared):
		return api.ReasonPublicInputsMismatch, fmt.Sprintf("The proof is about other public inputs than input %s declares.", in.Name)
	}
	return "", ""
}

// differing names the first place where two lists of canonical decimal numbers differ.
func differing(declared, reported []string, input string) string {
	if len(declared) != len(reported) {
		return fmt.Sprintf("The proof is about %d public inputs, and input %s declares %d.", len(reported), input, len(declared))
	}
	for i := range declared {
		if declared[i] != reported[i] {
			return fmt.Sprintf("The proof is about publicInputs[%d] = %s, and input %s declares %s.", i, reported[i], input, declared[i])
		}
	}
	return ""
}

// verified tells the condition Verified of a job that is not finished or about to be.
func (p *planner) verified() (metav1.ConditionStatus, string, string) {
	if p.o.Job.Spec.Verification == api.VerificationSkip {
		return metav1.ConditionFalse, api.ReasonSkipped, "The proofs are not verified, since spec.verification is Skip."
	}
	if p.failure != nil && p.failure.reason == api.ReasonWholeProofInvalid {
		return metav1.ConditionFalse, api.ReasonProofInvalid, p.failure.message
	}
	declared, good := true, 0
	for i := range p.partitions {
		x := &p.partitions[i]
		switch {
		case x.is.State == api.PartitionSucceeded:
			good++
			declared = declared && p.circuit.declares(x.input)
		case x.is.State == api.PartitionFailed && !ptr.Deref(x.is.Verified, true):
			return metav1.ConditionFalse, x.is.Reason, fmt.Sprintf("Partition %d: %s", x.index, x.is.Message)
		}
	}
	switch {
	case good < len(p.partitions):
		return metav1.ConditionFalse, api.ReasonProofsPending, "Not all partitions have a proof that counts."
	case declared:
		return metav1.ConditionTrue, api.ReasonAgainstDeclaredInputs, "Each proof was verified with the public inputs that the spec declares."
	default:
		return metav1.ConditionTrue, api.ReasonAgainstReportedInputs, "Each proof was verified; where the spec declares no public inputs, with those that the prover reported."
	}
}
