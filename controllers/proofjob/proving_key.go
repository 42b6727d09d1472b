package proofjob

import (
	"fmt"
	"math/big"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/curve"
)

// keyReady decides whether the proving key can be used, and pins it once the job has begun.
func (p *planner) keyReady() {
	ref, key := p.o.Job.Spec.ProvingKeyRef, p.o.Key
	not := func(reason, message string) {
		p.condition(api.ConditionKeyReady, metav1.ConditionFalse, reason, message)
	}
	if key == nil {
		not(api.ReasonKeyNotFound, fmt.Sprintf("There is no ProvingKey %s in namespace %s: create it, or correct spec.provingKeyRef.name in a new job.", ref.Name, p.o.Job.Namespace))
		return
	}
	if pinned := p.o.Job.Status.ProvingKey; pinned != nil && pinned.UID == string(key.UID) {
		// looked at before
	} else if problem := p.circuit.mismatch(p.o.Job, key); problem != "" {
		not(api.ReasonKeyMismatch, problem)
		p.fail(api.ReasonKeyMismatch, problem)
		return
	}
	ready := meta.FindStatusCondition(key.Status.Conditions, api.ConditionReady)
	switch {
	case p.o.Job.Spec.Verification == api.VerificationSkip:
		// Proofs are not verified here, so a key without a verifying key does.
	case ready == nil:
		not(api.ReasonKeyNotReady, fmt.Sprintf("ProvingKey %s has not been looked at yet.", key.Name))
		return
	case ready.Status != metav1.ConditionTrue || key.Status.VerifyingKey == nil:
		not(api.ReasonKeyNotReady, fmt.Sprintf("ProvingKey %s is not ready: %s: %s", key.Name, ready.Reason, ready.Message))
		return
	}
	pinned := p.o.Job.Status.ProvingKey
	now := &api.ResolvedProvingKey{UID: string(key.UID)}
	if key.Status.VerifyingKey != nil {
		now.VerifyingKeyDigest = key.Status.VerifyingKey.Digest
	}
	if pinned != nil && pinned.UID == now.UID && (pinned.VerifyingKeyDigest == "" || now.VerifyingKeyDigest == "") {
		now = pinned // with Skip a job begins before the key is inspected, and what that finds later changes nothing
	}
	if pinned != nil && *pinned != *now {
		// The same verifying key means the same circuit and setup, whatever object it is in.
		if pinned.VerifyingKeyDigest == "" || pinned.VerifyingKeyDigest != now.VerifyingKeyDigest {
			problem := fmt.Sprintf("ProvingKey %s was deleted and made anew with another key after the job had begun: create a new job.", key.Name)
			not(api.ReasonKeyChanged, problem)
			p.fail(api.ReasonKeyChanged, problem)
			return
		}
		now = pinned
	}
	p.status.ProvingKey = now
	p.key = true
	p.condition(api.ConditionKeyReady, metav1.ConditionTrue, api.ReasonKeyReady, fmt.Sprintf("ProvingKey %s can be used.", key.Name))
}

// verifyingKeyDigest names the verifying key that proofs are checked against, "" if there is none yet.
func (p *planner) verifyingKeyDigest() api.Digest { return pinnedVerifyingKey(p.o.Job, p.o.Key) }

// pinnedVerifyingKey is the digest pinned in the job, and before that the key's.
func pinnedVerifyingKey(job *api.ProofJob, key *api.ProvingKey) api.Digest {
	if job.Status.ProvingKey != nil {
		return job.Status.ProvingKey.VerifyingKeyDigest
	}
	if key != nil && key.Status.VerifyingKey != nil {
		return key.Status.VerifyingKey.Digest
	}
	return ""
}

// mismatch says why a job can never be proved with a key, "" if it can.
func (c *circuit) mismatch(job *api.ProofJob, key *api.ProvingKey) string {
	if want := c.keyFormat; key.Spec.Format != want {
		return fmt.Sprintf("spec.circuit.type %s wants a key of format %s, and ProvingKey %s has format %s: name another key or circuit type in a new job.", job.Spec.Circuit.Type, want, key.Name, key.Spec.Format)
	}
	if c.whole() {
		return c.wrongParameters(key)
	}
	for i := range job.Spec.Inputs {
		in := &job.Spec.Inputs[i]
		if in.Inline != nil && in.Inline.Input != nil && key.Spec.Files.WitnessGenerator == nil {
			return fmt.Sprintf("Input %s is an input.json, and ProvingKey %s has no witnessGenerator to make a witness from it: add files.witnessGenerator to a new key, or give the witness.", in.Name, key.Name)
		}
		if problem := wrongPublicInputs(in, key); problem != "" {
			return problem
		}
	}
	return ""
}

// wrongPublicInputs says why declared public inputs cannot be those of a key's circuit.
func wrongPublicInputs(in *api.ProofInput, key *api.ProvingKey) string {
	if len(in.PublicInputs) == 0 {
		return ""
	}
	if f := key.Status.Facts; f != nil && f.PublicInputs != nil && *f.PublicInputs != int64(len(in.PublicInputs)) {
		return fmt.Sprintf("Input %s declares %d publicInputs, and the circuit of ProvingKey %s has %d: correct them in a new job.", in.Name, len(in.PublicInputs), key.Name, *f.PublicInputs)
	}
	r := curve.ID(key.Spec.Curve).ScalarModulus()
	for i, s := range in.PublicInputs {
		if v, ok := new(big.Int).SetString(s, 10); !ok || v.Sign() < 0 || v.Cmp(r) >= 0 {
			return fmt.Sprintf("Input %s declares publicInputs[%d] that is not below the order of the scalar field of %s: reduce it in a new job.", in.Name, i, key.Spec.Curve)
		}
	}
	return ""
}

// wrongParameters says why a Filecoin proof can never be made with a key, "" if it may be.
func (c *circuit) wrongParameters(key *api.ProvingKey) string {
	facts, name := key.Status.Facts, c.filecoin.Shape.ParameterName()
	switch {
	case facts == nil:
	case facts.Parameters != "" && facts.Parameters != name:
		return fmt.Sprintf("The circuit wants the parameters %s, and those of ProvingKey %s are %s: name another key in a new job.", name, key.Name, facts.Parameters)
	case facts.PublicInputs != nil && *facts.PublicInputs != int64(c.filecoin.PublicInputs):
		return fmt.Sprintf("The circuit has %d public inputs, and that of ProvingKey %s has %d: name the key with the parameters %s in a new job.", c.filecoin.PublicInputs, key.Name, *facts.PublicInputs, name)
	}
	return ""
}
