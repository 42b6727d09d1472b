package proofjob

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// A job that goes well: each step is one plan, and only four of them write.
func TestHappyJob(t *testing.T) {
	s := newScene(t, 3)
	writes := 0
	step := func() Plan {
		p := s.plan()
		if p.WriteStatus {
			writes++
		}
		s.write(p)
		return p
	}

	p := step()
	want(t, p, api.ConditionKeyReady, metav1.ConditionTrue, api.ReasonKeyReady)
	want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonPodsPending)
	want(t, p, api.ConditionVerified, metav1.ConditionFalse, api.ReasonProofsPending)
	if len(p.Actions) != 0 {
		t.Errorf("acted before the partitions' entries were written: %v", p.Actions)
	}
	if p.Status.State != api.ProofJobPending || p.Status.Progress != "0/3" || *p.Status.PartitionCount != 3 {
		t.Errorf("state %s, progress %s", p.Status.State, p.Status.Progress)
	}
	wantEntries := []api.PartitionStatus{
		{Index: 0, Input: "input-0", State: api.PartitionPending},
		{Index: 1, Input: "input-1", State: api.PartitionPending},
		{Index: 2, Input: "input-2", State: api.PartitionPending},
	}
	if diff := cmp.Diff(wantEntries, p.Status.Partitions); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}

	p = s.plan()
	if p.WriteStatus {
		t.Error("the second plan writes a status that has not changed")
	}
	created := actions[CreateChild](p)
	if len(created) != 1 {
		t.Fatalf("want one Job, got actions %v", p.Actions)
	}
	s.Child = created[0].Job
	s.Child.UID = "child-uid"
	s.Child.Status.StartTime = ptr.To(metav1.NewTime(s.now))
	if p = step(); len(p.Actions) != 0 || p.WriteStatus {
		t.Errorf("with the Job there: actions %v, write %v", p.Actions, p.WriteStatus)
	}

	a, b := s.pod(0, corev1.PodRunning), s.pod(1, corev1.PodRunning)
	p = step()
	want(t, p, api.ConditionRunning, metav1.ConditionTrue, api.ReasonPodsRunning)
	if p.Status.State != api.ProofJobRunning || !p.WriteStatus {
		t.Errorf("state %s, write %v", p.Status.State, p.WriteStatus)
	}
	wantPartition(t, p, 0, api.PartitionRunning, "")
	wantPartition(t, p, 2, api.PartitionPending, "")

	s.report(0, a, "proof-0", "10")
	p = step()
	if len(p.Checks) != 1 || p.Checks[0].Partition != 0 || p.WriteStatus {
		t.Fatalf("after a report: checks %v, write %v", p.Checks, p.WriteStatus)
	}

	s.report(1, b, "proof-1", "11")
	c := s.pod(2, corev1.PodRunning)
	s.report(2, c, "proof-2", "12")
	for i := range 3 {
		s.judge(i, valid)
	}
	p = step()
	want(t, p, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
	want(t, p, api.ConditionVerified, metav1.ConditionTrue, api.ReasonAgainstReportedInputs)
	want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonFinished)
	if p.Status.State != api.ProofJobSucceeded || p.Status.Progress != "3/3" || p.Status.CompletionTime == nil {
		t.Errorf("state %s, progress %s, completion %v", p.Status.State, p.Status.Progress, p.Status.CompletionTime)
	}
	if diff := cmp.Diff(&api.ProofJobSummary{Synth: "200ms", GPU: "2.0s", Total: "2.5s", Cold: "2.5s", Node: "node-a", Reason: api.ReasonAllProved}, p.Status.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if len(p.Events) != 1 || p.Events[0].Reason != api.ReasonAllProved {
		t.Errorf("events %v", p.Events)
	}
	if writes != 3 { // and one Job
		t.Errorf("%d status writes, want 3", writes)
	}

	for _, d := range []time.Duration{0, time.Hour} {
		s.later(d)
		if p := s.plan(); p.WriteStatus || len(p.Actions) != 0 || len(p.Checks) != 0 || p.RequeueAfter != 0 {
			t.Errorf("a finished job is not left in peace: %+v", p)
		}
	}
}

// Whatever the order in which proofs arrive, a job of n partitions costs at most 5 + n/32 writes.
func TestWritesAreBounded(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 31, 32, 64, 100, 256} {
		s := newScene(t, n)
		writes := 1 // the Job
		do := func() {
			if p := s.plan(); p.WriteStatus {
				writes++
				s.write(p)
			}
		}
		do()
		s.begin()
		for i := range n {
			pod := s.pod(i, corev1.PodRunning)
			do()
			s.report(i, pod, fmt.Sprintf("proof-%d", i), "1")
			do()
			s.judge(i, valid)
			do()
			pod.Status.Phase = corev1.PodSucceeded
			do()
		}
		if s.Job.Status.State != api.ProofJobSucceeded {
			t.Errorf("n = %d: state %s", n, s.Job.Status.State)
		}
		if limit := 5 + n/32; writes > limit {
			t.Errorf("n = %d: %d writes, more than %d", n, writes, limit)
		}
	}
}

