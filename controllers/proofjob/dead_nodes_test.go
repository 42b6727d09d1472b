package proofjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"
)

func nodeAt(ready corev1.ConditionStatus, since time.Time) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-a"},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(since)},
		}},
	}
}

func deleted(at time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(at)), ptr.To[int64](30)
	}
}

func TestDeadNodes(t *testing.T) {
	fail := func(s *scene) []Action {
		pod := s.Pods[0]
		return []Action{FailPod{Name: pod.Name, UID: pod.UID, Node: "node-a", Message: "node node-a has not been ready for 2m0s"}}
	}
	remove := func(s *scene) []Action {
		return []Action{DeletePod{Name: s.Pods[0].Name, UID: s.Pods[0].UID, Force: true}}
	}
	nothing := func(*scene) []Action { return nil }
	gone := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: lostReason}}
	}
	forced := func(p *corev1.Pod) {
		deleted(noon)(p)
		p.DeletionGracePeriodSeconds = ptr.To[int64](0)
	}
	for _, c := range []struct {
		name   string
		ready  corev1.ConditionStatus
		after  time.Duration
		phase  corev1.PodPhase
		pod    []func(*corev1.Pod)
		want   func(*scene) []Action
		again  time.Duration
		noNode bool
	}{
		{name: "node is ready", ready: corev1.ConditionTrue, after: time.Hour, phase: corev1.PodRunning, want: nothing},
		{name: "silent, not for long", ready: corev1.ConditionUnknown, after: time.Minute, phase: corev1.PodRunning, want: nothing, again: time.Minute},
		{name: "silent for long", ready: corev1.ConditionUnknown, after: 2 * time.Minute, phase: corev1.PodRunning, want: fail},
		{name: "silent, pod pending there", ready: corev1.ConditionUnknown, after: 2 * time.Minute, phase: corev1.PodPending, pod: []func(*corev1.Pod){func(p *corev1.Pod) { p.Spec.NodeName = "node-a" }}, want: fail},
		{name: "its kubelet answers", ready: corev1.ConditionFalse, after: time.Hour, phase: corev1.PodRunning, want: nothing},
		{name: "its kubelet answers, and does not end a deleted pod", ready: corev1.ConditionFalse, after: time.Hour, phase: corev1.PodRunning, pod: []func(*corev1.Pod){deleted(noon)}, want: fail},
		{name: "pod ended before", ready: corev1.ConditionUnknown, after: time.Hour, phase: corev1.PodSucceeded, want: nothing},
		{name: "given up, not removed yet", ready: corev1.ConditionUnknown, after: time.Hour, phase: corev1.PodFailed, pod: []func(*corev1.Pod){gone}, want: remove},
		{name: "given up and removed", ready: corev1.ConditionUnknown, after: time.Hour, phase: corev1.PodFailed, pod: []func(*corev1.Pod){gone, forced}, want: nothing},
		{name: "node is gone", noNode: true, after: time.Hour, phase: corev1.PodRunning, want: nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, 1).begin()
			s.pod(0, c.phase, c.pod...)
			if !c.noNode {
				s.Nodes["node-a"] = nodeAt(c.ready, noon)
			}
			p := s.later(c.after).plan()
			var got []Action
			for _, a := range p.Actions {
				switch a.(type) {
				case FailPod, DeletePod:
					got = append(got, a)
				}
			}
			if diff := cmp.Diff(c.want(s), got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if c.again != 0 && p.RequeueAfter != c.again {
				t.Errorf("again after %s, want %s", p.RequeueAfter, c.again)
			}
		})
	}
}

// A node that rejects pods makes many of them; only the newest of each index is kept, and none that is not counted yet.
func TestRejectedPods(t *testing.T) {
	rejected := func(p *corev1.Pod) { p.Status.Reason = "UnexpectedAdmissionError" }
	uncounted := func(p *corev1.Pod) { p.Finalizers = []string{batchv1.JobTrackingFinalizer} }
	s := newScene(t, 1).begin()
	first := s.pod(0, corev1.PodFailed, rejected)
	s.later(time.Second).pod(0, corev1.PodFailed, rejected, uncounted)
	s.later(time.Second).pod(0, corev1.PodFailed, rejected)
	if diff := cmp.Diff([]DeletePod{{Name: first.Name, UID: first.UID}}, actions[DeletePod](s.plan())); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
}
