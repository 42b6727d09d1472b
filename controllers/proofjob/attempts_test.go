package proofjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// Only the newest pod of an index may speak for its partitions.
func TestReportsAreFenced(t *testing.T) {
	s := newScene(t, 1).begin()
	old := s.pod(0, corev1.PodFailed)
	fresh := s.later(time.Second).pod(0, corev1.PodRunning)
	s.report(0, old, "late", "1")
	if p := s.plan(); len(p.Checks) != 0 || p.Status.Partitions[0].State != api.PartitionRunning {
		t.Errorf("a late report counts: %v", p.Checks)
	}
	s.report(0, fresh, "new", "1")
	if p := s.plan(); len(p.Checks) != 1 {
		t.Errorf("the live pod's report does not count: %v", p.Checks)
	}

	// The cache of pods may be behind that of the job: a report of an unknown pod waits.
	s = newScene(t, 1).begin()
	stranger := s.pod(0, corev1.PodRunning)
	s.Pods = nil
	s.report(0, stranger, "early", "1")
	if p := s.plan(); len(p.Checks) != 0 || condition(p, api.ConditionFailureTarget).Status != "" {
		t.Errorf("a report of an unknown pod is not left alone: %+v", p)
	}
	// If the Job says that the index is completed, the pod was removed after it had ended well.
	s.Child.Status.CompletedIndexes = "0"
	if p := s.plan(); len(p.Checks) != 1 {
		t.Error("the report of a removed pod that ended well does not count")
	}

	// A pod of another Job of the name does not count.
	s = newScene(t, 1).begin()
	foreign := s.pod(0, corev1.PodRunning, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another" })
	s.report(0, foreign, "other", "1")
	if p := s.plan(); len(p.Checks) != 0 {
		t.Error("the report of a pod of another Job counts")
	}
}

// A proof that was found valid stays, whatever becomes of its pod.
func TestVerifiedProofsStay(t *testing.T) {
	s := newScene(t, 3).begin()
	s.prove(0, 1)
	s.write(s.plan()) // 2 of 3 are worth a write
	for _, pod := range s.Pods {
		pod.Status.Phase = corev1.PodFailed
	}
	s.later(time.Second)
	s.pod(0, corev1.PodRunning)
	wantPartition(t, s.plan(), 0, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)

	// After a restart the verdicts are gone: the proof is checked once more, and the job waits for it.
	s.Verdicts = map[string]verification.Verdict{}
	p := s.plan()
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	if len(p.Checks) != 2 {
		t.Errorf("checks after a restart: %v", p.Checks)
	}
	s.prove(2)
	if p := s.plan(); condition(p, api.ConditionComplete).Status == metav1.ConditionTrue {
		t.Error("complete before all proofs are checked")
	}
}

// A state that came to a job without a proof is that of an earlier job of its name.
func TestStateWithoutAProof(t *testing.T) {
	s := newScene(t, 1).begin()
	s.Job.Status.Partitions[0].State = api.PartitionSucceeded
	p := s.plan()
	wantPartition(t, p, 0, api.PartitionPending, "")
	if condition(p, api.ConditionComplete).Status != "" {
		t.Error("complete without a proof")
	}
}

func TestInputChanged(t *testing.T) {
	a, b := "sha256:aa", "sha256:bb"
	s := newScene(t, 2).begin()
	s.pod(0, corev1.PodFailed, ended(7, &order.Termination{Partitions: []order.TerminationPartition{{Index: 0, InputDigest: a}}}))
	second := s.later(time.Second).pod(0, corev1.PodRunning)
	s.report(0, second, "", "1").InputDigest = a
	if p := s.plan(); condition(p, api.ConditionFailureTarget).Status != "" {
		t.Error("the same input twice fails the job")
	}
	s.report(0, second, "", "1").InputDigest = b
	p := s.plan()
	want(t, p, api.ConditionFailureTarget, metav1.ConditionTrue, api.ReasonInputChanged)
	if len(actions[DeleteChild](p)) != 1 {
		t.Errorf("pods are not ended: %v", p.Actions)
	}

	// A report that was replaced is remembered.
	s = newScene(t, 1).begin()
	s.InputDigests[0] = a
	s.report(0, s.pod(0, corev1.PodRunning), "", "1").InputDigest = b
	want(t, s.plan(), api.ConditionFailureTarget, metav1.ConditionTrue, api.ReasonInputChanged)
}

// A report that did not arrive is made of the termination message.
func TestTerminationMessageStandsIn(t *testing.T) {
	last := &order.Termination{Partitions: []order.TerminationPartition{{
		Index: 0, InputDigest: "sha256:aa", Proof: "proof-0", PublicInputs: []string{"9"}, Milliseconds: []int64{1, 2, 3, 4, 5, 15}, Backend: "CPU",
	}}}
	s := newScene(t, 1).begin()
	pod := s.pod(0, corev1.PodSucceeded, ended(0, last))
	s.Child.Status.CompletedIndexes = "0"
	// The report may be there and only the cache late: the API server is asked first.
	p := s.plan()
	if got := actions[StoreReport](p); !p.ReadFresh || len(got) != 0 {
		t.Errorf("stored %v before looking at the API server (%t)", got, p.ReadFresh)
	}
	s.Fresh = true
	p = s.plan()
	wanted := []StoreReport{{Index: 0, Report: api.PartitionReport{
		PodName: pod.Name, PodUID: string(pod.UID), Node: "node-a", Stage: api.StageDone, Backend: api.BackendCPU,
		InputDigest: "sha256:aa", Proof: "proof-0", PublicInputs: []string{"9"},
		Timings: &api.Timings{
			QueueMilliseconds: ptr.To[int64](1), SRSMilliseconds: ptr.To[int64](2), SynthMilliseconds: ptr.To[int64](3),
			GPUMilliseconds: ptr.To[int64](4), VerifyMilliseconds: ptr.To[int64](5), TotalMilliseconds: ptr.To[int64](15),
		},
	}}}
	if diff := cmp.Diff(wanted, actions[StoreReport](p)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if p.WriteStatus || p.ReadFresh {
		t.Error("something is said before the report is stored")
	}
	// Once it is in the status it is not stored again, and its proof is checked.
	s.report(0, pod, "proof-0", "9")
	p = s.plan()
	if got := actions[StoreReport](p); len(got) != 0 {
		t.Errorf("stored again: %v", got)
	}
	if len(p.Checks) != 1 || p.Checks[0].Proof != "proof-0" {
		t.Errorf("checks %v", p.Checks)
	}
}

func TestParseIndexes(t *testing.T) {
	for list, want := range map[string]indexes{
		"":            {},
		"0":           {0: true},
		"1,3-5,7":     {1: true, 3: true, 4: true, 5: true, 7: true},
		"x,2":         {2: true},
		"254-4000000": {254: true, 255: true},
	} {
		if diff := cmp.Diff(want, parseIndexes(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}

// An image of another release, whose termination messages have another version, is heard when it says that it is one.
func TestErrorOfAnotherReleaseIsHeard(t *testing.T) {
	s := newScene(t, 1).begin()
	s.pod(0, corev1.PodFailed, ended(4, nil), func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].State.Terminated.Message = `{"v":99,"class":"Usage","message":"use a prover image of the operator's release","partitions":[{"index":0,"proof":"p"}]}`
	})
	s.childCondition(batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy)
	p := s.plan()
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonInvalidConfiguration)
	if m := condition(p, api.ConditionFailed).Message; m != "Use a prover image of the operator's release." {
		t.Errorf("message %q", m)
	}
	if n := len(actions[StoreReport](p)); n != 0 {
		t.Errorf("%d proofs are taken from a message that may mean something else", n)
	}
}
