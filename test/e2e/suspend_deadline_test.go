//go:build e2e

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func setSuspend(t *testing.T, ns, name string, suspend bool) {
	t.Helper()
	job := get(t, ns, name, &v1alpha1.ProofJob{})
	base := client.MergeFrom(job.DeepCopy())
	job.Spec.Suspend = ptr.To(suspend)
	if err := admin.Patch(t.Context(), job, base); err != nil {
		t.Fatal(err)
	}
}

func TestSuspendAndResume(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "pausing", []string{"alice", "bob"}, parallelism(2), long(12)))
	proving(t, ns, "pausing")
	setSuspend(t, ns, "pausing", true)
	until(t, ns, "pausing", "is suspended", func(j *v1alpha1.ProofJob) bool {
		return j.Status.State == v1alpha1.ProofJobSuspended &&
			condition(j, v1alpha1.ConditionSuspended).Reason == v1alpha1.ReasonSuspendedByUser && active(t, ns, "pausing") == 0
	})
	setSuspend(t, ns, "pausing", false)
	job := until(t, ns, "pausing", "ends", finished)
	if job.Status.State != v1alpha1.ProofJobSucceeded {
		t.Fatalf("got %s", sketch(job))
	}
	for _, p := range job.Status.Partitions {
		verifies(t, p)
	}
}

// active counts the pods of a job that have not ended.
func active(t *testing.T, ns, job string) int {
	t.Helper()
	n := 0
	for _, p := range podsOf(t, ns, job) {
		if p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodPending {
			n++
		}
	}
	return n
}

func TestSuspendedFromTheStartMakesNoPods(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "waiting", []string{"alice"}, func(j *v1alpha1.ProofJob) { j.Spec.Suspend = ptr.To(true) }))
	until(t, ns, "waiting", "is suspended", func(j *v1alpha1.ProofJob) bool { return j.Status.State == v1alpha1.ProofJobSuspended })
	if n := len(podsOf(t, ns, "waiting")); n != 0 {
		t.Errorf("%d pods were made", n)
	}
	setSuspend(t, ns, "waiting", false)
	if job := until(t, ns, "waiting", "ends", finished); job.Status.State != v1alpha1.ProofJobSucceeded {
		t.Errorf("got %s", sketch(job))
	}
}

func TestActiveDeadline(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "too-long", []string{"alice"}, long(50), func(j *v1alpha1.ProofJob) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](8) }))
	job := until(t, ns, "too-long", "ends", finished)
	if c := condition(job, v1alpha1.ConditionFailed); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonDeadlineExceeded {
		t.Errorf("got %s", sketch(job))
	}
	if n := active(t, ns, "too-long"); n != 0 {
		t.Errorf("%d pods still run", n)
	}
}

func TestSchedulingDeadline(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "nowhere", []string{"alice"}, gpus("64"), func(j *v1alpha1.ProofJob) { j.Spec.SchedulingDeadlineSeconds = ptr.To[int64](5) }))
	job := until(t, ns, "nowhere", "ends", finished)
	if c := condition(job, v1alpha1.ConditionFailed); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonSchedulingDeadlineExceeded {
		t.Errorf("got %s", sketch(job))
	}
	if n := active(t, ns, "nowhere"); n != 0 {
		t.Errorf("%d pods are left", n)
	}
}

// The scheduling deadline does not count while a pod is scheduled, however long that pod works.
func TestSchedulingDeadlineSparesScheduledPods(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "scheduled", []string{"alice"}, long(10), func(j *v1alpha1.ProofJob) { j.Spec.SchedulingDeadlineSeconds = ptr.To[int64](5) }))
	if job := until(t, ns, "scheduled", "ends", finished); job.Status.State != v1alpha1.ProofJobSucceeded {
		t.Errorf("got %s", sketch(job))
	}
}

func TestTTLDeletesTheJob(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "fleeting", []string{"alice"}, func(j *v1alpha1.ProofJob) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) }))
	gone(t, ns, "fleeting", &v1alpha1.ProofJob{})
}
