package proofjob

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func TestActiveDeadline(t *testing.T) {
	minute := func(j *api.ProofJob) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](60) }
	s := newScene(t, 2, minute).begin()
	pod := s.pod(0, corev1.PodRunning)
	s.write(s.plan())
	p := s.later(50 * time.Second).plan()
	if p.RequeueAfter != 10*time.Second || condition(p, api.ConditionFailureTarget).Status != "" {
		t.Errorf("before the deadline: again after %s", p.RequeueAfter)
	}

	p = s.later(10 * time.Second).plan()
	want(t, p, api.ConditionFailureTarget, metav1.ConditionTrue, api.ReasonDeadlineExceeded)
	if condition(p, api.ConditionFailed).Status != "" {
		t.Error("failed while a pod runs")
	}
	if diff := cmp.Diff([]Action{DeleteChild{UID: "child-uid", Propagation: metav1.DeletePropagationBackground}}, p.Actions); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	s.write(p)
	s.Child = nil
	if p := s.plan(); condition(p, api.ConditionFailed).Status != "" || len(p.Actions) != 0 {
		t.Errorf("while its pod ends: %+v", p)
	}
	pod.Status.Phase = corev1.PodFailed
	p = s.plan()
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonDeadlineExceeded)
	wantPartition(t, p, 0, api.PartitionFailed, api.ReasonNotProved)
	if p.Status.State != api.ProofJobFailed || p.Status.Summary.Reason != api.ReasonDeadlineExceeded {
		t.Errorf("state %s, summary %q", p.Status.State, p.Status.Summary.Reason)
	}

	// Time in which it is held does not count.
	s = newScene(t, 1, minute).begin()
	s.write(s.plan())
	s.Child.Spec.Suspend, s.Child.Status.StartTime = ptr.To(true), nil
	s.write(s.plan())
	if p := s.later(time.Hour).plan(); condition(p, api.ConditionFailureTarget).Status != "" {
		t.Error("a queued job ran out of time")
	}
	s.Child.Spec.Suspend = ptr.To(false)
	s.write(s.plan()) // the cache shows the old start time no longer
	s.Child.Status.StartTime = ptr.To(metav1.NewTime(s.now))
	if p := s.later(59 * time.Second).plan(); condition(p, api.ConditionFailureTarget).Status != "" {
		t.Error("the time does not begin anew on resume")
	}
	if p := s.later(time.Second).plan(); condition(p, api.ConditionFailureTarget).Reason != api.ReasonDeadlineExceeded {
		t.Error("the time does not run after resume")
	}
}

func TestSchedulingDeadline(t *testing.T) {
	minute := func(j *api.ProofJob) { j.Spec.SchedulingDeadlineSeconds = ptr.To[int64](60) }
	exceeded := func(p Plan) bool {
		return condition(p, api.ConditionFailureTarget).Reason == api.ReasonSchedulingDeadlineExceeded
	}
	s := newScene(t, 2, minute).begin()
	pod := s.pod(0, corev1.PodPending, func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}
	})
	if p := s.later(59 * time.Second).plan(); exceeded(p) || p.RequeueAfter != time.Second {
		t.Errorf("before the deadline: again after %s", p.RequeueAfter)
	}
	p := s.later(time.Second).plan()
	if !exceeded(p) || !strings.Contains(condition(p, api.ConditionFailureTarget).Message, "0/3 nodes are available") {
		t.Errorf("at the deadline: %+v", condition(p, api.ConditionFailureTarget))
	}

	// Any scheduled pod stops the clock, and its end starts it anew.
	pod.Spec.NodeName = "node-a"
	if p := s.later(time.Hour).plan(); exceeded(p) {
		t.Error("the time runs while a pod is scheduled")
	}
	pod.Status.Phase = corev1.PodFailed
	ended(1, nil)(pod)
	pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(s.now)
	s.pod(0, corev1.PodPending)
	if p := s.later(59 * time.Second).plan(); exceeded(p) {
		t.Error("the time does not begin anew after the last pod")
	}
	if p := s.later(time.Second).plan(); !exceeded(p) {
		t.Error("the time does not run after the last pod")
	}

	// Neither a user's nor a queue's suspension counts.
	s = newScene(t, 1, minute, suspended)
	s.write(s.plan())
	s.later(time.Hour).setSuspend(false)
	p = s.plan()
	if exceeded(p) {
		t.Error("the time suspended counts")
	}
	s.write(p)
	if p := s.later(59 * time.Second).plan(); exceeded(p) {
		t.Error("too early after resume")
	}
	if p := s.later(time.Second).plan(); condition(p, api.ConditionFailed).Reason != api.ReasonSchedulingDeadlineExceeded {
		t.Error("the time does not run after resume")
	}
}

// Of a pod that was evicted or lost its node nothing may be left but the pod that replaces it.
func TestSchedulingDeadlineAfterAPodIsGone(t *testing.T) {
	minute := func(j *api.ProofJob) { j.Spec.SchedulingDeadlineSeconds = ptr.To[int64](60) }
	exceeded := func(p Plan) bool {
		return condition(p, api.ConditionFailureTarget).Reason == api.ReasonSchedulingDeadlineExceeded
	}

	s := newScene(t, 1, minute).begin()
	s.pod(0, corev1.PodRunning)
	s.write(s.plan())
	s.later(time.Hour).Pods = nil
	if exceeded(s.plan()) {
		t.Error("exceeded as soon as the pod that ran is gone")
	}
	s.pod(0, corev1.PodPending)
	if exceeded(s.plan()) {
		t.Error("exceeded as soon as a pod replaces the one that ran")
	}
	s.later(time.Minute)
	s.write(s.plan()) // it does not run any more
	if exceeded(s.later(59 * time.Second).plan()) {
		t.Error("the time does not begin anew")
	}
	if !exceeded(s.later(time.Second).plan()) {
		t.Error("the time does not run after the pod is gone")
	}

	// One that was scheduled and never ran leaves no trace in the status.
	s = newScene(t, 1, minute).begin()
	s.later(time.Hour).pod(0, corev1.PodPending, func(p *corev1.Pod) {
		p.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = "1"
	})
	if exceeded(s.plan()) {
		t.Error("exceeded as soon as a pod replaces one that was scheduled")
	}
	if !exceeded(s.later(time.Minute).plan()) {
		t.Error("the time does not run for a pod that replaces another")
	}
}
