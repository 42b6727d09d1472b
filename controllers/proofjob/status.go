package proofjob

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
)

// writeStatus completes the wanted status and decides whether a write is due. What merely moves on (a message, another
// partition running) waits for a write that is.
func (p *planner) writeStatus() {
	s := p.status
	s.ObservedGeneration = p.o.Job.Generation
	status, reason, message := p.verified()
	p.condition(api.ConditionVerified, status, reason, message)
	s.State = p.state()
	s.Partitions = make([]api.PartitionStatus, len(p.partitions))
	succeeded := 0
	for i := range p.partitions {
		s.Partitions[i] = p.partitions[i].is
		if p.partitions[i].is.State == api.PartitionSucceeded {
			succeeded++
		}
	}
	boundMessages(s.Partitions)
	s.Progress = strconv.Itoa(succeeded) + "/" + strconv.Itoa(len(p.partitions))
	p.timings()
	s.Summary.Reason = p.summaryReason()

	was := withoutReports(p.o.Job.Status)
	if equality.Semantic.DeepEqual(was, *s) {
		return
	}
	p.plan.WriteStatus = p.due(&was)
	// Pods write nothing before the entries are there nor after the end, so that these writes lose no race with them.
	p.plan.AsRead = p.ended || !p.entriesWritten()
	if p.plan.WriteStatus {
		p.transitions(&was)
	}
}

// due says that a status differs in something that somebody waits for.
func (p *planner) due(was *api.ProofJobStatus) bool {
	s := p.status
	return was.State != s.State ||
		was.ObservedGeneration != s.ObservedGeneration ||
		len(was.Partitions) != len(s.Partitions) ||
		!equality.Semantic.DeepEqual(was.ProvingKey, s.ProvingKey) ||
		conditionsChanged(was.Conditions, s.Conditions) ||
		p.retryNeedsProgress(was) ||
		len(p.o.RefusedReports) > 0 || // or they would be tried again with each look
		p.milestone(s.Partitions) > p.milestone(was.Partitions)
}

// milestone counts the progress writes that the final ones of a job's partitions are worth: n/32, and one more for a job
// that cannot run out of time or of partitions that may fail. A job that does needs that write for its end.
func (p *planner) milestone(partitions []api.PartitionStatus) int {
	steps := 1 + len(p.partitions)/32
	if p.o.Job.Spec.ActiveDeadlineSeconds == nil && p.circuit.maxFailed == nil {
		steps++
	}
	return finals(partitions) * steps / len(p.partitions)
}

func finals(partitions []api.PartitionStatus) int {
	n := 0
	for i := range partitions {
		if s := partitions[i].State; s == api.PartitionSucceeded || s == api.PartitionFailed {
			n++
		}
	}
	return n
}

// retryNeedsProgress says that a pod failed of whose partitions some have proofs that no status tells of yet. The pod
// that comes after it would compute them again.
func (p *planner) retryNeedsProgress(was *api.ProofJobStatus) bool {
	per := p.circuit.partitionsPerPod
	if per == 1 {
		return false
	}
	unproved := map[int32]bool{}
	for i := range p.partitions {
		if x := &p.partitions[i]; !x.final() && x.word != nil {
			unproved[x.index/per] = true
		}
	}
	for i := range p.partitions {
		x := &p.partitions[i]
		if unproved[x.index/per] && x.is.State == api.PartitionSucceeded && x.was.State != api.PartitionSucceeded {
			return true
		}
	}
	return false
}

// conditionsChanged compares status and reason; a message alone may wait.
func conditionsChanged(was, is []metav1.Condition) bool {
	if len(was) != len(is) {
		return true
	}
	for i := range is {
		c := meta.FindStatusCondition(was, is[i].Type)
		if c == nil || c.Status != is[i].Status || c.Reason != is[i].Reason {
			return true
		}
	}
	return false
}

// state sums the conditions up.
func (p *planner) state() api.ProofJobState {
	is := func(kind string) bool { return meta.IsStatusConditionTrue(p.status.Conditions, kind) }
	switch {
	case is(api.ConditionComplete):
		return api.ProofJobSucceeded
	case is(api.ConditionFailed):
		return api.ProofJobFailed
	case is(api.ConditionSuspended):
		return api.ProofJobSuspended
	case is(api.ConditionRunning), p.o.Job.Status.State == api.ProofJobRunning, finals(p.o.Job.Status.Partitions) > 0:
		return api.ProofJobRunning
	default:
		return api.ProofJobPending
	}
}

// summaryReason is why the job is in its state, for the last column of kubectl get -o wide.
func (p *planner) summaryReason() string {
	reason := func(kind string) string {
		if c := meta.FindStatusCondition(p.status.Conditions, kind); c != nil {
			return c.Reason
		}
		return ""
	}
	switch p.status.State {
	case api.ProofJobSucceeded:
		return reason(api.ConditionComplete)
	case api.ProofJobFailed:
		return reason(api.ConditionFailed)
	case api.ProofJobSuspended:
		return reason(api.ConditionSuspended)
	}
	if r := reason(api.ConditionFailureTarget); r != "" {
		return r
	}
	if !meta.IsStatusConditionTrue(p.status.Conditions, api.ConditionKeyReady) && reason(api.ConditionRunning) == api.ReasonWaitingForKey {
		return reason(api.ConditionKeyReady)
	}
	return reason(api.ConditionRunning)
}

// withoutReports is a copy of a status without what is the pods'.
func withoutReports(s api.ProofJobStatus) api.ProofJobStatus {
	c := s // reports are large and shared: do not copy them only to drop them
	c.Partitions = nil
	out := *c.DeepCopy()
	if s.Partitions != nil {
		out.Partitions = make([]api.PartitionStatus, len(s.Partitions))
		for i, e := range s.Partitions {
			e.Report = nil
			out.Partitions[i] = *e.DeepCopy()
		}
	}
	if out.Summary == nil {
		out.Summary = &api.ProofJobSummary{}
	}
	return out
}

// setCondition is meta.SetStatusCondition with a given time and a bounded message.
func setCondition(conditions *[]metav1.Condition, c metav1.Condition, now time.Time) {
	c.Message = text.Cut(c.Message, api.MaxMessageLength)
	c.LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
	meta.SetStatusCondition(conditions, c)
}

// boundMessages keeps the messages of all partitions together within their bound, giving each the same room. Where that
// is too little for a sentence, the first ones keep theirs.
func boundMessages(partitions []api.PartitionStatus) {
	n := 0
	for i := range partitions {
		if partitions[i].Message != "" {
			n++
		}
	}
	if n == 0 {
		return
	}
	room := min(max(api.MaxPartitionMessageBytes/n, 128), api.MaxMessageLength)
	left := api.MaxPartitionMessageBytes / room
	for i := range partitions {
		if partitions[i].Message == "" {
			continue
		}
		if left == 0 {
			partitions[i].Message = ""
			continue
		}
		partitions[i].Message = text.Cut(partitions[i].Message, room)
		left--
	}
}
