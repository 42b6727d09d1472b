package proofjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// jobChanged lets those updates of a ProofJob through that a plan may depend on. Prover pods report their progress into
// the same object, far more often than anything is to be done.
func jobChanged() predicate.TypedPredicate[*api.ProofJob] {
	return predicate.TypedFuncs[*api.ProofJob]{
		UpdateFunc: func(e event.TypedUpdateEvent[*api.ProofJob]) bool {
			a, b := e.ObjectOld, e.ObjectNew
			return a.UID != b.UID ||
				a.Generation != b.Generation ||
				a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() ||
				!equality.Semantic.DeepEqual(a.Status.Conditions, b.Status.Conditions) ||
				a.Status.ObservedGeneration != b.Status.ObservedGeneration ||
				entriesChanged(a.Status.Partitions, b.Status.Partitions)
		},
	}
}

func entriesChanged(a, b []api.PartitionStatus) bool {
	if len(a) != len(b) {
		return true
	}
	for i := range a {
		if a[i].State != b[i].State || reportChanged(a[i].Report, b[i].Report) {
			return true
		}
	}
	return false
}

// reportChanged leaves out stage and progress of a report that is not complete yet.
func reportChanged(a, b *api.PartitionReport) bool {
	if a == nil || b == nil {
		return a != b
	}
	return a.PodUID != b.PodUID || a.InputDigest != b.InputDigest ||
		(a.Stage == api.StageDone) != (b.Stage == api.StageDone) ||
		a.Proof != b.Proof || a.PublicInputsDigest != b.PublicInputsDigest ||
		!equality.Semantic.DeepEqual(a.PublicInputs, b.PublicInputs) ||
		!equality.Semantic.DeepEqual(a.WithdrawnDevices, b.WithdrawnDevices) ||
		!equality.Semantic.DeepEqual(a.Error, b.Error)
}

// keyChanged lets those updates of a ProvingKey through that jobs wait for.
func keyChanged() predicate.TypedPredicate[*api.ProvingKey] {
	return predicate.TypedFuncs[*api.ProvingKey]{
		UpdateFunc: func(e event.TypedUpdateEvent[*api.ProvingKey]) bool {
			a, b := e.ObjectOld, e.ObjectNew
			ready := func(k *api.ProvingKey) metav1.Condition {
				if c := meta.FindStatusCondition(k.Status.Conditions, api.ConditionReady); c != nil {
					return metav1.Condition{Status: c.Status, Reason: c.Reason}
				}
				return metav1.Condition{}
			}
			return a.UID != b.UID || ready(a) != ready(b) ||
				!equality.Semantic.DeepEqual(a.Status.VerifyingKey, b.Status.VerifyingKey)
		},
	}
}

// childChanged lets those updates of a Job through that say something new about its pods or who holds it.
func childChanged() predicate.TypedPredicate[*batchv1.Job] {
	return predicate.TypedFuncs[*batchv1.Job]{
		UpdateFunc: func(e event.TypedUpdateEvent[*batchv1.Job]) bool {
			a, b := e.ObjectOld, e.ObjectNew
			return a.UID != b.UID || a.Generation != b.Generation ||
				a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() ||
				!equality.Semantic.DeepEqual(a.Labels, b.Labels) ||
				a.Status.CompletedIndexes != b.Status.CompletedIndexes ||
				!equality.Semantic.DeepEqual(a.Status.FailedIndexes, b.Status.FailedIndexes) ||
				!equality.Semantic.DeepEqual(a.Status.StartTime, b.Status.StartTime) ||
				!equality.Semantic.DeepEqual(a.Status.Conditions, b.Status.Conditions)
		},
	}
}

// podChanged lets those updates of a pod through that change where it stands.
func podChanged() predicate.TypedPredicate[*corev1.Pod] {
	return predicate.TypedFuncs[*corev1.Pod]{
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Pod]) bool {
			a, b := e.ObjectOld, e.ObjectNew
			return a.UID != b.UID || a.Status.Phase != b.Status.Phase || a.Spec.NodeName != b.Spec.NodeName ||
				!a.DeletionTimestamp.Equal(b.DeletionTimestamp) ||
				len(a.Finalizers) != len(b.Finalizers) ||
				a.Status.Reason != b.Status.Reason ||
				waiting(a) != waiting(b) ||
				!equality.Semantic.DeepEqual(terminated(a), terminated(b))
		},
	}
}

func waiting(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if w := pod.Status.ContainerStatuses[i].State.Waiting; w != nil {
			return w.Reason
		}
	}
	return ""
}

// nodeTurned lets a node through when it becomes Ready or ceases to be.
func nodeTurned() predicate.TypedPredicate[*corev1.Node] {
	return predicate.TypedFuncs[*corev1.Node]{
		CreateFunc: func(event.TypedCreateEvent[*corev1.Node]) bool { return false },
		DeleteFunc: func(event.TypedDeleteEvent[*corev1.Node]) bool { return false },
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Node]) bool {
			a, b := readyCondition(e.ObjectOld), readyCondition(e.ObjectNew)
			return a == nil || b == nil || a.Status != b.Status
		},
	}
}
