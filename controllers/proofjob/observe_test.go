package proofjob

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/google/go-cmp/cmp"
)

// podLister is a cache that holds pods alone.
type podLister struct {
	client.Client
	pods []*corev1.Pod
}

func (l podLister) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	for _, pod := range l.pods {
		list.(*corev1.PodList).Items = append(list.(*corev1.PodList).Items, *pod)
	}
	return nil
}

// A pod that someone else made with the labels of a job's pods is none of them.
func TestPodsOfSomeoneElse(t *testing.T) {
	s := newScene(t, 1).begin()
	unscheduled := func(p *corev1.Pod) { p.Spec.NodeName = "" }
	owner := func(change func(*metav1.OwnerReference)) func(*corev1.Pod) {
		return func(p *corev1.Pod) { unscheduled(p); change(&p.OwnerReferences[0]) }
	}
	want := []string{
		s.pod(0, corev1.PodRunning, unscheduled).Name,
		s.pod(0, corev1.PodFailed, owner(func(o *metav1.OwnerReference) { o.UID = "an earlier child" })).Name,
	}
	s.pod(0, corev1.PodRunning, func(p *corev1.Pod) { unscheduled(p); p.OwnerReferences = nil })
	s.pod(0, corev1.PodRunning, owner(func(o *metav1.OwnerReference) { o.Name = "another" }))
	s.pod(0, corev1.PodRunning, owner(func(o *metav1.OwnerReference) { o.APIVersion, o.Kind = "apps/v1", "ReplicaSet" }))
	s.pod(0, corev1.PodRunning, owner(func(o *metav1.OwnerReference) { o.Controller = nil }))

	o := &Observation{Job: s.Job}
	if err := new(Reconciler).gatherPods(t.Context(), o, podLister{pods: s.Pods}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pod := range o.Pods {
		got = append(got, pod.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}
