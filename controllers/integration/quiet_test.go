//go:build apiserver

package integration

import (
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers"
)

// A job costs the operator at most 6 + n/32 writes, whatever its size.
func TestWriteBudget(t *testing.T) {
	namespace, key := newNamespace(t)
	operator(t, namespace)
	for _, n := range []int{1, 10, 70} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			job := newJob(namespace, fmt.Sprintf("size-%d", n), n, func(j *api.ProofJob) {
				j.Spec.Execution.Dedicated.Parallelism = ptr.To(int32(min(n, 4)))
			})
			start(t, job, honest(key))
			becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
			budget(t, namespace, job.Name, n)
		})
	}
}

// finished is a job as it stands in the status of one that has ended.
func finished(job *api.ProofJob, at time.Time) {
	now := metav1.NewTime(at).Rfc3339Copy()
	job.Status = api.ProofJobStatus{
		ObservedGeneration: 1, State: api.ProofJobSucceeded, Progress: "1/1", PartitionCount: ptr.To[int32](1), CompletionTime: &now,
		Conditions: []metav1.Condition{{Type: api.ConditionComplete, Status: metav1.ConditionTrue, Reason: api.ReasonAllProved, LastTransitionTime: now}},
		Partitions: []api.PartitionStatus{{Index: 0, Input: "input-0", State: api.PartitionSucceeded, Verified: ptr.To(true), Reason: api.ReasonAgainstDeclaredInputs, Attempts: 1}},
	}
}

// 1,000 finished jobs cost no write: not when the operator starts, not an hour later, not in a minute of being there.
func TestFinishedJobsAreQuiet(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	namespace, _ := newNamespace(t)
	stop := operator(t, namespace) // makes the key ready
	stop()
	const jobs = 1000
	var creating sync.WaitGroup
	for worker := range 8 {
		creating.Go(func() {
			for i := worker; i < jobs; i += 8 {
				job := newJob(namespace, fmt.Sprintf("done-%d", i), 1, func(j *api.ProofJob) {
					if i%2 == 0 {
						j.Spec.TTLSecondsAfterFinished = ptr.To[int32](7200)
					}
				})
				if err := admin.Create(t.Context(), job); err != nil {
					t.Error(err)
					return
				}
				finished(job, time.Now())
				if err := admin.Status().Update(t.Context(), job); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	creating.Wait()
	before := len(writes(t, namespace, ""))

	for i, then := range []clock.PassiveClock{clock.RealClock{}, clocktesting.NewFakePassiveClock(time.Now().Add(time.Hour))} {
		base := reconciliations(t)
		stop := operator(t, namespace, func(o *controllers.Options) { o.Clock = then })
		reconciled(t, base+jobs)
		marker := newJob(namespace, fmt.Sprintf("marker-%d", i), 1, func(j *api.ProofJob) { j.Spec.Suspend = ptr.To(true) })
		create(t, marker)
		becomes(t, marker, api.ConditionSuspended, metav1.ConditionTrue, "")
		if _, real := then.(clock.RealClock); real {
			<-time.After(time.Minute)
		}
		stop()
	}
	var unexpected []string
	for _, w := range writes(t, namespace, "")[before:] {
		if w[:len("patch proofjobs/status marker")] != "patch proofjobs/status marker" {
			unexpected = append(unexpected, w)
		}
	}
	if len(unexpected) > 0 {
		t.Errorf("%d writes for finished jobs, the first ones: %v", len(unexpected), unexpected[:min(5, len(unexpected))])
	}
}

// A restart of the operator in the middle of a job restarts no pod, and loses nothing.
func TestRestart(t *testing.T) {
	namespace, key := newNamespace(t)
	stop := operator(t, namespace)
	job := newJob(namespace, "restart", 4)
	play, release := waiting(honest(key))
	start(t, job, play)
	becomes(t, job, api.ConditionRunning, metav1.ConditionTrue, "")
	before := podUIDs(t, namespace)
	for len(before) < 4 {
		before = podUIDs(t, namespace)
	}
	stop()
	release() // the pods report and end while no operator is there

	eventually(t, job, "all reports", func(j *api.ProofJob) bool {
		for _, e := range j.Status.Partitions {
			if e.Report == nil || e.Report.Proof == "" {
				return false
			}
		}
		return true
	})
	operator(t, namespace)
	becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
	for uid := range podUIDs(t, namespace) {
		if !before[uid] {
			t.Errorf("pod %s was made after the restart", uid)
		}
	}
	budget(t, namespace, "restart", 4)
}

func podUIDs(t *testing.T, namespace string) map[string]bool {
	t.Helper()
	var pods corev1.PodList
	if err := admin.List(t.Context(), &pods, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	uids := map[string]bool{}
	for i := range pods.Items {
		uids[string(pods.Items[i].UID)] = true
	}
	return uids
}

// Progress reports wake nobody: the operator writes nothing, however often a pod reports.
func TestProgressIsQuiet(t *testing.T) {
	namespace, key := newNamespace(t)
	operator(t, namespace)
	job := newJob(namespace, "progress", 1)
	reported := make(chan struct{})
	play, release := waiting(honest(key))
	start(t, job, proverThat(func(p *proverPod) error {
		defer close(reported)
		for percent := range int32(50) {
			r := api.PartitionReport{Node: p.Spec.NodeName, Stage: api.StageGPU, ProgressPercent: ptr.To(percent)}
			if err := p.report(t.Context(), 0, r); err != nil {
				return err
			}
		}
		return nil
	}, play))
	<-reported
	becomes(t, job, api.ConditionRunning, metav1.ConditionTrue, "")
	release()
	becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
	budget(t, namespace, "progress", 1)
}
