package proofjob

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func TestWhyPodsDoNotRun(t *testing.T) {
	waits := func(reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeName = "node-a"
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "why"}}}}
		}
	}
	has := func(kind corev1.PodConditionType) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Message: "why"})
		}
	}
	for _, c := range []struct {
		reason string
		change []func(*corev1.Pod)
	}{
		{api.ReasonUnschedulable, []func(*corev1.Pod){has(corev1.PodScheduled)}},
		{api.ReasonUnschedulable, nil},
		{api.ReasonImagePullFailed, []func(*corev1.Pod){waits("ImagePullBackOff")}},
		{api.ReasonImagePullFailed, []func(*corev1.Pod){waits("ErrImageNeverPull")}},
		{api.ReasonContainerFailed, []func(*corev1.Pod){waits("CreateContainerConfigError")}},
		{api.ReasonVolumeNotReady, []func(*corev1.Pod){waits("ContainerCreating"), has(corev1.PodReadyToStartContainers)}},
		{api.ReasonPodsPending, []func(*corev1.Pod){waits("ContainerCreating")}},
	} {
		var again time.Duration // of what only a pod's conditions tell
		if c.reason == api.ReasonVolumeNotReady || c.reason == api.ReasonPodsPending {
			again = time.Minute
		}
		s := newScene(t, 1).begin()
		s.pod(0, corev1.PodPending, c.change...)
		p := s.later(59 * time.Second).plan()
		want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonPodsPending)
		if p.RequeueAfter != time.Second {
			t.Errorf("%s: again after %s", c.reason, p.RequeueAfter)
		}
		p = s.later(time.Second).plan()
		want(t, p, api.ConditionRunning, metav1.ConditionFalse, c.reason)
		if p.RequeueAfter != again {
			t.Errorf("%s: again after %s, want %s", c.reason, p.RequeueAfter, again)
		}
		s.write(p)
		if s.plan().WriteStatus {
			t.Errorf("%s is written twice", c.reason)
		}
	}
}

// Between attempts a job goes on running, until a pod has been pending for a minute.
func TestRunningBetweenAttempts(t *testing.T) {
	s := newScene(t, 1).begin()
	pod := s.pod(0, corev1.PodRunning)
	s.write(s.plan())
	pod.Status.Phase = corev1.PodFailed
	want(t, s.plan(), api.ConditionRunning, metav1.ConditionTrue, api.ReasonPodsRunning)
	s.pod(0, corev1.PodPending)
	want(t, s.plan(), api.ConditionRunning, metav1.ConditionTrue, api.ReasonPodsRunning)
	p := s.later(time.Minute).plan()
	want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonUnschedulable)
	if p.Status.State != api.ProofJobRunning {
		t.Errorf("state %s of a job whose pods have run", p.Status.State)
	}
}

// Only the Job controller's events tell why a Job has no pods.
func TestPodsCannotBeCreated(t *testing.T) {
	s := newScene(t, 1).begin()
	if p := s.plan(); p.ReadCreationFailure || p.RequeueAfter != 10*time.Second {
		t.Errorf("at once: %+v", p)
	}
	s.later(10 * time.Second)
	if p := s.plan(); !p.ReadCreationFailure || p.WriteStatus {
		t.Errorf("after a while: %+v", p)
	}
	s.CreationFailure = ptr.To("")
	want(t, s.plan(), api.ConditionRunning, metav1.ConditionFalse, api.ReasonPodsPending)
	s.CreationFailure = ptr.To("exceeded quota: pods")
	p := s.plan()
	want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonJobCreationFailed)
	if m := condition(p, api.ConditionRunning).Message; m != "The Job's pods cannot be created: Exceeded quota: pods." {
		t.Errorf("message %q", m)
	}
}
