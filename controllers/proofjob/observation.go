package proofjob

import (
	"crypto/sha256"
	"encoding/hex"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
)

// Observation is all that a plan depends on but the time. Its objects come from the cache and must not be changed.
type Observation struct {
	Job *api.ProofJob
	// Key is the proving key that the job names, nil if there is none.
	Key *api.ProvingKey
	// Child is the Job of the same name, nil if there is none. Foreign says that it is not this ProofJob's.
	Child   *batchv1.Job
	Foreign bool
	// Stale says that a Job of that name is left of an earlier ProofJob of the same name, and about to be removed.
	Stale bool
	// Pods are all pods of this ProofJob, those of an earlier child too.
	Pods []*corev1.Pod
	// Nodes are those of pods that have not ended, by name; a node that is gone is absent.
	Nodes map[string]*corev1.Node
	// Verdicts are what is known of the reports' proofs, by check digest.
	Verdicts map[string]verification.Verdict
	// InputDigests are those that earlier attempts read, by partition, as far as this process saw them.
	InputDigests map[int32]string
	// WithdrawalsTold are the UIDs of the pods of whose withdrawn devices was told, by the partition of the report.
	WithdrawalsTold map[int32]string

	// Fresh says that Job, Child and Pods were read from the API server itself; see Plan.ReadFresh.
	Fresh bool
	// Refused says that the API server has just refused to create the child.
	Refused *Refusal
	// RefusedReports are those of termination messages that the API server has just refused to store, by partition, and
	// why.
	RefusedReports map[int32]string
	// CreationFailure is the last event in which the Job controller says why it cannot create pods; see
	// Plan.ReadCreationFailure. Nil means that nobody looked.
	CreationFailure *string
}

// Refusal is why a child could not be created.
type Refusal struct {
	Reason, Message string
	// ForGood says that it will always be refused.
	ForGood bool
}

// checkDigest names a check: the verifying key, the proof and what it must be about.
func checkDigest(verifyingKey api.Digest, proof string, c claim) string {
	h := sha256.New()
	for _, s := range []string{string(verifyingKey), proof, c.name} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}
