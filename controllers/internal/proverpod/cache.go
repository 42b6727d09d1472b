package proverpod

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// OwnerIndex is the field by which cached pods are found by the UID of their ProofJob or ProvingKey.
const OwnerIndex = "cuzk.owner-uid"

// IndexPods makes OwnerIndex.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &corev1.Pod{}, OwnerIndex, func(o client.Object) []string {
		if uid := o.GetLabels()[OwnerUIDLabel]; uid != "" {
			return []string{uid}
		}
		return nil
	})
}

// Selector selects the Jobs and pods that the operator made; no others are cached.
func Selector() labels.Selector {
	r, err := labels.NewRequirement(ComponentLabel, selection.In, []string{ComponentProver, ComponentInspector})
	if err != nil { // constants
		panic(err)
	}
	return labels.NewSelector().Add(*r)
}

// StripPod drops from a pod what no plan looks at, before it is cached: orders are large, and there is one in each pod.
func StripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ManagedFields = nil
	delete(pod.Annotations, order.Annotation)
	pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName}
	pod.Status.InitContainerStatuses = nil
	return pod, nil
}

// StripJob drops the template, which is never compared with anything.
func StripJob(object any) (any, error) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil
	}
	job.ManagedFields = nil
	job.Spec.Template = corev1.PodTemplateSpec{}
	return job, nil
}

// StripNode keeps of a node its name and conditions.
func StripNode(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	node.ManagedFields, node.Annotations, node.Labels = nil, nil, nil
	node.Spec = corev1.NodeSpec{}
	node.Status = corev1.NodeStatus{Conditions: node.Status.Conditions}
	return node, nil
}
