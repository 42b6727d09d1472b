package proofjob

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// Event is told about a job once the status that it is about was written.
type Event struct {
	// Type is Normal or Warning.
	Type string
	// Reason is the condition's.
	Reason string
	// Action is what the operator did.
	Action string
	Note   string
}

// transitions makes one event for each condition that turned, and none for what stays.
func (p *planner) transitions(was *api.ProofJobStatus) {
	for i := range p.status.Conditions {
		c := &p.status.Conditions[i]
		old := meta.FindStatusCondition(was.Conditions, c.Type)
		if old != nil && old.Status == c.Status && old.Reason == c.Reason {
			continue
		}
		if e, ok := eventOf(old, c); ok {
			p.plan.Events = append(p.plan.Events, e)
		}
	}
}

func eventOf(old, c *metav1.Condition) (Event, bool) {
	e := Event{Type: corev1.EventTypeNormal, Reason: c.Reason, Note: c.Message}
	isTrue := c.Status == metav1.ConditionTrue
	switch c.Type {
	case api.ConditionKeyReady:
		if isTrue && old == nil {
			return e, false // as it should be
		}
		e.Action = "ResolveKey"
		if !isTrue {
			e.Type = corev1.EventTypeWarning
		}
	case api.ConditionSuspended:
		if !isTrue && (old == nil || old.Status != metav1.ConditionTrue) {
			return e, false
		}
		e.Action = "Resume"
		if isTrue {
			e.Action = "Suspend"
		}
	case api.ConditionRunning:
		e.Action = "Run"
		switch c.Reason {
		case api.ReasonPodsRunning:
		case api.ReasonUnschedulable, api.ReasonVolumeNotReady, api.ReasonImagePullFailed, api.ReasonContainerFailed,
			api.ReasonJobCreationFailed, api.ReasonNameConflict:
			e.Type = corev1.EventTypeWarning
		default:
			return e, false
		}
	case api.ConditionFailureTarget:
		e.Action, e.Type = "Fail", corev1.EventTypeWarning
	case api.ConditionFailed:
		if old == nil { // FailureTarget told it before, or tells it with this write
			return e, false
		}
		e.Action, e.Type = "Fail", corev1.EventTypeWarning
	case api.ConditionComplete:
		e.Action = "Complete"
	default:
		return e, false
	}
	return e, true
}
