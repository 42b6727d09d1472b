// Package proverpod makes the pods that the operator runs: those that prove and those that inspect a key. Both see a
// key's files at the same places, under the same restricted security context, with one token and an order.
package proverpod

import api "github.com/cuzk-dev/cuzk/api/v1alpha1"

const (
	// ContainerName is the one container of a pod.
	ContainerName = "prover"

	// ComponentLabel is on every Job and pod that the operator makes, and selects what it caches.
	ComponentLabel = api.ReservedPrefix + "component"
	// ComponentProver and ComponentInspector are its values.
	ComponentProver    = "prover"
	ComponentInspector = "inspector"

	// ProofJobLabel and ProvingKeyLabel name the owner, for people and network policies.
	ProofJobLabel   = api.ReservedPrefix + "proof-job"
	ProvingKeyLabel = api.ReservedPrefix + "proving-key"
	// OwnerUIDLabel holds the UID of the ProofJob or ProvingKey, which outlives the Job between them.
	OwnerUIDLabel = api.ReservedPrefix + "owner-uid"
)
