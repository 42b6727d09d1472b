//go:build apiserver

package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func TestBatchIsProved(t *testing.T) {
	namespace, key := newNamespace(t)
	operator(t, namespace)
	job := newJob(namespace, "batch", 3)
	start(t, job, honest(key))
	becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
	becomes(t, job, api.ConditionVerified, metav1.ConditionTrue, api.ReasonAgainstDeclaredInputs)

	if job.Status.State != api.ProofJobSucceeded || job.Status.Progress != "3/3" || job.Status.Summary.GPU != "4.0s" || job.Status.Summary.Node != "node-a" {
		t.Errorf("state %s, progress %s, summary %+v", job.Status.State, job.Status.Progress, job.Status.Summary)
	}
	for _, e := range job.Status.Partitions {
		if e.State != api.PartitionSucceeded || !ptr.Deref(e.Verified, false) || e.Report == nil || e.Report.Proof == "" || e.Attempts != 1 {
			t.Errorf("partition %d: %+v", e.Index, e)
		}
	}
	var child batchv1.Job
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), &child); err != nil {
		t.Fatal(err)
	}
	if w := writes(t, namespace, "batch"); len(w) > 6 {
		t.Errorf("the operator wrote %d times for one job:\n%v", len(w), w)
	}
}
