package proofjob

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
)

// running tells whether pods run, and once they have been pending for Config.PendingGrace, why not.
func (p *planner) running() {
	if p.ended {
		return
	}
	not := func(reason, message string) {
		p.condition(api.ConditionRunning, metav1.ConditionFalse, reason, message)
	}
	pods, run := p.livePods(), 0
	for _, pod := range p.o.Pods {
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			run++
		}
	}
	switch was := p.was(api.ConditionRunning); {
	case p.o.Refused != nil:
		not(p.o.Refused.Reason, p.o.Refused.Message)
		p.lookAgain(p.refusalBackoff())
	case p.o.Foreign:
		not(api.ReasonNameConflict, fmt.Sprintf("There is a Job %s in namespace %s that does not belong to this ProofJob: delete it, or create the ProofJob under another name.", p.o.Job.Name, p.o.Job.Namespace))
		p.lookAgain(p.refusalBackoff()) // nothing wakes the job when that one is gone
	case run > 0:
		p.condition(api.ConditionRunning, metav1.ConditionTrue, api.ReasonPodsRunning, fmt.Sprintf("%d of %d pods run.", run, pods))
	case p.held:
		not(api.ReasonSuspended, "The job is suspended.")
	case !p.key && p.o.Child == nil:
		not(api.ReasonWaitingForKey, "The job waits for its proving key: see the condition KeyReady.")
	case p.failing():
		p.keepOr(was, api.ReasonPodsPending, "The job is failing.")
	case pods > 0:
		reason, message, settled := p.whyPending()
		if settled {
			not(reason, message)
		} else {
			p.keepOr(was, api.ReasonPodsPending, "The pods were created and do not run yet.")
		}
	default:
		p.noPods(was)
	}
}

// refusalBackoff is when a creation that was refused is tried again: the longer it has been, the later, from 2 seconds to
// 2 minutes. Nothing tells when a quota has room or a name is free.
func (p *planner) refusalBackoff() time.Duration {
	c := meta.FindStatusCondition(p.status.Conditions, api.ConditionRunning)
	return min(max(p.now.Sub(c.LastTransitionTime.Time)/4, 2*time.Second), 2*time.Minute)
}

// keepOr leaves the condition Running as it is, or begins it.
func (p *planner) keepOr(was metav1.Condition, reason, message string) {
	switch was.Reason {
	case "", api.ReasonSuspended, api.ReasonWaitingForKey, api.ReasonNameConflict, api.ReasonJobCreationFailed:
		p.condition(api.ConditionRunning, metav1.ConditionFalse, reason, message)
	}
}

// noPods explains a Job without pods. Why the Job controller cannot create any is only in its events.
func (p *planner) noPods(was metav1.Condition) {
	c := p.o.Child
	if c == nil || c.Status.StartTime == nil || c.DeletionTimestamp != nil || p.childFinished() || len(p.o.Pods) > 0 {
		p.keepOr(was, api.ReasonPodsPending, "The Job is being created.")
		return
	}
	patience := c.Status.StartTime.Add(10 * time.Second)
	if p.now.Before(patience) {
		p.lookAgainAt(patience)
		p.keepOr(was, api.ReasonPodsPending, "The pods are being created.")
		return
	}
	if p.o.CreationFailure == nil {
		p.plan.ReadCreationFailure = true
		return
	}
	p.lookAgain(time.Minute)
	if *p.o.CreationFailure == "" {
		p.keepOr(was, api.ReasonPodsPending, "The pods are being created.")
		return
	}
	p.condition(api.ConditionRunning, metav1.ConditionFalse, api.ReasonJobCreationFailed, "The Job's pods cannot be created: "+text.Sentence(*p.o.CreationFailure))
}

// whyPending finds the reason of the pod that has been pending longest; settled is false before Config.PendingGrace.
func (p *planner) whyPending() (reason, message string, settled bool) {
	var oldest *corev1.Pod
	for _, pod := range p.o.Pods {
		if pod.Status.Phase == corev1.PodPending && pod.DeletionTimestamp == nil &&
			(oldest == nil || pod.CreationTimestamp.Before(&oldest.CreationTimestamp)) {
			oldest = pod
		}
	}
	if oldest == nil {
		return "", "", false
	}
	if patience := oldest.CreationTimestamp.Add(p.cfg.PendingGrace); p.now.Before(patience) {
		p.lookAgainAt(patience)
		return "", "", false
	}
	reason, message = pendingReason(oldest)
	if reason == api.ReasonPodsPending || reason == api.ReasonVolumeNotReady {
		p.lookAgain(time.Minute) // a pod's conditions wake nobody
	}
	return reason, fmt.Sprintf("Pod %s: %s", oldest.Name, text.Sentence(message)), true
}

func pendingReason(pod *corev1.Pod) (reason, message string) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return api.ReasonUnschedulable, c.Message
		}
	}
	if pod.Spec.NodeName == "" {
		return api.ReasonUnschedulable, "no scheduler has looked at the pod"
	}
	for i := range pod.Status.ContainerStatuses {
		w := pod.Status.ContainerStatuses[i].State.Waiting
		if w == nil {
			continue
		}
		message := w.Reason
		if w.Message != "" {
			message += ": " + w.Message
		}
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
			return api.ReasonImagePullFailed, message
		case "ContainerCreating", "PodInitializing":
		default:
			return api.ReasonContainerFailed, message
		}
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReadyToStartContainers && c.Status == corev1.ConditionFalse {
			return api.ReasonVolumeNotReady, fmt.Sprintf("a volume cannot be attached or mounted on node %s, or the network is not set up: see kubectl describe pod %s", pod.Spec.NodeName, pod.Name)
		}
	}
	return api.ReasonPodsPending, "the pod is being started on node " + pod.Spec.NodeName
}
