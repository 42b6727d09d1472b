//go:build apiserver

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// lastWord is a termination message.
func lastWord(t order.Termination) string {
	return string(t.Marshal(func(p string) string { return p }))
}

// failing ends with the exit code of a class.
func failing(class failure.Class, message string) (int32, string) {
	return int32(class.ExitCode()), lastWord(order.Termination{Class: string(class), Message: message})
}

func partition(t *testing.T, job *api.ProofJob, index int, state api.PartitionState, reason string) api.PartitionStatus {
	t.Helper()
	e := job.Status.Partitions[index]
	if e.State != state || e.Reason != reason {
		t.Errorf("partition %d is %s, reason %q (%s); want %s, %q", index, e.State, e.Reason, e.Message, state, reason)
	}
	return e
}

// eventOf waits for the one event of a reason about a job.
func eventOf(t *testing.T, job *api.ProofJob, reason string) eventsv1.Event {
	t.Helper()
	var found []eventsv1.Event
	eventually(t, job, "an event "+reason, func(*api.ProofJob) bool {
		var list eventsv1.EventList
		if err := admin.List(t.Context(), &list, client.InNamespace(job.Namespace)); err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return e.Regarding.UID != job.UID || e.Reason != reason })
		return len(found) > 0
	})
	if len(found) > 1 {
		t.Errorf("%d events %s: %+v", len(found), reason, found)
	}
	return found[0]
}

