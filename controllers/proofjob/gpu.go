package proofjob

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// gpuResource is what a pod asks for if its job wants CUDA and names no device.
const gpuResource corev1.ResourceName = "nvidia.com/gpu"

// withGPU completes a pod's resources. Backend CUDA means a GPU, so that a job that names none gets one; Auto takes what
// the job asks for: a GPU if there is one among its resources or claims, else the CPU.
func withGPU(d *api.DedicatedExecution, backend api.BackendType) corev1.ResourceRequirements {
	r := *d.Resources.DeepCopy()
	if backend != api.BackendCUDA || asksForDevice(d) {
		return r
	}
	if r.Limits == nil {
		r.Limits = corev1.ResourceList{}
	}
	r.Limits[gpuResource] = resource.MustParse("1")
	return r
}

// asksForDevice says that a job names a device: an extended resource or a claim.
func asksForDevice(d *api.DedicatedExecution) bool {
	if len(d.ResourceClaims) > 0 {
		return true
	}
	for _, list := range []corev1.ResourceList{d.Resources.Limits, d.Resources.Requests} {
		for name, quantity := range list {
			domain, _, qualified := strings.Cut(string(name), "/")
			if qualified && domain != "kubernetes.io" && !quantity.IsZero() {
				return true
			}
		}
	}
	return false
}

// image is the job's own or the operator's for its backend. It is frozen in the Job.
func image(d *api.DedicatedExecution, backend api.BackendType, cfg Config) string {
	switch {
	case d.Image != "":
		return d.Image
	case backend == api.BackendCUDA, backend != api.BackendCPU && asksForDevice(d):
		return cfg.ProverCUDAImage
	default:
		return cfg.ProverImage
	}
}
