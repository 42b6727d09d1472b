package proofjob

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// activeDeadline ends a job that has run for too long. The time runs from the start of its Job, anew after each resume,
// and not while it is suspended or queued. It is counted here and not by the Job, which would count anew when it is
// replaced.
func (p *planner) activeDeadline() {
	limit := p.o.Job.Spec.ActiveDeadlineSeconds
	if limit == nil || p.status.StartTime == nil || p.suspendedNow() {
		return
	}
	deadline := p.status.StartTime.Add(secondsOf(*limit))
	if p.now.Before(deadline) {
		p.lookAgainAt(deadline)
		return
	}
	p.fail(api.ReasonDeadlineExceeded, fmt.Sprintf("The job ran longer than spec.activeDeadlineSeconds, %d seconds.", *limit))
}

// startTime takes over when the Job started, once after each resume.
func (p *planner) startTime() {
	if p.was(api.ConditionSuspended).Status == metav1.ConditionTrue && !p.suspendedNow() {
		p.status.StartTime = nil
	}
	c := p.o.Child
	if p.status.StartTime == nil && c != nil && c.Status.StartTime != nil && c.DeletionTimestamp == nil && !p.suspendedNow() {
		p.status.StartTime = c.Status.StartTime
	}
}

// suspendedNow says that user or queue keep the job from running at this moment.
func (p *planner) suspendedNow() bool {
	return suspendWanted(p.o.Job) || (p.o.Child != nil && childSuspended(p.o.Child))
}

func secondsOf(n int64) time.Duration { return time.Duration(n) * time.Second }
