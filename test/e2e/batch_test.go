//go:build e2e

package e2e

import (
	"regexp"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// Three inputs, three pods at once wanted, two GPUs on the node: the scheduler decides, and all are proved.
func TestThreePartitionsOnTwoGPUs(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "batch", []string{"alice", "bob", "carol"}, parallelism(3), gpus("1"), onNode("control-plane")))
	waited := false
	job := until(t, ns, "batch", "ends", func(j *v1alpha1.ProofJob) bool {
		running := 0
		for _, p := range podsOf(t, ns, "batch") {
			if p.Status.Phase == corev1.PodRunning {
				running++
			}
			for _, c := range p.Status.Conditions {
				waited = waited || c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
			}
		}
		if running > 2 {
			t.Errorf("%d pods run on two GPUs", running)
		}
		return finished(j)
	})
	if job.Status.State != v1alpha1.ProofJobSucceeded || job.Status.Progress != "3/3" {
		t.Fatalf("got %s", sketch(job))
	}
	if !waited {
		t.Error("no pod had to wait for a GPU")
	}
	if c := condition(job, v1alpha1.ConditionVerified); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonAgainstDeclaredInputs {
		t.Errorf("Verified is %s, reason %s", c.Status, c.Reason)
	}
	for _, p := range job.Status.Partitions {
		verifies(t, p)
		if p.Report.Timings == nil || p.Report.Timings.GPUMilliseconds == nil || *p.Report.Timings.GPUMilliseconds == 0 {
			t.Errorf("partition %d has no timings", p.Index)
		}
	}
}

func onNode(name string) jobOption {
	return func(j *v1alpha1.ProofJob) {
		j.Spec.Execution.Dedicated.NodeSelector = map[string]string{corev1.LabelHostname: name}
	}
}

var namesConstraint = regexp.MustCompile(`constraint \d+`)

// One input of three is bad: it fails alone, with the constraint named and without another try.
func TestBadInputFailsAlone(t *testing.T) {
	ns := namespace(t)
	damaged(t, ns, "bob")
	create(t, newJob(ns, "batch", []string{"alice", "bob", "carol"}, parallelism(3), from("damaged", "bob")))
	job := until(t, ns, "batch", "ends", finished)
	if c := condition(job, v1alpha1.ConditionFailed); c.Reason != v1alpha1.ReasonPartitionsFailed {
		t.Errorf("Failed has reason %q: %s", c.Reason, sketch(job))
	}
	bob := job.Status.Partitions[1]
	if bob.State != v1alpha1.PartitionFailed || bob.Attempts != 1 || !namesConstraint.MatchString(bob.Message) {
		t.Errorf("bob is %s after %d attempts: %s", bob.State, bob.Attempts, bob.Message)
	}
	for _, i := range []int{0, 2} {
		if p := job.Status.Partitions[i]; p.State != v1alpha1.PartitionSucceeded {
			t.Errorf("%s is %s: %s", p.Input, p.State, p.Message)
		}
		verifies(t, job.Status.Partitions[i])
	}
}

func TestWrongWitnessFailsAtOnce(t *testing.T) {
	ns := namespace(t)
	damaged(t, ns, "bob")
	create(t, newJob(ns, "single", []string{"bob"}, from("damaged", "bob")))
	job := until(t, ns, "single", "ends", finished)
	if job.Status.State != v1alpha1.ProofJobFailed {
		t.Fatalf("got %s", sketch(job))
	}
	if c := condition(job, v1alpha1.ConditionFailed); !namesConstraint.MatchString(c.Message) {
		t.Errorf("the condition does not name the constraint: %s", c.Message)
	}
	if n := len(podsOf(t, ns, "single")); n != 1 {
		t.Errorf("%d pods were made, want one", n)
	}
}

// A missing ConfigMap concerns its own input only.
func TestMissingInputFailsAlone(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "batch", []string{"alice", "bob"}, parallelism(2), from("nowhere", "bob")))
	job := until(t, ns, "batch", "ends", finished)
	if a, b := job.Status.Partitions[0], job.Status.Partitions[1]; a.State != v1alpha1.PartitionSucceeded || b.State != v1alpha1.PartitionFailed {
		t.Errorf("got %s", sketch(job))
	}
}

func TestDeletionLeavesNothing(t *testing.T) {
	ns := namespace(t)
	job := newJob(ns, "short-lived", []string{"alice", "bob"}, parallelism(2), long(30))
	create(t, job)
	proving(t, ns, "short-lived")
	if err := admin.Delete(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	gone(t, ns, "short-lived", &v1alpha1.ProofJob{})
	gone(t, ns, "short-lived", &batchv1.Job{})
	for _, p := range podsOf(t, ns, "short-lived") {
		gone(t, ns, p.Name, &corev1.Pod{})
	}
}
