package proofjob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

func (s *scene) childCondition(kind batchv1.JobConditionType, reason string) {
	s.Child.Status.Conditions = append(s.Child.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: "the Job's own words"})
}

func word(class, message string) *order.Termination {
	return &order.Termination{Class: class, Message: message}
}

// Bad input fails its partition alone; the others' proofs stay, and the job is Failed at its end.
func TestBadInputFailsAlone(t *testing.T) {
	s := newScene(t, 3).begin()
	s.prove(0)
	s.pod(1, corev1.PodFailed, ended(3, word("Input", "constraint 17 does not hold; check input.json")))
	s.Child.Status.FailedIndexes = ptr.To("1")
	p := s.plan()
	wantPartition(t, p, 1, api.PartitionFailed, api.ReasonInvalidInput)
	if m := p.Status.Partitions[1].Message; m != "Constraint 17 does not hold; check input.json." {
		t.Errorf("message %q", m)
	}
	if p.Status.State == api.ProofJobFailed || condition(p, api.ConditionFailureTarget).Status != "" {
		t.Error("one bad input ends the job before the others are done")
	}
	s.write(p)
	s.prove(2)
	p = s.plan()
	want(t, p, api.ConditionFailureTarget, metav1.ConditionTrue, api.ReasonPartitionsFailed)
	for _, pod := range s.Pods {
		if pod.Status.Phase == corev1.PodRunning {
			pod.Status.Phase = corev1.PodSucceeded
		}
	}
	s.childCondition(batchv1.JobFailed, batchv1.JobReasonFailedIndexes)
	s.write(p)
	p = s.plan()
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	wantPartition(t, p, 2, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	if m := condition(p, api.ConditionFailed).Message; m != "1 of 3 partitions failed: 1 (InvalidInput). Partition 1: Constraint 17 does not hold; check input.json." {
		t.Errorf("message %q", m)
	}
}

// A proof that arrived is checked before the job fails for another partition, even if its key is not there just then.
func TestProofsOfAFailedJobAreChecked(t *testing.T) {
	s := newScene(t, 2).begin()
	s.report(0, s.pod(0, corev1.PodSucceeded), "proof-0", "10")
	s.pod(1, corev1.PodFailed, ended(3, word("Input", "no")))
	s.Child.Status.FailedIndexes = ptr.To("1")
	s.childCondition(batchv1.JobFailed, batchv1.JobReasonFailedIndexes)
	key := s.Key
	s.Key = nil
	p := s.plan()
	if condition(p, api.ConditionFailureTarget).Status != "" {
		t.Errorf("failed with a proof that nobody has looked at: %+v", condition(p, api.ConditionFailureTarget))
	}
	s.write(p)
	s.Key = key
	s.judge(0, valid)
	p = s.plan()
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	wantPartition(t, p, 1, api.PartitionFailed, api.ReasonInvalidInput)
}

func TestRetryThenBackoffLimit(t *testing.T) {
	s := newScene(t, 1).begin()
	s.pod(0, corev1.PodFailed, ended(7, word("IO", "connection reset")))
	p := s.plan()
	wantPartition(t, p, 0, api.PartitionPending, api.ReasonRetrying)
	s.later(time.Second).pod(0, corev1.PodRunning, func(p *corev1.Pod) { p.Annotations[batchv1.JobIndexFailureCountAnnotation] = "1" })
	p = s.plan()
	wantPartition(t, p, 0, api.PartitionRunning, api.ReasonRetrying)
	if e := p.Status.Partitions[0]; e.Attempts != 2 || e.Message != "Connection reset." {
		t.Errorf("attempts %d, message %q", e.Attempts, e.Message)
	}
	s.Pods[1].Status.Phase = corev1.PodFailed
	ended(7, word("IO", "connection reset"))(s.Pods[1])
	s.Child.Status.FailedIndexes = ptr.To("0")
	s.childCondition(batchv1.JobFailed, batchv1.JobReasonFailedIndexes)
	p = s.plan()
	wantPartition(t, p, 0, api.PartitionFailed, api.ReasonBackoffLimitExceeded)
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
}

// An unusable key fails the job at once, with the prover's own words.
func TestKeyErrorsFailTheJob(t *testing.T) {
	for class, reason := range map[string]string{"Key": api.ReasonInvalidKey, "Usage": api.ReasonInvalidConfiguration} {
		s := newScene(t, 2).begin()
		s.pod(0, corev1.PodFailed, ended(4, word(class, "section 4 is cut off")))
		b := s.pod(1, corev1.PodRunning)
		s.childCondition(batchv1.JobFailureTarget, batchv1.JobReasonPodFailurePolicy)
		p := s.plan()
		want(t, p, api.ConditionFailureTarget, metav1.ConditionTrue, reason)
		if len(p.Actions) != 0 {
			t.Errorf("the Job ends its pods itself: %v", p.Actions)
		}
		s.write(p)
		b.Status.Phase = corev1.PodFailed
		s.childCondition(batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy)
		p = s.plan()
		want(t, p, api.ConditionFailed, metav1.ConditionTrue, reason)
		if m := condition(p, api.ConditionFailed).Message; m != "Section 4 is cut off." {
			t.Errorf("message %q", m)
		}
	}
}

func TestMaxFailedPartitions(t *testing.T) {
	s := newScene(t, 4, func(j *api.ProofJob) { j.Spec.MaxFailedPartitions = ptr.To[int32](1) }).begin()
	if got := ptr.Deref(s.Child.Spec.MaxFailedIndexes, -1); got != 1 {
		t.Errorf("maxFailedIndexes %d", got)
	}
	s.prove(0)
	s.pod(3, corev1.PodRunning)
	s.Child.Status.FailedIndexes = ptr.To("1")
	s.pod(1, corev1.PodFailed, ended(3, word("Input", "no")))
	if p := s.plan(); condition(p, api.ConditionFailureTarget).Status != "" {
		t.Error("as many failed as are allowed, and the job fails")
	}
	// A refused proof counts too; the Job knows nothing of it.
	s.report(2, s.pod(2, corev1.PodSucceeded), "proof-2", "5")
	s.judge(2, refusedVerdict)
	p := s.plan()
	want(t, p, api.ConditionFailureTarget, metav1.ConditionTrue, api.ReasonMaxFailedPartitionsExceeded)
	if len(actions[DeleteChild](p)) != 1 {
		t.Errorf("its pods are not ended: %v", p.Actions)
	}
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
}

// What a container could not say itself is said for it.
func TestWordsForTheSpeechless(t *testing.T) {
	oom := func(p *corev1.Pod) {
		ended(137, nil)(p)
		p.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
	}
	evicted := func(p *corev1.Pod) {
		p.Status.Reason, p.Status.Message = "Evicted", "The node was low on resource: memory"
	}
	garbage := func(p *corev1.Pod) {
		ended(1, nil)(p)
		p.Status.ContainerStatuses[0].State.Terminated.Message = `{"v":99,"message":"of another version"}`
	}
	for _, c := range []struct {
		change func(*corev1.Pod)
		want   string
	}{
		{oom, "more memory than its limit"},
		{evicted, "Evicted: The node was low on resource: memory"},
		{garbage, "exit code 1"},
		{ended(2, nil), "exit code 2"},
	} {
		s := newScene(t, 1).begin()
		s.pod(0, corev1.PodFailed, c.change)
		if m := s.plan().Status.Partitions[0].Message; !strings.Contains(m, c.want) {
			t.Errorf("message %q, want %q", m, c.want)
		}
	}
}

// However many partitions fail and however much they say, their messages stay within 2 KiB.
func TestMessagesAreBounded(t *testing.T) {
	for _, n := range []int{1, 3, 100, 256} {
		s := newScene(t, n).begin()
		for i := range n {
			s.pod(i, corev1.PodFailed, ended(3, word("Input", fmt.Sprint(i, strings.Repeat(" wörds", 300)))))
		}
		s.Child.Status.FailedIndexes = ptr.To(fmt.Sprintf("0-%d", n-1))
		total := 0
		for _, e := range s.plan().Status.Partitions {
			total += len(e.Message)
			if len(e.Message) > api.MaxMessageLength || e.State != api.PartitionFailed {
				t.Errorf("n = %d: partition %d is %s with %d bytes of message", n, e.Index, e.State, len(e.Message))
			}
		}
		if total > api.MaxPartitionMessageBytes || total == 0 {
			t.Errorf("n = %d: %d bytes of messages", n, total)
		}
	}
}

// A pod of several partitions of which one is bad keeps the others' proofs.
func TestSeveralPartitionsPerPod(t *testing.T) {
	s := newScene(t, 5, func(j *api.ProofJob) { j.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](2) }).begin()
	if got := *s.Child.Spec.Completions; got != 3 {
		t.Errorf("%d completions for 5 partitions, 2 a pod", got)
	}
	pod := s.pod(1, corev1.PodFailed, ended(3, &order.Termination{Class: "Input", Message: "partition 3: bad", Partitions: []order.TerminationPartition{
		{Index: 2, Proof: "proof-2"}, {Index: 3, Class: "Input", Message: "wire 0 is not 1"},
	}}))
	s.report(2, pod, "proof-2", "7")
	s.judge(2, valid)
	s.Child.Status.FailedIndexes = ptr.To("1")
	p := s.plan()
	wantPartition(t, p, 2, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	wantPartition(t, p, 3, api.PartitionFailed, api.ReasonInvalidInput)
	wantPartition(t, p, 4, api.PartitionPending, "")

	// A proof that no status tells of yet is written before the next attempt starts.
	s = newScene(t, 40, func(j *api.ProofJob) { j.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](2) }).begin()
	running := s.pod(0, corev1.PodRunning)
	s.write(s.plan())
	s.report(0, running, "proof-0", "7")
	s.judge(0, valid)
	if p := s.plan(); p.WriteStatus {
		t.Error("a first proof of many is worth a write")
	}
	running.Status.Phase = corev1.PodFailed
	ended(7, word("IO", "disk full"))(running)
	if p := s.plan(); !p.WriteStatus {
		t.Error("the next attempt would prove again what is verified")
	}
}
