package provingkey

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// A pod with the labels of an inspection that its Job did not make has no say, even if it ended first.
func TestOnlyPodsOfTheInspectionAreHeard(t *testing.T) {
	key := newKey()
	job, err := newInspection(key, "prover:1")
	if err != nil {
		t.Fatal(err)
	}
	job.UID = "job"
	pod := func(name string, owner types.UID, digest string) *corev1.Pod {
		result := order.InspectionResult{Curve: "BN254", VerifyingKey: &order.InspectionVerifyingKey{Digest: digest, Parts: 1}}
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: name, Labels: job.Labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: job.Name, UID: owner}}, batchv1.SchemeGroupVersion.WithKind("Job"))},
			},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{Message: string(result.Marshal())},
			}}}},
		}
	}
	loose := pod("a-loose", "", "sha256:loose")
	loose.OwnerReferences = nil
	r := &Reconciler{Client: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).
		WithObjects(job, loose, pod("b-of-an-earlier-job", "earlier", "sha256:earlier"), pod("c-its-own", "job", "sha256:own")).
		WithIndex(&corev1.Pod{}, proverpod.OwnerIndex, func(o client.Object) []string { return []string{o.GetLabels()[proverpod.OwnerUIDLabel]} }).
		Build()}

	o := &Observation{Key: key}
	if err := r.observeInspection(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if len(o.Pods) != 1 || o.Result == nil || o.Result.VerifyingKey.Digest != "sha256:own" {
		t.Errorf("%d pods, result %+v", len(o.Pods), o.Result)
	}
}
