package proofjob

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// ttlAfterFinished deletes a finished job when its time has come. Nothing else is ever done for a finished job.
func (p *planner) ttlAfterFinished() {
	p.plan.Forget = true
	ttl := p.o.Job.Spec.TTLSecondsAfterFinished
	if ttl == nil {
		return
	}
	expires := finishTime(p.o.Job).Add(time.Duration(*ttl) * time.Second)
	if p.now.Before(expires) {
		p.lookAgainAt(expires)
		return
	}
	p.act(DeleteProofJob{UID: p.o.Job.UID, ResourceVersion: p.o.Job.ResourceVersion})
}

// finishTime is when the job ended.
func finishTime(job *api.ProofJob) time.Time {
	if job.Status.CompletionTime != nil {
		return job.Status.CompletionTime.Time
	}
	for _, kind := range []string{api.ConditionComplete, api.ConditionFailed} {
		if c := meta.FindStatusCondition(job.Status.Conditions, kind); c != nil {
			return c.LastTransitionTime.Time
		}
	}
	return job.CreationTimestamp.Time
}
