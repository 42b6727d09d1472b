package proofjob

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/google/go-cmp/cmp"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	apiac "github.com/cuzk-dev/cuzk/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/verification"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// recorder is an API server to which is only written. It lists the writes, and refuses those of a name with an error.
type recorder struct {
	client.Client
	refuse map[string]error
	writes []string
	// status is the last one that was written.
	status *apiac.ProofJobApplyConfiguration
}

func (r *recorder) write(what string) error {
	r.writes = append(r.writes, what)
	return r.refuse[what]
}

func (r *recorder) Apply(_ context.Context, object runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	return r.write(fmt.Sprintf("apply %T", object))
}

func (r *recorder) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	return r.write(fmt.Sprintf("delete %T", object))
}

func (r *recorder) Status() client.SubResourceWriter { return statusRecorder{recorder: r} }

type statusRecorder struct {
	client.SubResourceWriter
	*recorder
}

func (r statusRecorder) Apply(_ context.Context, object runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	var o client.SubResourceApplyOptions
	o.ApplyOpts(opts)
	if o.FieldManager != "cuzk-manager" {
		return r.write("report")
	}
	r.status = object.(*apiac.ProofJobApplyConfiguration)
	return r.write("status")
}

const (
	applyChild  = "apply *v1.JobApplyConfiguration"
	deleteChild = "delete *v1.Job"
	deleteJob   = "delete *v1alpha1.ProofJob"
)

// carryOut carries a scene's plan out on an API server.
func (s *scene) carryOut(on *recorder) (ctrl.Result, error) {
	s.t.Helper()
	clock := clocktesting.NewFakePassiveClock(s.now)
	r := &Reconciler{
		Client: on, Clock: clock, Config: s.cfg, Recorder: events.NewFakeRecorder(100),
		Pool: verification.NewPool(1, nil, clock, nil),
	}
	return r.carryOut(s.t.Context(), s.Observation, s.plan())
}

func overdue(j *api.ProofJob) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](1) }

func provedInLastWord(s *scene) {
	s.pod(0, corev1.PodSucceeded, ended(0, &order.Termination{Partitions: []order.TerminationPartition{{Index: 0, Proof: "proof-0"}}}))
	s.Child.Status.CompletedIndexes = "0"
	s.Fresh = true
}

// What the status tells was done, was done.
func TestStatusWaitsForActions(t *testing.T) {
	resumed := newScene(t, 1).begin()
	resumed.setSuspend(true)
	resumed.write(resumed.plan())
	resumed.Child.Spec.Suspend = ptr.To(true)
	resumed.setSuspend(false)

	late := newScene(t, 1, overdue).begin()
	late.write(late.plan())
	late.later(time.Minute)

	unreported := newScene(t, 1, func(j *api.ProofJob) { j.Spec.Verification = api.VerificationSkip }).begin()
	provedInLastWord(unreported)

	for name, c := range map[string]struct {
		scene  *scene
		action string
	}{
		"the Job is not resumed":    {resumed, applyChild},
		"the Job is not deleted":    {late, deleteChild},
		"the report was not stored": {unreported, "report"},
	} {
		t.Run(name, func(t *testing.T) {
			fault := errors.New("no connection")
			on := &recorder{refuse: map[string]error{c.action: fault}}
			if _, err := c.scene.carryOut(on); !errors.Is(err, fault) {
				t.Errorf("error %v, want that of the action", err)
			}
			if diff := cmp.Diff([]string{c.action}, on.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// A proof in a termination message that the API server will never store does not keep the job from its end.
func TestReportIsRefused(t *testing.T) {
	s := newScene(t, 2).begin()
	s.prove(1)
	s.Pods[0].Status.Phase = corev1.PodSucceeded
	provedInLastWord(s)
	s.childCondition(batchv1.JobComplete, "")
	invalid := apierrors.NewInvalid(api.GroupVersion.WithKind("ProofJob").GroupKind(), "batch", nil)
	on := &recorder{refuse: map[string]error{"report": invalid}}
	if _, err := s.carryOut(on); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"report", "status"}, on.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if got := ptr.Deref(on.status.Status.State, ""); got != api.ProofJobFailed {
		t.Errorf("state %q", got)
	}
	p := s.plan()
	wantPartition(t, p, 0, api.PartitionFailed, api.ReasonProofInvalid)
	wantPartition(t, p, 1, api.PartitionSucceeded, api.ReasonAgainstReportedInputs)
	want(t, p, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)

	// One of many is written down at once: each further look would try to store it again.
	s = newScene(t, 100).begin()
	s.pod(1, corev1.PodRunning)
	s.write(s.plan())
	provedInLastWord(s)
	if _, err := s.carryOut(&recorder{refuse: map[string]error{"report": invalid}}); err != nil {
		t.Fatal(err)
	}
	p = s.plan()
	if !p.WriteStatus {
		t.Error("a refused report is not written down")
	}
	s.write(p)
	s.RefusedReports = nil
	if p := s.plan(); len(p.Actions) != 0 || p.WriteStatus {
		t.Errorf("a refused report is stored again: %v", p.Actions)
	}
}

// What a job made anew under the same name must never inherit is written to the job that was read, and only that: other
// writes would lose races with the reports of pods.
func TestWritesOfTheJobThatWasRead(t *testing.T) {
	begun := newScene(t, 1).begin()
	pod := begun.pod(0, corev1.PodRunning)

	ended := newScene(t, 1).begin()
	ended.prove(0)

	failed := newScene(t, 1, overdue).begin()
	failed.Child = nil
	failed.write(failed.plan())
	failed.Job.Status.StartTime = ptr.To(metav1.NewTime(noon))
	failed.later(time.Minute)

	for name, c := range map[string]struct {
		scene  *scene
		asRead bool
	}{
		"entries":  {newScene(t, 1), true},
		"running":  {begun, false},
		"complete": {ended, true},
		"failed":   {failed, true},
	} {
		t.Run(name, func(t *testing.T) {
			on := &recorder{refuse: map[string]error{}}
			if _, err := c.scene.carryOut(on); err != nil {
				t.Fatal(err)
			}
			if on.status == nil {
				t.Fatal("no status was written")
			}
			version := ""
			if c.asRead {
				version = "7"
			}
			if got := ptr.Deref(on.status.ResourceVersion, ""); got != version {
				t.Errorf("resourceVersion %q, want %q", got, version)
			}
		})
	}

	// While pods work no write is of the job that was read, whatever it tells.
	begun.Job.Spec.ActiveDeadlineSeconds = ptr.To[int64](1)
	begun.later(time.Minute)
	if p := begun.plan(); condition(p, api.ConditionFailureTarget).Status != metav1.ConditionTrue || p.AsRead {
		t.Errorf("while pod %s is ended: %+v", pod.Name, p)
	}
}

// A write that came too late is no fault: the job is planned anew.
func TestConflictIsTriedAgain(t *testing.T) {
	conflict := apierrors.NewConflict(api.Resource("proofjobs"), "batch", errors.New("modified"))
	expired := newScene(t, 1, func(j *api.ProofJob) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) }).begin()
	expired.prove(0)
	expired.write(expired.plan())
	expired.later(time.Minute)
	for write, s := range map[string]*scene{"status": newScene(t, 1), deleteJob: expired} {
		on := &recorder{refuse: map[string]error{write: conflict}}
		result, err := s.carryOut(on)
		if err != nil || result.RequeueAfter == 0 {
			t.Errorf("%s: again after %s, error %v", write, result.RequeueAfter, err)
		}
		if diff := cmp.Diff([]string{write}, on.writes); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	}
}
