package proverpod

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// DefaultScratchSize bounds the scratch folder of a pod that names no size.
var DefaultScratchSize = resource.MustParse("10Gi")

// Scratch is the emptyDir for downloads, caches and spills.
func Scratch(size *resource.Quantity) corev1.EmptyDirVolumeSource {
	if size == nil {
		size = &DefaultScratchSize
	}
	return corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(size.DeepCopy())}
}

// Container is what differs between the pods' containers.
type Container struct {
	Image     string
	Args      []string
	Env       []corev1.EnvVar
	Resources corev1.ResourceRequirements
}

// Template is a pod that the Pod Security Standard "restricted" admits. data is the order; labels and annotations are
// those of the pod, and become part of the template.
func Template(c Container, v *Volumes, data []byte, labels, annotations map[string]string) corev1.PodTemplateSpec {
	annotated := map[string]string{}
	maps.Copy(annotated, annotations)
	annotated[order.Annotation] = string(data)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotated},
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyNever,
			AutomountServiceAccountToken: ptr.To(false),
			EnableServiceLinks:           ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Volumes: v.volumes,
			Containers: []corev1.Container{{
				Name:                     ContainerName,
				Image:                    c.Image,
				Args:                     c.Args,
				Env:                      append(environment(), c.Env...),
				Resources:                c.Resources,
				VolumeMounts:             v.mounts,
				TerminationMessagePath:   order.TerminationPath,
				TerminationMessagePolicy: corev1.TerminationMessageReadFile,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false),
					ReadOnlyRootFilesystem:   ptr.To(true),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

func environment() []corev1.EnvVar {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
		}}
	}
	return []corev1.EnvVar{
		field(order.EnvPodName, "metadata.name"),
		field(order.EnvPodUID, "metadata.uid"),
		field(order.EnvPodNamespace, "metadata.namespace"),
		field(order.EnvNodeName, "spec.nodeName"),
		// The root file system is read-only: temporary files go where there is room.
		{Name: "TMPDIR", Value: order.ScratchDir},
	}
}
