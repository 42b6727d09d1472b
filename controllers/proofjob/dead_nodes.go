package proofjob

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// lostReason is the reason of the condition DisruptionTarget of pods that are given up here.
const lostReason = "NodeNotReady"

// deadNodes gives up the pods of nodes that have not been Ready for longer than Config.NodeDeadAfter. Nobody else does:
// the kubelet that could confirm the pod's end is gone, and with podReplacementPolicy Failed the retry would wait for it
// for ever. A node whose kubelet still answers (Ready is False, not Unknown) can end its pods itself, so there only pods
// that were already deleted and did not go are given up.
func (p *planner) deadNodes() {
	for _, pod := range p.o.Pods {
		node, known := p.o.Nodes[pod.Spec.NodeName]
		if !known { // unscheduled, or the node is gone: then the pod garbage collector does it
			continue
		}
		ready := readyCondition(node)
		if ready == nil || ready.Status == corev1.ConditionTrue {
			continue
		}
		since := ready.LastTransitionTime.Time
		if ready.Status == corev1.ConditionFalse {
			if pod.DeletionTimestamp == nil {
				continue
			}
			if pod.DeletionTimestamp.After(since) {
				since = pod.DeletionTimestamp.Time
			}
		}
		forced := pod.DeletionTimestamp != nil && ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0
		if podEnded(pod) && (forced || (pod.DeletionTimestamp == nil && !givenUp(pod))) {
			continue // it lies there for its log, or is as good as gone
		}
		dead := since.Add(p.cfg.NodeDeadAfter)
		switch {
		case p.now.Before(dead):
			p.lookAgainAt(dead)
		case podEnded(pod):
			p.act(DeletePod{Name: pod.Name, UID: pod.UID, Force: true})
		default:
			p.act(FailPod{
				Name: pod.Name, UID: pod.UID, Node: pod.Spec.NodeName,
				Message: fmt.Sprintf("node %s has not been ready for %s", pod.Spec.NodeName, p.cfg.NodeDeadAfter),
			})
		}
	}
	p.rejectedPods()
}

func givenUp(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Reason == lostReason
	})
}

func readyCondition(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c
		}
	}
	return nil
}

// rejectedPods removes pods that a kubelet rejected (a GPU was lost between scheduling and start), but for the newest of
// each index: they never ran, so that they hold nothing to look at, and a node that rejects every pod makes many.
func (p *planner) rejectedPods() {
	keep := map[types.UID]bool{}
	for i := range p.partitions {
		if pod := p.partitions[i].pod; pod != nil {
			keep[pod.UID] = true
		}
	}
	for _, pod := range p.o.Pods {
		if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == "UnexpectedAdmissionError" &&
			pod.DeletionTimestamp == nil && !keep[pod.UID] && !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			p.act(DeletePod{Name: pod.Name, UID: pod.UID})
		}
	}
}
