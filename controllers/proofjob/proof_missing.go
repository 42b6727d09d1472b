package proofjob

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// proofMissing fails a job whose pods ended well without all proofs being there. The cache may only be late, so the API
// server is asked itself before that is said.
func (p *planner) proofMissing() {
	if p.failing() || p.childCondition(batchv1.JobComplete) == nil {
		return
	}
	for i := range p.partitions {
		x := &p.partitions[i]
		if x.final() || p.hasProof(x) {
			continue
		}
		if !p.o.Fresh {
			p.plan.ReadFresh = true
			return
		}
		p.fail(api.ReasonProofMissing, fmt.Sprintf("The pod of partition %d ended well, and its proof is neither in its report nor in its termination message.", x.index))
		return
	}
}
