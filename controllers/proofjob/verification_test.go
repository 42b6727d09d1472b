package proofjob

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
)

func declares(values ...string) func(*api.ProofJob) {
	return func(j *api.ProofJob) {
		for i, v := range values {
			j.Spec.Inputs[i].PublicInputs = []string{v}
		}
	}
}

func TestProofsAreAboutTheirInput(t *testing.T) {
	const sha = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, c := range []struct {
		name   string
		job    func(*api.ProofJob)
		report func(*api.PartitionReport)
		reason string // of the refusal, "" if the proof is checked
		says   string
		public []string // that it is checked with
	}{
		{name: "as declared", job: declares("10"), report: func(r *api.PartitionReport) { r.PublicInputs = []string{"10"} }, public: []string{"10"}},
		{name: "of another input", job: declares("10"), report: func(r *api.PartitionReport) { r.PublicInputs = []string{"11"} }, reason: api.ReasonPublicInputsMismatch, says: "publicInputs[0] = 11, and input input-0 declares 10"},
		{name: "of another number of inputs", job: declares("10"), report: func(r *api.PartitionReport) { r.PublicInputs = []string{"10", "0"} }, reason: api.ReasonPublicInputsMismatch, says: "2 public inputs"},
		{name: "declared, not reported", job: declares("10"), report: func(*api.PartitionReport) {}, public: []string{"10"}},
		{name: "declared, digest reported", job: declares("10"), report: func(r *api.PartitionReport) { r.PublicInputsDigest = api.PublicInputsDigest([]string{"10"}) }, public: []string{"10"}},
		{name: "declared, another digest", job: declares("10"), report: func(r *api.PartitionReport) { r.PublicInputsDigest = api.PublicInputsDigest([]string{"11"}) }, reason: api.ReasonPublicInputsMismatch},
		{name: "not declared", job: declares(), report: func(r *api.PartitionReport) { r.PublicInputs = []string{"11"} }, public: []string{"11"}},
		{name: "too long to report and not declared", job: declares(), report: func(r *api.PartitionReport) { r.PublicInputsDigest = sha }, reason: api.ReasonProofInvalid, says: "declare them in publicInputs of input input-0"},
		{name: "of the declared content", job: func(j *api.ProofJob) { j.Spec.Inputs[0].Digest = sha }, report: func(r *api.PartitionReport) { r.InputDigest = sha }},
		{name: "of other content", job: func(j *api.ProofJob) { j.Spec.Inputs[0].Digest = sha }, report: func(r *api.PartitionReport) { r.InputDigest = strings.Replace(sha, "e3", "e4", 1) }, reason: api.ReasonInvalidInput, says: "declares " + sha},
		{name: "content with a digest of another kind", job: func(j *api.ProofJob) { j.Spec.Inputs[0].Digest = "blake2b-512:00" }, report: func(r *api.PartitionReport) { r.InputDigest = sha }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, 1, c.job).begin()
			c.report(s.report(0, s.pod(0, corev1.PodRunning), "proof"))
			p := s.plan()
			if c.reason != "" {
				wantPartition(t, p, 0, api.PartitionFailed, c.reason)
				if e := p.Status.Partitions[0]; ptr.Deref(e.Verified, true) || !strings.Contains(e.Message, c.says) {
					t.Errorf("verified %v, message %q", e.Verified, e.Message)
				}
				if len(p.Checks) != 0 {
					t.Error("a proof of something else is checked")
				}
				return
			}
			if len(p.Checks) != 1 {
				t.Fatalf("checks %v, partition %+v", p.Checks, p.Status.Partitions[0])
			}
			if diff := cmp.Diff(c.public, p.Checks[0].Public); diff != "" {
				t.Errorf("public inputs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatTheProofsWereCheckedAgainst(t *testing.T) {
	for _, c := range []struct {
		declared []string
		reason   string
	}{
		{[]string{"10", "11"}, api.ReasonAgainstDeclaredInputs},
		{[]string{"10"}, api.ReasonAgainstReportedInputs},
		{nil, api.ReasonAgainstReportedInputs},
	} {
		s := newScene(t, 2, declares(c.declared...)).begin()
		s.prove(0, 1)
		want(t, s.plan(), api.ConditionVerified, metav1.ConditionTrue, c.reason)
	}
}

func TestInvalidProof(t *testing.T) {
	s := newScene(t, 2).begin()
	s.prove(0)
	s.report(1, s.pod(1, corev1.PodSucceeded), "proof-1", "5")
	s.judge(1, refusedVerdict)
	s.Pods[0].Status.Phase = corev1.PodSucceeded
	p := s.plan()
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
	want(t, p, api.ConditionVerified, metav1.ConditionFalse, api.ReasonProofInvalid)
	wantPartition(t, p, 0, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	wantPartition(t, p, 1, api.PartitionFailed, api.ReasonProofInvalid)
}

// One proof cannot count twice: the partition that had it first keeps it.
func TestDuplicateProof(t *testing.T) {
	s := newScene(t, 3).begin()
	s.report(1, s.pod(1, corev1.PodRunning), "same", "1")
	s.judge(1, valid)
	s.report(2, s.pod(2, corev1.PodRunning), "same", "1")
	p := s.plan()
	wantPartition(t, p, 1, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	wantPartition(t, p, 2, api.PartitionFailed, api.ReasonDuplicateProof)
	if !p.WriteStatus {
		t.Fatal("2 of 3 are final, and nothing is written")
	}
	s.write(p)
	s.report(0, s.pod(0, corev1.PodRunning), "same", "1")
	p = s.plan()
	wantPartition(t, p, 0, api.PartitionFailed, api.ReasonDuplicateProof)
	wantPartition(t, p, 1, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
}

func TestVerificationSkipped(t *testing.T) {
	s := newScene(t, 2, func(j *api.ProofJob) { j.Spec.Verification = api.VerificationSkip })
	s.Key.Status = api.ProvingKeyStatus{} // no verifying key is needed
	s.begin()
	s.report(0, s.pod(0, corev1.PodRunning), "a", "1")
	s.report(1, s.pod(1, corev1.PodRunning), "b", "1")
	p := s.plan()
	want(t, p, api.ConditionComplete, metav1.ConditionTrue, api.ReasonAllProved)
	want(t, p, api.ConditionVerified, metav1.ConditionFalse, api.ReasonSkipped)
	if e := p.Status.Partitions[0]; e.Verified != nil {
		t.Errorf("verified is %v", *e.Verified)
	}
}

func TestVerifyingKeyUnavailable(t *testing.T) {
	s := newScene(t, 1).begin()
	s.report(0, s.pod(0, corev1.PodRunning), "proof", "1")
	s.write(s.plan())
	s.judge(0, verification.Verdict{KeyUnavailable: true, Message: "there is no ConfigMap vk"})
	p := s.plan()
	want(t, p, api.ConditionKeyReady, metav1.ConditionFalse, api.ReasonKeyNotReady)
	wantPartition(t, p, 0, api.PartitionRunning, "")
	if len(p.Checks) != 1 || p.RequeueAfter != verification.KeyRetry {
		t.Errorf("checks %v, again after %s", p.Checks, p.RequeueAfter)
	}
	// A failing job does not wait for it.
	s.Pods[0].Status.Phase = corev1.PodSucceeded
	s.InputDigests[0] = "sha256:aa"
	s.Job.Status.Partitions[0].Report.InputDigest = "sha256:bb"
	want(t, s.plan(), api.ConditionFailed, metav1.ConditionTrue, api.ReasonInputChanged)
}