func TestFailures(t *testing.T) {
	namespace, key := newNamespace(t)
	operator(t, namespace)

	t.Run("BadInputFailsAlone", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "bad-input", 3)
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			if p.index() == 1 {
				return failing(failure.Input, "constraint 17 does not hold")
			}
			return honest(key)(ctx, p)
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
		partition(t, job, 0, api.PartitionSucceeded, api.ReasonAgainstDeclaredInputs)
		e := partition(t, job, 1, api.PartitionFailed, api.ReasonInvalidInput)
		partition(t, job, 2, api.PartitionSucceeded, api.ReasonAgainstDeclaredInputs)
		if e.Attempts != 1 || e.Message != "Constraint 17 does not hold." {
			t.Errorf("%d attempts, message %q", e.Attempts, e.Message)
		}
		if job.Status.Partitions[0].Report.Proof == "" {
			t.Error("the proof of a good partition did not stay")
		}
		budget(t, namespace, "bad-input", 3)
	})

	t.Run("FaultThatPassesIsTriedAgain", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "retry", 1)
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			if p.attempt() == 1 {
				return failing(failure.IO, "connection reset")
			}
			return honest(key)(ctx, p)
		})
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
		if e := job.Status.Partitions[0]; e.Attempts != 2 {
			t.Errorf("%d attempts", e.Attempts)
		}
	})

	t.Run("BackoffLimit", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "limit", 1, func(j *api.ProofJob) { j.Spec.BackoffLimitPerPartition = ptr.To[int32](0) })
		start(t, job, func(context.Context, *proverPod) (int32, string) { return failing(failure.Memory, "12 GiB are wanted") })
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
		partition(t, job, 0, api.PartitionFailed, api.ReasonBackoffLimitExceeded)
	})

	t.Run("UnusableKeyFailsTheJob", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "bad-key", 3)
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			if p.index() == 0 {
				return failing(failure.Key, "circuit.zkey: section 4 is cut off")
			}
			<-ctx.Done() // until the Job ends the pod
			return 143, ""
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonInvalidKey)
		if c := meta.FindStatusCondition(job.Status.Conditions, api.ConditionFailed); c.Message != "Circuit.zkey: section 4 is cut off." {
			t.Errorf("message %q", c.Message)
		}
		partition(t, job, 2, api.PartitionFailed, api.ReasonNotProved)
		budget(t, namespace, "bad-key", 3)
	})

	t.Run("ExitCodeIsNoProof", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "no-proof", 2)
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			if p.index() == 0 {
				return 0, ""
			}
			return honest(key)(ctx, p)
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonProofMissing)
		partition(t, job, 1, api.PartitionSucceeded, api.ReasonAgainstDeclaredInputs)
	})

	t.Run("ProofOfAnotherInput", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "other-input", 2)
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			// Both prove what input 0 declares.
			if err := p.report(ctx, p.index(), p.done(key.Proof(0), "0")); err != nil {
				return 7, err.Error()
			}
			return 0, ""
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
		becomes(t, job, api.ConditionVerified, metav1.ConditionFalse, api.ReasonPublicInputsMismatch)
		partition(t, job, 0, api.PartitionSucceeded, api.ReasonAgainstDeclaredInputs)
		partition(t, job, 1, api.PartitionFailed, api.ReasonPublicInputsMismatch)
	})

	t.Run("LiesAboutTheInput", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "liar", 2)
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			// Claims to be about its own input, with a proof of another one.
			if err := p.report(ctx, p.index(), p.done(key.Proof(7), fmt.Sprint(p.index()))); err != nil {
				return 7, err.Error()
			}
			return 0, ""
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
		partition(t, job, 0, api.PartitionFailed, api.ReasonProofInvalid)
		partition(t, job, 1, api.PartitionFailed, api.ReasonProofInvalid)
	})

	t.Run("SameProofTwice", func(t *testing.T) {
		t.Parallel()
		proof := key.Proof(5)
		job := newJob(namespace, "twice", 2, func(j *api.ProofJob) {
			j.Spec.Inputs[0].PublicInputs, j.Spec.Inputs[1].PublicInputs = nil, nil
		})
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			if err := p.report(ctx, p.index(), p.done(proof, "5")); err != nil {
				return 7, err.Error()
			}
			return 0, ""
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
		good, bad := 0, 0
		for _, e := range job.Status.Partitions {
			switch {
			case e.State == api.PartitionSucceeded && e.Reason == api.ReasonAgainstReportedInputs:
				good++
			case e.State == api.PartitionFailed && e.Reason == api.ReasonDuplicateProof:
				bad++
			}
		}
		if good != 1 || bad != 1 {
			t.Errorf("partitions %+v", job.Status.Partitions)
		}
	})

	t.Run("InputChanged", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "changed", 2)
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			if p.index() == 1 {
				<-ctx.Done()
				return 143, ""
			}
			r := p.done("", "")
			r.PublicInputs, r.Timings, r.Stage = nil, nil, api.StageSynth
			r.InputDigest = "sha256:" + strings.Repeat(fmt.Sprint(p.attempt()), 64)
			if err := p.report(ctx, 0, r); err != nil {
				return 7, err.Error()
			}
			return failing(failure.IO, "disk full")
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonInputChanged)
	})

	t.Run("TerminationMessageIsNoReport", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "no-report", 1)
		start(t, job, func(context.Context, *proverPod) (int32, string) {
			return 0, lastWord(order.Termination{Partitions: []order.TerminationPartition{{Index: 0, Proof: "not <a> proof"}}})
		})
		becomes(t, job, api.ConditionFailed, metav1.ConditionTrue, api.ReasonPartitionsFailed)
		partition(t, job, 0, api.PartitionFailed, api.ReasonProofInvalid)
	})

	t.Run("TerminationMessageStandsIn", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "message", 2)
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			return 0, lastWord(order.Termination{Partitions: []order.TerminationPartition{{
				Index: p.index(), Proof: key.Proof(int64(p.index())), PublicInputs: []string{fmt.Sprint(p.index())},
				Milliseconds: []int64{1, 2, 3, 4, 5, 15}, Backend: "CPU",
			}}})
		})
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
		if r := job.Status.Partitions[1].Report; r == nil || !strings.HasPrefix(r.PodName, "message-1-") || *r.Timings.TotalMilliseconds != 15 {
			t.Errorf("report %+v", r)
		}
	})

	t.Run("WithdrawnDevice", func(t *testing.T) {
		t.Parallel()
		job := newJob(namespace, "withdrawn", 1)
		device := api.WithdrawnDevice{UUID: "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", Name: "NVIDIA H200", Reason: "it computed a wrong proof"}
		start(t, job, func(ctx context.Context, p *proverPod) (int32, string) {
			r := p.done(key.Proof(0), "0")
			r.Backend, r.Refusals, r.WithdrawnDevices = api.BackendCUDA, 1, []api.WithdrawnDevice{device}
			if err := p.report(ctx, 0, r); err != nil {
				return 7, err.Error()
			}
			return 0, ""
		})
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
		if r := job.Status.Partitions[0].Report; r.Refusals != 1 || len(r.WithdrawnDevices) != 1 || r.WithdrawnDevices[0] != device {
			t.Errorf("report %+v", r)
		}
		e := eventOf(t, job, api.ReasonDeviceWithdrawn)
		if e.Type != corev1.EventTypeWarning || !strings.Contains(e.Note, "on node node-a gives GPU "+device.UUID) || e.Series != nil {
			t.Errorf("event %+v", e)
		}
		budget(t, namespace, "withdrawn", 1)
	})

	t.Run("NameTaken", func(t *testing.T) {
		t.Parallel()
		taken := newChildOfSomeone(namespace, "taken")
		create(t, taken)
		job := newJob(namespace, "taken", 1)
		start(t, job, honest(key))
		becomes(t, job, api.ConditionRunning, metav1.ConditionFalse, api.ReasonNameConflict)
		if err := admin.Delete(t.Context(), taken, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
		becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
	})
}

// What a quota forbids shows in the status, for the Job and for its pods.
func TestQuota(t *testing.T) {
	for _, c := range []struct{ name, resource string }{{"jobs", "count/jobs.batch"}, {"pods", "pods"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			namespace, key := newNamespace(t)
			operator(t, namespace)
			quota := &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "none"},
				Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceName(c.resource): resource.MustParse("0")}},
			}
			create(t, quota)
			// No quota controller runs here; admission wants to see that it has counted.
			quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: corev1.ResourceList{corev1.ResourceName(c.resource): resource.MustParse("0")}}
			if err := admin.Status().Update(t.Context(), quota); err != nil {
				t.Fatal(err)
			}
			job := newJob(namespace, "job", 1)
			start(t, job, honest(key))
			becomes(t, job, api.ConditionRunning, metav1.ConditionFalse, api.ReasonJobCreationFailed)
			if m := meta.FindStatusCondition(job.Status.Conditions, api.ConditionRunning).Message; !strings.Contains(m, "exceeded quota: none") {
				t.Errorf("message %q", m)
			}
			if err := admin.Delete(t.Context(), quota); err != nil {
				t.Fatal(err)
			}
			becomes(t, job, api.ConditionComplete, metav1.ConditionTrue, "")
		})
	}
}
