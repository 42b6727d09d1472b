//go:build apiserver

package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// waiting runs until its pod is ended or the test lets it prove.
func waiting(then prover) (prover, func()) {
	gate := make(chan struct{})
	return func(ctx context.Context, p *proverPod) (int32, string) {
		select {
		case <-gate:
			return then(ctx, p)
		case <-ctx.Done():
			return 143, ""
		}
	}, func() { close(gate) }
}

func patchSpec(t *testing.T, job *api.ProofJob, patch string) {
	t.Helper()
	if err := admin.Patch(t.Context(), job, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+patch+`}`))); err != nil {
		t.Fatal(err)
	}
}

func childOf(t *testing.T, job *api.ProofJob, what string, ok func(*batchv1.Job) bool) *batchv1.Job {
	t.Helper()
	return eventually(t, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}, what, ok)
}

// goneAfter waits until an object is not there.
func goneAfter(t *testing.T, object client.Object) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s %s is still there: %v", object.GetNamespace(), object.GetName(), err)
		case <-ticker.C:
		}
	}
}

func TestLifecycle(t *testing.T) {
	namespace, key := newNamespace(t)
	operator(t, namespace)

	t.Run("SuspendAndResume", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "suspend", 2)
		play, release := waiting(honest(key))
		start(t, job, play)
		becomes(t, job, api.ConditionRunning, metav1.ConditionTrue, "")
		uid := childOf(t, job, "a Job", func(*batchv1.Job) bool { return true }).UID

		patchSpec(t, job, `{"suspend": true}`)
		becomes(t, job, api.ConditionSuspended, metav1.ConditionTrue, api.ReasonSuspendedByUser)
		childOf(t, job, "a suspended Job without pods", func(j *batchv1.Job) bool {
			return ptr.Deref(j.Spec.Suspend, false) && j.Status.Active == 0
		})
		patchSpec(t, job, `{"suspend": false}`)
		release()
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
		if child := childOf(t, job, "a Job", func(*batchv1.Job) bool { return true }); child.UID != uid {
			t.Error("resume made another Job")
		}
	})

	t.Run("SuspendedFromTheStart", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "later", 1, func(j *api.ProofJob) { j.Spec.Suspend = ptr.To(true) })
		start(t, job, honest(key))
		becomes(t, job, api.ConditionSuspended, metav1.ConditionTrue, api.ReasonSuspendedByUser)
		if job.Status.State != api.ProofJobSuspended {
			t.Errorf("state %s", job.Status.State)
		}
		var child batchv1.Job
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), &child); !apierrors.IsNotFound(err) {
			t.Errorf("a suspended job has a Job: %v", err)
		}
		patchSpec(t, job, `{"suspend": false}`)
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
	})

	t.Run("BesideKueue", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "queued", 2, func(j *api.ProofJob) {
			j.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "gpus"}
			j.Annotations = map[string]string{"kueue.x-k8s.io/podset-required-topology": "rack"}
		})
		play, release := waiting(honest(key))
		start(t, job, play)
		becomes(t, job, api.ConditionSuspended, metav1.ConditionTrue, api.ReasonQueued)
		child := childOf(t, job, "a Job", func(*batchv1.Job) bool { return true })
		if !ptr.Deref(child.Spec.Suspend, false) || child.Labels["kueue.x-k8s.io/queue-name"] != "gpus" ||
			child.Spec.Template.Annotations["kueue.x-k8s.io/podset-required-topology"] != "rack" {
			t.Errorf("Job suspended %v, labels %v", ptr.Deref(child.Spec.Suspend, false), child.Labels)
		}

		// Admitted as Kueue does it: other parallelism, selectors, and then let go.
		admit := func() {
			childOf(t, job, "an admission", func(j *batchv1.Job) bool {
				j.Spec.Parallelism = ptr.To[int32](1)
				j.Spec.Template.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "node-h200"}
				j.Spec.Suspend = ptr.To(false)
				return admin.Update(t.Context(), j) == nil
			})
		}
		admit()
		becomes(t, job, api.ConditionRunning, metav1.ConditionTrue, "")
		first := child.UID

		// The user suspends what the queue has admitted.
		patchSpec(t, job, `{"suspend": true}`)
		becomes(t, job, api.ConditionSuspended, metav1.ConditionTrue, api.ReasonSuspendedByUser)
		goneAfter(t, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "queued"}})
		patchSpec(t, job, `{"suspend": false}`)
		childOf(t, job, "another Job", func(j *batchv1.Job) bool { return j.UID != first })
		admit()
		release()
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
		if child := childOf(t, job, "a Job", func(*batchv1.Job) bool { return true }); *child.Spec.Parallelism != 1 || child.Spec.Template.Spec.NodeSelector["kubernetes.io/hostname"] != "node-h200" {
			t.Errorf("what Kueue wrote did not stay: parallelism %d, selector %v", *child.Spec.Parallelism, child.Spec.Template.Spec.NodeSelector)
		}
		for _, e := range job.Status.Partitions {
			if e.Report.Node != "node-h200" {
				t.Errorf("partition %d was proved on %s", e.Index, e.Report.Node)
			}
		}
	})

	t.Run("ActiveDeadline", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "too-long", 2, func(j *api.ProofJob) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](3) })
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			if p.index() == 0 {
				return honest(key)(ctx, p)
			}
			<-ctx.Done()
			return 143, ""
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonDeadlineExceeded)
		partition(t, job, 1, api.PartitionFailed, api.ReasonNotProved)
		goneAfter(t, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "too-long"}})
		budget(t, namespace, "too-long", 2)
	})

	t.Run("TTLZero", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "fleeting", 1, func(j *api.ProofJob) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) })
		start(t, job, honest(key))
		goneAfter(t, job)
		goneAfter(t, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "fleeting"}})
	})

	t.Run("DeletionLeavesNothing", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "deleted", 2)
		start(t, job, nil)
		becomes(t, job, api.ConditionRunning, metav1.ConditionTrue, "")
		if err := admin.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
		goneAfter(t, job)
		goneAfter(t, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "deleted"}})
	})

	t.Run("JobDeletedBySomeone", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "remade", 2)
		play, release := waiting(honest(key))
		start(t, job, play)
		becomes(t, job, api.ConditionRunning, metav1.ConditionTrue, "")
		child := childOf(t, job, "a Job", func(*batchv1.Job) bool { return true })
		if err := admin.Delete(t.Context(), child, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
		first := child.UID
		childOf(t, job, "another Job", func(j *batchv1.Job) bool { return j.UID != first })
		release()
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
	})

	t.Run("ManagedElsewhere", func(t *testing.T) {
		t.Parallel()
		foreign := newJob(namespace, "foreign", 1, func(j *api.ProofJob) { j.Spec.ManagedBy = ptr.To("example.com/other") })
		start(t, foreign, honest(key))
		ours := newJob(namespace, "ours", 1, func(j *api.ProofJob) { j.Spec.ManagedBy = ptr.To(api.DefaultManagedBy) })
		start(t, ours, honest(key))
		becomes(t, ours, api.ConditionComplete, metav1.ConditionTrue, "")
		if w := writes(t, namespace, "foreign"); len(w) != 0 {
			t.Errorf("a job of another controller was written: %v", w)
		}
	})

	t.Run("LongestName", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, strings.Repeat("j", 50)+"-2", 11)
		start(t, job, honest(key))
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
	})
}

