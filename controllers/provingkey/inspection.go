package provingkey

import (
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/identity"
	"github.com/cuzk-dev/cuzk/controllers/internal/proverpod"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// InspectionName names the Job that looks at a key's files, and its Role and RoleBinding.
func InspectionName(key *api.ProvingKey) string { return key.Name + "-inspect" }

// outputs names the ConfigMaps that take the verifying key: after the key's UID too, so that those of a key that was
// deleted and made anew are not taken for its own.
func outputs(key *api.ProvingKey) []string {
	// One holds some 6,800 public inputs, or 2,600 in the JSON of snarkjs: ten times what a job may declare. Filecoin's window
	// PoSt has up to 25,839.
	names := make([]string, 1)
	if key.Spec.Format == api.KeyFormatFilecoin {
		names = make([]string, 4)
	}
	uid := string(key.UID)
	for i := range names {
		names[i] = fmt.Sprintf("%s-verifying-key-%s-%d", key.Name, uid[:min(8, len(uid))], i)
	}
	return names
}

// newInspection is the Job that looks at a key's files.
func newInspection(key *api.ProvingKey, image string) (*batchv1.Job, error) {
	volumes := proverpod.NewVolumes(proverpod.Scratch(scratchFor(key)))
	data, err := json.Marshal(order.InspectionOrder{
		Version:   order.Version,
		Namespace: key.Namespace,
		Key:       volumes.Key(key),
		Outputs:   outputs(key),
	})
	if err != nil {
		return nil, fmt.Errorf("write the inspection order: %w", err)
	}
	labels := map[string]string{
		"app.kubernetes.io/name":      "cuzk",
		"app.kubernetes.io/component": proverpod.ComponentInspector,
		proverpod.ComponentLabel:      proverpod.ComponentInspector,
		proverpod.ProvingKeyLabel:     key.Name,
		proverpod.OwnerUIDLabel:       string(key.UID),
	}
	template := proverpod.Template(proverpod.Container{Image: image, Args: []string{"work", "--inspect-key"}}, volumes, data, labels, nil)
	template.Spec.ServiceAccountName = identity.InspectorIdentity
	hopeless := []int32{int32(failure.Input.ExitCode()), int32(failure.Key.ExitCode())}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: InspectionName(key), Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(key, api.GroupVersion.WithKind("ProvingKey"))},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:         ptr.To[int32](3),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				}},
				{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					ContainerName: ptr.To(proverpod.ContainerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: hopeless,
				}},
			}},
			Template: template,
		},
	}, nil
}

// scratchFor is the room that the downloads of an inspection take, nil for the default.
func scratchFor(key *api.ProvingKey) *resource.Quantity {
	var n int64
	f := &key.Spec.Files
	for _, file := range []*api.KeyFile{&f.ProvingKey, f.VerifyingKey, f.ConstraintSystem} {
		if file != nil && file.URI != nil {
			n += ptr.Deref(file.SizeBytes, 0)
		}
	}
	size := resource.NewQuantity(n+n/16, resource.BinarySI)
	if size.Cmp(proverpod.DefaultScratchSize) <= 0 {
		return nil
	}
	return size
}

// readResult finds what the pods of an inspection said: the result of one that ended well, or the last failure.
func readResult(pods []*corev1.Pod) (*order.InspectionResult, string) {
	var last string
	for _, pod := range pods {
		for i := range pod.Status.ContainerStatuses {
			end := pod.Status.ContainerStatuses[i].State.Terminated
			if end == nil {
				continue
			}
			var r order.InspectionResult
			err := json.Unmarshal([]byte(end.Message), &r)
			switch {
			case err == nil && r.Version == order.Version && r.Class == "" && end.ExitCode == 0:
				return &r, ""
			case err == nil && r.Message != "": // of any version: it may be about the version
				last = r.Message
			default:
				last = fmt.Sprintf("the pod ended with exit code %d (%s)", end.ExitCode, end.Reason)
			}
		}
	}
	return nil, last
}
