package proofjob

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// suspend keeps a job from running while its user wants that, and leaves a child alone that someone else holds. The
// child's spec.suspend is the one field that is ever patched, and only if no queueing system has taken the child: such a
// child is deleted, and made anew on resume.
func (p *planner) suspend() {
	if p.ended || p.failing() {
		return
	}
	child := p.o.Child
	byUser := p.was(api.ConditionSuspended).Reason == api.ReasonSuspendedByUser
	switch {
	case suspendWanted(p.o.Job):
		p.held = true
		p.condition(api.ConditionSuspended, metav1.ConditionTrue, api.ReasonSuspendedByUser, "The job is kept from running, since spec.suspend is true.")
		switch {
		case child == nil || child.DeletionTimestamp != nil:
		case queueOf(child.Labels) != "":
			p.act(DeleteChild{UID: child.UID, Propagation: metav1.DeletePropagationForeground})
		case !childSuspended(child) && byUser:
			p.act(SetSuspend{UID: child.UID, Suspend: true})
		case !childSuspended(child):
			// The reason is recorded first: on resume it tells our suspending from a queue's.
		}
	case child != nil && childSuspended(child) && byUser && queueOf(child.Labels) == "":
		p.act(SetSuspend{UID: child.UID, Suspend: false})
		p.status.StartTime = nil // anew when the Job says so
		p.condition(api.ConditionSuspended, metav1.ConditionFalse, api.ReasonNotSuspended, "Nothing keeps the job from running.")
	case child != nil && childSuspended(child):
		p.held = true
		p.condition(api.ConditionSuspended, metav1.ConditionTrue, api.ReasonQueued, "The Job is held by a queueing system, which will let it run.")
	default:
		p.condition(api.ConditionSuspended, metav1.ConditionFalse, api.ReasonNotSuspended, "Nothing keeps the job from running.")
	}
}

func suspendWanted(job *api.ProofJob) bool { return ptr.Deref(job.Spec.Suspend, false) }

func childSuspended(child *batchv1.Job) bool { return ptr.Deref(child.Spec.Suspend, false) }
