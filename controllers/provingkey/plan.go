package provingkey

import (
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
	"github.com/cuzk-dev/cuzk/controllers/internal/verifyingkey"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// Observation is all that a plan depends on but the time.
type Observation struct {
	Key *api.ProvingKey
	// Content is the verifying key as found, nil if it is nowhere yet.
	Content *Content
	// ContentErr is why it could not be read or used.
	ContentErr error
	// MissingSource names a ConfigMap or claim of the key's files that is not there.
	MissingSource string

	// Inspection is the Job that looks at the key's files, nil if there is none; Foreign that the name is taken.
	Inspection *batchv1.Job
	Foreign    bool
	// Pods are those of the inspection.
	Pods []*corev1.Pod
	// Result is what the pod that ended well found, nil if none has.
	Result *order.InspectionResult
	// Failure is the last word of a pod that failed.
	Failure string
}

// Content is a verifying key that was read and is sound.
type Content struct {
	Location    api.VerifyingKeyLocation
	Public      int64
	Commitments int32
	// Parameters names the Filecoin circuit of whose published parameters it is the verifying key, "" if it is none.
	Parameters string
}

// Plan is what is to be done for a key.
type Plan struct {
	Status      api.ProvingKeyStatus
	WriteStatus bool
	// Inspect makes the inspection Job and what it needs.
	Inspect bool
	// Seal makes the ConfigMaps of an inspection immutable, and EndInspection deletes its Job.
	Seal          []string
	EndInspection bool
	RequeueAfter  time.Duration
}

const (
	// recheck is how often a ready key is looked at: nothing tells of a ConfigMap that was deleted.
	recheck = 10 * time.Minute
	// retry is how often something that is missing is looked for.
	retry = 15 * time.Second
)

// MakePlan decides what to do. It is pure.
func MakePlan(o *Observation, now time.Time) Plan {
	p := &planner{o: o, now: now}
	p.plan.Status = *o.Key.Status.DeepCopy()
	p.status = &p.plan.Status
	if o.Key.DeletionTimestamp != nil {
		return Plan{}
	}
	p.status.ObservedGeneration = o.Key.Generation
	p.decide()
	p.plan.WriteStatus = !equality.Semantic.DeepEqual(o.Key.Status, p.plan.Status)
	return p.plan
}

type planner struct {
	o      *Observation
	now    time.Time
	plan   Plan
	status *api.ProvingKeyStatus
}

func (p *planner) decide() {
	o, key := p.o, p.o.Key
	var digest *verifyingkey.DigestError
	var missing *verifyingkey.NotFoundError
	switch {
	case errors.As(o.ContentErr, &digest):
		p.notReady(api.ReasonDigestMismatch, text.Sentence(digest.Error())+" The content of a key cannot change: create a new ProvingKey.", true)
		p.plan.RequeueAfter = recheck
	case errors.As(o.ContentErr, &missing):
		p.notReady(api.ReasonSourceNotFound, text.Sentence(missing.Error())+" Create it, or name the right one in a new ProvingKey.", p.wasReady())
		p.plan.RequeueAfter = retry
	case o.ContentErr != nil:
		p.notReady(api.ReasonVerifyingKeyInvalid, "The verifying key cannot be used: "+text.Sentence(o.ContentErr.Error()), p.wasReady())
		p.plan.RequeueAfter = recheck
	case o.MissingSource != "":
		p.notReady(api.ReasonSourceNotFound, o.MissingSource, p.wasReady())
		p.plan.RequeueAfter = retry
	case o.Content != nil:
		p.ready()
	case key.Spec.Format == api.KeyFormatGnark && key.Spec.Files.VerifyingKey == nil:
		p.notReady(api.ReasonVerifyingKeyMissing, "A proving key of gnark does not hold its verifying key: add files.verifyingKey in a new ProvingKey.", false)
	default:
		p.inspect()
	}
}

// ready takes over the content that was read and checked.
func (p *planner) ready() {
	s, c := p.status, p.o.Content
	s.VerifyingKey = &c.Location
	facts := s.Facts
	if facts == nil {
		facts = &api.CircuitFacts{}
	}
	if r := p.o.Result; r != nil {
		facts.Constraints, facts.Wires, facts.DomainSize = positive(r.Constraints), positive(r.Wires), positive(r.DomainSize)
		facts.StructureDigest, facts.Parameters = api.Digest(r.StructureDigest), r.Parameters
		s.ProvingKeyDigest = api.Digest(r.ProvingKeyDigest)
	}
	facts.PublicInputs = ptr.To(c.Public)
	if c.Parameters != "" {
		facts.Parameters = c.Parameters
	}
	facts.Commitments = nil
	if c.Commitments > 0 {
		facts.Commitments = ptr.To(c.Commitments)
	}
	s.Facts = facts
	p.condition(api.ConditionReady, metav1.ConditionTrue, api.ReasonVerifyingKeyLoaded, fmt.Sprintf("The verifying key is sound; public inputs: %d.", c.Public))
	p.condition(api.ConditionDegraded, metav1.ConditionFalse, api.ReasonAsExpected, "Nothing is wrong with the key.")
	// What an inspection found goes with its pod: it is ended only when the status is known to hold it. The status's write
	// makes the next plan.
	written := p.o.Key.Status.VerifyingKey != nil
	if written && p.o.Inspection != nil && p.o.Inspection.DeletionTimestamp == nil {
		for i := range c.Location.ConfigMaps {
			p.plan.Seal = append(p.plan.Seal, c.Location.ConfigMaps[i].Name)
		}
		p.plan.EndInspection = true
	}
	p.plan.RequeueAfter = recheck
}

// inspect has a pod read the verifying key out of the key's files.
func (p *planner) inspect() {
	o := p.o
	name := InspectionName(o.Key)
	switch {
	case o.Foreign:
		p.notReady(api.ReasonInspectionFailed, fmt.Sprintf("The key's files cannot be inspected: there is a Job %s that does not belong to this ProvingKey. Delete it.", name), false)
		p.plan.RequeueAfter = retry
	case o.Inspection == nil:
		p.plan.Inspect = true
		p.notReady(api.ReasonInspecting, "A pod is being created that reads the verifying key out of the key's files.", false)
	case inspectionFailed(o.Inspection):
		why := o.Failure
		if why == "" {
			why = "see the log of its pod"
		}
		p.notReady(api.ReasonInspectionFailed, fmt.Sprintf("The key's files could not be inspected: %s To try again, delete Job %s.", text.Sentence(why), name), false)
	default:
		message := fmt.Sprintf("Job %s reads the verifying key out of the key's files.", name)
		if why := p.pendingFor(time.Minute); why != "" {
			message += " Its pod does not run: " + text.Sentence(why)
		}
		p.notReady(api.ReasonInspecting, message, false)
	}
}

func inspectionFailed(job *batchv1.Job) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// pendingFor says why a pod has been pending for longer than d.
func (p *planner) pendingFor(d time.Duration) string {
	for _, pod := range p.o.Pods {
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		if late := pod.CreationTimestamp.Add(d); p.now.Before(late) {
			p.plan.RequeueAfter = max(late.Sub(p.now), time.Second)
			continue
		}
		for i := range pod.Status.Conditions {
			if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				return c.Message
			}
		}
		for i := range pod.Status.ContainerStatuses {
			if w := pod.Status.ContainerStatuses[i].State.Waiting; w != nil && w.Reason != "" {
				return w.Reason + ": " + w.Message
			}
		}
		return "it is being started on node " + pod.Spec.NodeName
	}
	return ""
}

func (p *planner) wasReady() bool { return p.o.Key.Status.VerifyingKey != nil }

// notReady says why jobs cannot use the key; degraded, that they could before.
func (p *planner) notReady(reason, message string, degraded bool) {
	p.condition(api.ConditionReady, metav1.ConditionFalse, reason, message)
	if degraded {
		p.condition(api.ConditionDegraded, metav1.ConditionTrue, reason, message)
	} else {
		p.condition(api.ConditionDegraded, metav1.ConditionFalse, api.ReasonAsExpected, "Nothing is wrong with the key.")
	}
}

func (p *planner) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&p.status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: text.Cut(message, api.MaxMessageLength),
		ObservedGeneration: p.o.Key.Generation,
		LastTransitionTime: metav1.NewTime(p.now).Rfc3339Copy(),
	})
}

func positive(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}