// A plan does not change what it is made of.
func TestPlanIsPure(t *testing.T) {
	s := newScene(t, 3).begin()
	s.prove(0, 1)
	before := s.Job.DeepCopy()
	child := s.Child.DeepCopy()
	first, second := s.plan(), s.plan()
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two plans of one observation differ:\n%s", diff)
	}
	if diff := cmp.Diff(before, s.Job) + cmp.Diff(child, s.Child); diff != "" {
		t.Errorf("a plan changed its observation:\n%s", diff)
	}
}

func TestManagedElsewhere(t *testing.T) {
	s := newScene(t, 1, func(j *api.ProofJob) { j.Spec.ManagedBy = ptr.To("example.com/other") })
	if p := s.plan(); p.WriteStatus || len(p.Actions) > 0 {
		t.Errorf("a job of another controller is touched: %+v", p)
	}
	s = newScene(t, 1, func(j *api.ProofJob) { j.Spec.ManagedBy = ptr.To(api.DefaultManagedBy) })
	if p := s.plan(); !p.WriteStatus {
		t.Error("a job that names this controller is left alone")
	}
}

func TestTTLAfterFinished(t *testing.T) {
	finish := func(ttl *int32) *scene {
		s := newScene(t, 1, func(j *api.ProofJob) { j.Spec.TTLSecondsAfterFinished = ttl }).begin()
		s.prove(0)
		s.write(s.plan())
		return s
	}
	if p := finish(nil).later(1000 * time.Hour).plan(); len(p.Actions) != 0 {
		t.Errorf("without a TTL: %v", p.Actions)
	}
	s := finish(ptr.To[int32](60))
	if p := s.plan(); len(p.Actions) != 0 || p.RequeueAfter != time.Minute {
		t.Errorf("before its time: %v, again after %s", p.Actions, p.RequeueAfter)
	}
	for _, s := range []*scene{s.later(time.Minute), finish(ptr.To[int32](0))} {
		p := s.plan()
		if diff := cmp.Diff([]Action{DeleteProofJob{UID: "job-uid", ResourceVersion: "7"}}, p.Actions); diff != "" {
			t.Errorf("at its time (-want +got):\n%s", diff)
		}
	}
}

// A finished job never gets a child again, whatever becomes of the one it had.
func TestFinishedJobsStayFinished(t *testing.T) {
	s := newScene(t, 2).begin()
	s.prove(0, 1)
	s.write(s.plan())
	s.Child, s.Pods = nil, nil
	if p := s.plan(); len(p.Actions) != 0 || p.WriteStatus {
		t.Errorf("without its Job: %+v", p)
	}
}

func TestChildDeletedBySomeone(t *testing.T) {
	s := newScene(t, 2).begin()
	s.prove(0)
	p := s.plan()
	s.write(p)
	s.Child, s.Pods = nil, nil
	p = s.plan()
	if len(actions[CreateChild](p)) != 1 {
		t.Fatalf("the Job is not made anew: %v", p.Actions)
	}
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)

	// While the old one is being deleted, its name is not free.
	s.begin()
	s.Child.DeletionTimestamp = ptr.To(metav1.NewTime(s.now))
	if p := s.plan(); len(p.Actions) != 0 {
		t.Errorf("with a Job that is being deleted: %v", p.Actions)
	}
}

func TestNameConflict(t *testing.T) {
	s := newScene(t, 1)
	s.Foreign = true
	s.write(s.plan())
	p := s.plan()
	want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonNameConflict)
	if len(p.Actions) != 0 {
		t.Errorf("acted on a Job of someone else: %v", p.Actions)
	}
	if p.RequeueAfter != 2*time.Second {
		t.Errorf("whether its name is free is looked at after %s", p.RequeueAfter)
	}
}

// The Job of an earlier job of the same name is waited for, without a word.
func TestStaleChild(t *testing.T) {
	s := newScene(t, 1)
	s.Stale = true
	s.write(s.plan())
	if p := s.plan(); len(p.Actions) != 0 || p.WriteStatus {
		t.Errorf("with a stale Job: %+v", p)
	}
	s.Stale = false
	if p := s.plan(); len(actions[CreateChild](p)) != 1 {
		t.Errorf("after it is gone: %v", p.Actions)
	}
}

func TestRefusedCreation(t *testing.T) {
	s := newScene(t, 1)
	s.write(s.plan())
	s.Refused = &Refusal{Reason: api.ReasonJobCreationFailed, Message: "quota"}
	p := s.plan()
	want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonJobCreationFailed)
	if !p.WriteStatus {
		t.Error("a refusal is not written at once")
	}
	s.write(p)
	if p := s.plan(); p.WriteStatus {
		t.Error("the same refusal is written twice")
	}
	s.Refused = &Refusal{Reason: api.ReasonInvalidJob, Message: "no", ForGood: true}
	p = s.plan()
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonInvalidJob)
}

func TestProofMissing(t *testing.T) {
	s := newScene(t, 2).begin()
	s.prove(0)
	s.pod(1, corev1.PodSucceeded, ended(0, nil))
	s.Child.Status.CompletedIndexes = "0,1"
	s.Child.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	p := s.plan()
	if !p.ReadFresh || p.WriteStatus {
		t.Fatalf("the API server is not asked first: %+v", p)
	}
	s.Fresh = true
	for i := range s.Pods {
		s.Pods[i].Status.Phase = corev1.PodSucceeded
	}
	p = s.plan()
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonProofMissing)
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	wantPartition(t, p, 1, api.PartitionFailed, api.ReasonNotProved)
}