// The time runs only while no pod is scheduled.
func TestSchedulingDeadline(t *testing.T) {
	namespace, key := newNamespace(t)
	operator(t, namespace)
	ran := newJob(namespace, "ran", 1, func(j *api.ProofJob) { j.Spec.SchedulingDeadlineSeconds = ptr.To[int64](2) })
	play, release := waiting(honest(key))
	start(t, ran, play)
	becomes(t, ran, api.ConditionRunning, metav1.ConditionTrue, "")

	held.Store(namespace, true)
	job := newJob(namespace, "nowhere", 2, func(j *api.ProofJob) { j.Spec.SchedulingDeadlineSeconds = ptr.To[int64](2) })
	start(t, job, honest(key))
	becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonSchedulingDeadlineExceeded)

	// The other one has been running for longer than its deadline by now.
	release()
	becomes(t, ran, api.ConditionComplete, metav1.ConditionTrue, "")
}

// A node that falls silent: its pods are given up and their partitions proved elsewhere, without counting as failures.
func TestDeadNode(t *testing.T) {
	namespace, key := newNamespace(t)
	operator(t, namespace)
	name := "node-" + namespace
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	create(t, node)
	ready := func(status corev1.ConditionStatus) {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.Now()}}
		if err := admin.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	ready(corev1.ConditionTrue)
	job := newJob(namespace, "lost", 1, func(j *api.ProofJob) {
		j.Spec.BackoffLimitPerPartition = ptr.To[int32](0)
		j.Spec.Execution.Dedicated.NodeSelector = map[string]string{"kubernetes.io/hostname": name}
	})
	var first types.UID
	release := make(chan struct{})
	start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
		if first == "" {
			first = p.UID
			close(release)
			<-ctx.Done()
			return 143, ""
		}
		if p.UID == first {
			return 1, ""
		}
		return honest(key)(ctx, p)
	})
	<-release
	dead.Store(name, true)
	ready(corev1.ConditionUnknown)
	becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
	if e := job.Status.Partitions[0]; e.Report.PodUID == string(first) || e.Attempts != 2 {
		t.Errorf("proved by pod %s (the first was %s), %d attempts", e.Report.PodUID, first, e.Attempts)
	}
}
