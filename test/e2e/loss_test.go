//go:build e2e

package e2e

import (
	"os/exec"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// A pod that is killed in the middle of a proof is replaced, and the job completes.
func TestKilledPodIsRetried(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "killed", []string{"alice"}, long(12)))
	first := proving(t, ns, "killed")
	if err := admin.Delete(t.Context(), first, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	job := until(t, ns, "killed", "ends", finished)
	p := job.Status.Partitions[0]
	if job.Status.State != v1alpha1.ProofJobSucceeded || p.Report.PodUID == string(first.UID) || p.Attempts < 2 {
		t.Errorf("after killing pod %s: %s", first.Name, sketch(job))
	}
	verifies(t, p)
}

// The operator is killed in the middle of a job: nothing is lost, and no prover pod is touched.
func TestOperatorKilledMidJob(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "orphan", []string{"alice", "bob"}, parallelism(2), long(12)))
	proving(t, ns, "orphan")
	before := map[types.UID]bool{}
	for _, p := range podsOf(t, ns, "orphan") {
		before[p.UID] = true
	}
	killManagers(t)
	job := until(t, ns, "orphan", "ends", finished)
	if job.Status.State != v1alpha1.ProofJobSucceeded {
		t.Fatalf("got %s", sketch(job))
	}
	for _, p := range podsOf(t, ns, "orphan") {
		if !before[p.UID] {
			t.Errorf("pod %s was made after the operator was killed", p.Name)
		}
	}
	for _, p := range job.Status.Partitions {
		verifies(t, p)
		if p.Attempts != 1 {
			t.Errorf("partition %d took %d attempts", p.Index, p.Attempts)
		}
	}
}

// killManagers ends the manager's pods without grace and waits until others are ready.
func killManagers(t *testing.T) {
	t.Helper()
	selector := client.MatchingLabels{"app.kubernetes.io/name": "cuzk"}
	var pods corev1.PodList
	if err := admin.List(t.Context(), &pods, client.InNamespace(systemNamespace), selector); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) == 0 {
		t.Fatal("no manager was found")
	}
	for i := range pods.Items {
		if err := admin.Delete(t.Context(), &pods.Items[i], client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
}

// A node vanishes with a pod on it: its partition is proved elsewhere. It must be the last user of that node.
func TestNodeVanishes(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "adrift", []string{"alice"}, long(20), preferNode("node-2")))
	first := proving(t, ns, "adrift")
	if first.Spec.NodeName != "node-2" {
		t.Fatalf("the pod runs on %s, not on the node that is to vanish", first.Spec.NodeName)
	}
	if out, err := exec.Command(root+"/test/cluster/run", "node-kill", "2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	job := until(t, ns, "adrift", "ends", finished)
	p := job.Status.Partitions[0]
	if job.Status.State != v1alpha1.ProofJobSucceeded || p.Report.Node == "node-2" || p.Report.PodUID == string(first.UID) {
		t.Errorf("after losing node-2: %s", sketch(job))
	}
	verifies(t, p)
}

func preferNode(name string) jobOption {
	return func(j *v1alpha1.ProofJob) {
		j.Spec.BackoffLimitPerPartition = ptr.To[int32](0) // a lost node must not count
		j.Spec.Execution.Dedicated.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 100,
				Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{name}},
				}},
			}},
		}}
	}
}

// Kueue rewrites the child Job; the operator leaves it as it is.
func TestRewrittenChildIsLeftAlone(t *testing.T) {
	ns := namespace(t)
	job := newJob(ns, "queued", []string{"alice", "bob"}, parallelism(2))
	job.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "provers"}
	create(t, job)
	until(t, ns, "queued", "is queued", func(j *v1alpha1.ProofJob) bool {
		return condition(j, v1alpha1.ConditionSuspended).Reason == v1alpha1.ReasonQueued
	})
	// What Kueue does on admission with a flavour and with one pod fewer.
	child := get(t, ns, "queued", &batchv1.Job{})
	base := client.MergeFrom(child.DeepCopy())
	child.Spec.Suspend = ptr.To(false)
	child.Spec.Parallelism = ptr.To[int32](1)
	child.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "control-plane"}
	if err := admin.Patch(t.Context(), child, base); err != nil {
		t.Fatal(err)
	}
	written := child.Generation
	got := until(t, ns, "queued", "ends", finished)
	if got.Status.State != v1alpha1.ProofJobSucceeded {
		t.Fatalf("got %s", sketch(got))
	}
	after := get(t, ns, "queued", &batchv1.Job{})
	if after.Generation != written || *after.Spec.Parallelism != 1 || after.Spec.Template.Spec.NodeSelector[corev1.LabelHostname] != "control-plane" {
		t.Errorf("the child Job was written after Kueue: generation %d, was %d", after.Generation, written)
	}
}
