package proofjob

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func TestKeyReady(t *testing.T) {
	for _, c := range []struct {
		name   string
		job    func(*api.ProofJob)
		key    func(*scene)
		reason string
		says   string
		final  bool
	}{
		{name: "ready", key: func(*scene) {}, reason: api.ReasonKeyReady},
		{name: "not there", key: func(s *scene) { s.Key = nil }, reason: api.ReasonKeyNotFound, says: "create it"},
		{name: "not looked at", key: func(s *scene) { s.Key.Status = api.ProvingKeyStatus{} }, reason: api.ReasonKeyNotReady},
		{name: "not ready", key: func(s *scene) {
			s.Key.Status.Conditions[0] = metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: api.ReasonInspecting, Message: "A pod looks."}
		}, reason: api.ReasonKeyNotReady, says: "Inspecting: A pod looks."},
		{name: "gnark's", key: func(s *scene) { s.Key.Spec.Format = api.KeyFormatGnark }, reason: api.ReasonKeyMismatch, says: "format Snarkjs", final: true},
		{name: "input.json without generator", job: func(j *api.ProofJob) {
			j.Spec.Inputs[0].InputSource = api.InputSource{Inline: &api.InlineInput{Input: ptr.To("{}")}}
		}, key: func(*scene) {}, reason: api.ReasonKeyMismatch, says: "witnessGenerator", final: true},
		{name: "other number of public inputs", job: declares("1"), key: func(s *scene) { s.Key.Status.Facts.PublicInputs = ptr.To[int64](3) }, reason: api.ReasonKeyMismatch, says: "declares 1 publicInputs", final: true},
		{name: "public input is no field element", job: declares("21888242871839275222246405745257275088548364400416034343698204186575808495617"), key: func(*scene) {}, reason: api.ReasonKeyMismatch, says: "publicInputs[0]", final: true},
		{name: "largest public input", job: declares("21888242871839275222246405745257275088548364400416034343698204186575808495616"), key: func(*scene) {}, reason: api.ReasonKeyReady},
	} {
		t.Run(c.name, func(t *testing.T) {
			var change []func(*api.ProofJob)
			if c.job != nil {
				change = append(change, c.job)
			}
			s := newScene(t, 1, change...)
			c.key(s)
			p := s.plan()
			status := metav1.ConditionFalse
			if c.reason == api.ReasonKeyReady {
				status = metav1.ConditionTrue
			}
			want(t, p, api.ConditionKeyReady, status, c.reason)
			if m := condition(p, api.ConditionKeyReady).Message; !strings.Contains(m, c.says) {
				t.Errorf("message %q, want %q", m, c.says)
			}
			if got := condition(p, api.ConditionFailed).Reason; (got != "") != c.final {
				t.Errorf("failed with reason %q", got)
			}
			if !c.final && c.reason != api.ReasonKeyReady {
				want(t, p, api.ConditionRunning, metav1.ConditionFalse, api.ReasonWaitingForKey)
				s.write(p)
				if p := s.plan(); len(p.Actions) != 0 {
					t.Errorf("acted without a key: %v", p.Actions)
				}
			}
		})
	}
}

// A job that is not verified begins before its key is inspected, and goes on after.
func TestKeyInspectedWhileProofsAreSkipped(t *testing.T) {
	s := newScene(t, 1, func(j *api.ProofJob) { j.Spec.Verification = api.VerificationSkip })
	inspected := s.Key
	s.Key = s.Key.DeepCopy()
	s.Key.Status = api.ProvingKeyStatus{}
	s.begin()
	for _, key := range []*api.ProvingKey{inspected, s.Key} {
		s.Key = key
		p := s.plan()
		want(t, p, api.ConditionKeyReady, metav1.ConditionTrue, api.ReasonKeyReady)
		if p.WriteStatus {
			t.Error("the inspection is worth a write")
		}
	}
	s.Key = inspected.DeepCopy()
	s.Key.UID = "another"
	want(t, s.plan(), api.ConditionKeyReady, metav1.ConditionFalse, api.ReasonKeyChanged)
}

func TestKeyMadeAnew(t *testing.T) {
	s := newScene(t, 1).begin()
	s.pod(0, corev1.PodRunning)
	s.write(s.plan())

	// The same verifying key in another object is as good.
	s.Key = s.Key.DeepCopy()
	s.Key.UID = "another"
	if p := s.plan(); condition(p, api.ConditionKeyReady).Status != metav1.ConditionTrue || p.WriteStatus {
		t.Errorf("the same key in another object: %+v", condition(p, api.ConditionKeyReady))
	}
	s.Key.Status.VerifyingKey = &api.VerifyingKeyLocation{Digest: "sha256:other"}
	p := s.plan()
	want(t, p, api.ConditionKeyReady, metav1.ConditionFalse, api.ReasonKeyChanged)
	want(t, p, api.ConditionFailureTarget, metav1.ConditionTrue, api.ReasonKeyChanged)

	// Deleted, and not made anew: the pods go on, their proofs wait.
	s.Key = nil
	s.report(0, s.Pods[0], "proof", "1")
	p = s.plan()
	want(t, p, api.ConditionKeyReady, metav1.ConditionFalse, api.ReasonKeyNotFound)
	wantPartition(t, p, 0, api.PartitionRunning, "")
	if condition(p, api.ConditionFailureTarget).Status != "" || len(p.Checks) != 0 {
		t.Errorf("without a key: %+v", p)
	}
}
