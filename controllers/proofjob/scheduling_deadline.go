package proofjob

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
)

// schedulingDeadline ends a job that finds no place to run. The time runs only while no pod of the job is scheduled: from
// the job's creation or its last resume, or from the end of the last pod that was. That pod may be gone: then the one that
// replaces it and the status tell when it ended.
func (p *planner) schedulingDeadline() {
	limit := p.o.Job.Spec.SchedulingDeadlineSeconds
	if limit == nil || p.suspendedNow() {
		return
	}
	since := p.o.Job.CreationTimestamp.Time
	if c := p.was(api.ConditionSuspended); c.Status == metav1.ConditionFalse && c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime.Time
	} else if c.Status == metav1.ConditionTrue {
		since = p.now // resumed just now
	}
	notBefore := func(t time.Time) {
		if t.After(since) {
			since = t
		}
	}
	for _, pod := range p.o.Pods {
		switch scheduled := pod.Spec.NodeName != ""; {
		case scheduled && !podEnded(pod):
			return
		case scheduled:
			notBefore(endOf(pod))
		case attemptNumber(pod) > 1:
			notBefore(pod.CreationTimestamp.Time)
		}
	}
	running := p.was(api.ConditionRunning)
	if running.Status == metav1.ConditionTrue {
		return // pods ran until now; the condition turns if none does for long
	}
	notBefore(running.LastTransitionTime.Time)
	deadline := since.Add(secondsOf(*limit))
	if p.now.Before(deadline) {
		p.lookAgainAt(deadline)
		return
	}
	p.fail(api.ReasonSchedulingDeadlineExceeded, fmt.Sprintf("No pod of the job was scheduled for spec.schedulingDeadlineSeconds, %d seconds.%s", *limit, p.whyUnscheduled()))
}

// endOf is when a pod ended, as far as it is known.
func endOf(pod *corev1.Pod) time.Time {
	if end := terminated(pod); end != nil && !end.FinishedAt.IsZero() {
		return end.FinishedAt.Time
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.DisruptionTarget {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// whyUnscheduled quotes the scheduler, with a space before.
func (p *planner) whyUnscheduled() string {
	for _, pod := range p.o.Pods {
		if podEnded(pod) {
			continue
		}
		for i := range pod.Status.Conditions {
			if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
				return " " + text.Sentence(c.Message)
			}
		}
	}
	return ""
}
