package proofjob

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func suspended(j *api.ProofJob) { j.Spec.Suspend = ptr.To(true) }

func inQueue(j *api.ProofJob) { j.Labels = map[string]string{kueueQueueLabel: "gpus"} }

func (s *scene) setSuspend(v bool) *scene {
	s.Job = s.Job.DeepCopy()
	s.Job.Spec.Suspend = &v
	s.Job.Generation++
	return s
}

func TestSuspendedFromTheStart(t *testing.T) {
	s := newScene(t, 1, suspended)
	p := s.plan()
	want(t, p, api.ConditionSuspended, metav1.ConditionTrue, api.ReasonSuspendedByUser)
	want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonSuspended)
	if p.Status.State != api.ProofJobSuspended {
		t.Errorf("state %s", p.Status.State)
	}
	s.write(p)
	if p := s.plan(); len(p.Actions) != 0 || p.WriteStatus {
		t.Errorf("a suspended job has actions %v, write %v", p.Actions, p.WriteStatus)
	}
	s.setSuspend(false)
	p = s.plan()
	if len(actions[CreateChild](p)) != 1 {
		t.Errorf("on resume: %v", p.Actions)
	}
	want(t, p, api.ConditionSuspended, metav1.ConditionFalse, api.ReasonNotSuspended)
}

// The user's suspending is recorded before the child is patched, and resume undoes only that.
func TestSuspendAndResume(t *testing.T) {
	s := newScene(t, 1).begin()
	s.pod(0, corev1.PodRunning)
	s.write(s.plan())

	s.setSuspend(true)
	p := s.plan()
	want(t, p, api.ConditionSuspended, metav1.ConditionTrue, api.ReasonSuspendedByUser)
	if len(p.Actions) != 0 || !p.WriteStatus {
		t.Fatalf("the reason is not recorded first: %v", p.Actions)
	}
	s.write(p)
	p = s.plan()
	if diff := cmp.Diff([]Action{SetSuspend{UID: "child-uid", Suspend: true}}, p.Actions); diff != "" {
		t.Fatalf("then (-want +got):\n%s", diff)
	}
	s.Child.Spec.Suspend, s.Child.Status.StartTime, s.Pods = ptr.To(true), nil, nil
	s.write(s.plan())
	if p := s.plan(); len(p.Actions) != 0 || p.WriteStatus {
		t.Errorf("while suspended: %+v", p)
	}

	s.later(time.Hour).setSuspend(false)
	p = s.plan()
	if diff := cmp.Diff([]Action{SetSuspend{UID: "child-uid", Suspend: false}}, p.Actions); diff != "" {
		t.Errorf("on resume (-want +got):\n%s", diff)
	}
	want(t, p, api.ConditionSuspended, metav1.ConditionFalse, api.ReasonNotSuspended)
	if p.Status.StartTime != nil {
		t.Error("the start time does not begin anew")
	}
}

// A child that someone else suspended is theirs, with or without a queue's label.
func TestQueuedChildIsLeftAlone(t *testing.T) {
	for _, change := range [][]func(*api.ProofJob){nil, {inQueue}} {
		s := newScene(t, 2, change...).begin()
		if got := childSuspended(s.Child); got != (change != nil) {
			t.Errorf("a Job is made suspended: %v, in a queue: %v", got, change != nil)
		}
		s.Child.Spec.Suspend = ptr.To(true)
		s.Child.Status.StartTime = nil
		p := s.plan()
		want(t, p, api.ConditionSuspended, metav1.ConditionTrue, api.ReasonQueued)
		s.write(p)

		// Admitted, with other parallelism and selectors.
		s.Child.Spec.Suspend, s.Child.Spec.Parallelism = ptr.To(false), ptr.To[int32](1)
		s.Child.Spec.Template.Spec.NodeSelector = map[string]string{"flavor": "h200"}
		p = s.plan()
		want(t, p, api.ConditionSuspended, metav1.ConditionFalse, api.ReasonNotSuspended)
		s.write(p)

		// Evicted again.
		s.Child.Spec.Suspend = ptr.To(true)
		p = s.plan()
		want(t, p, api.ConditionSuspended, metav1.ConditionTrue, api.ReasonQueued)
		if len(p.Actions) != 0 {
			t.Errorf("a child that a queue holds is acted on: %v", p.Actions)
		}
	}
}

// Suspending what a queue holds deletes it, so that the queue's quota is free; resume makes it anew.
func TestSuspendBesideKueue(t *testing.T) {
	s := newScene(t, 1, inQueue).begin()
	s.Child.Spec.Suspend = ptr.To(false)
	s.write(s.plan())
	s.setSuspend(true)
	p := s.plan()
	wanted := []Action{DeleteChild{UID: "child-uid", Propagation: metav1.DeletePropagationForeground}}
	if diff := cmp.Diff(wanted, p.Actions); diff != "" {
		t.Fatalf("suspending (-want +got):\n%s", diff)
	}
	s.write(p)
	s.Child.DeletionTimestamp = ptr.To(metav1.NewTime(s.now))
	if p := s.plan(); len(p.Actions) != 0 {
		t.Errorf("while it is being deleted: %v", p.Actions)
	}
	s.setSuspend(false)
	p = s.plan()
	if len(p.Actions) != 0 {
		t.Errorf("resumed before the old one is gone: %v", p.Actions)
	}
	s.write(p)
	s.Child = nil
	if p := s.plan(); len(actions[CreateChild](p)) != 1 {
		t.Errorf("after it is gone: %v", p.Actions)
	}
}
