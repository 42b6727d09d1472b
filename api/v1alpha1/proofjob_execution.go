// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ExecutionType says what computes the proofs.
//
// +kubebuilder:validation:Enum=Dedicated
type ExecutionType string

// ExecutionDedicated makes the operator create pods for the job alone.
const ExecutionDedicated ExecutionType = "Dedicated"

// Execution says what computes the proofs: type, and at most the member of that name.
//
// +union
type Execution struct {
	// type is Dedicated, the default and only value so far: the operator creates pods for this job alone.
	// +optional
	// +unionDiscriminator
	// +kubebuilder:default=Dedicated
	Type ExecutionType `json:"type,omitempty"`

	// dedicated describes the job's pods.
	// +optional
	// +kubebuilder:default={}
	Dedicated DedicatedExecution `json:"dedicated,omitzero"`
}

// ReservedPrefix begins the keys of labels and annotations that the project gives meaning to.
const ReservedPrefix = GroupName + "/"

// DedicatedExecution describes pods that are made for one job. It is a part of what a pod template holds, so that the
// definition stays small enough for client-side kubectl apply; fields mean what they mean there.
type DedicatedExecution struct {
	// parallelism is how many pods run at once: 1 if absent, with a Filecoin proof as many as it has pods.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	Parallelism *int32 `json:"parallelism,omitempty"`

	// partitionsPerPod is how many partitions one pod proves, one after the other, with the key loaded once: 1 if absent,
	// with a Filecoin proof all.
	// The pod with completion index i owns partitions i·k to i·k+k−1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	PartitionsPerPod *int32 `json:"partitionsPerPod,omitempty"`

	// image is the prover's image. Without it the operator's own default for the backend is used, and stays the job's
	// image when the operator is upgraded.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// imagePullSecrets name Secrets with the registry's credentials.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// serviceAccountName is the pods' ServiceAccount. Without it cuzk-prover is used, which the operator makes in the
	// job's namespace. One named here is bound to the same Role by the operator.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// resources of the prover container, such as limits of nvidia.com/gpu, and the claims of resourceClaims that it uses.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// resourceClaims are the pods' claims of dynamic resource allocation.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	ResourceClaims []corev1.PodResourceClaim `json:"resourceClaims,omitempty"`

	// nodeSelector holds the labels that a node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="nodeSelector must hold label keys of at most 317 and values of at most 63 characters: shorten them"
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the nodes' taints.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity towards nodes and pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints spread the pods over nodes or zones.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=8
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// env holds further environment variables of the prover container. JOB_COMPLETION_INDEX and names that begin with CUZK_
	// are reserved.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="!self.exists(e, e.name.startsWith('CUZK_') || e.name == 'JOB_COMPLETION_INDEX')",message="env must not hold JOB_COMPLETION_INDEX or names that begin with CUZK_, which Kubernetes and the operator set: remove or rename them"
	// +kubebuilder:validation:XValidation:rule="self.map(e, size(e.name) + (has(e.value) ? size(e.value) : 0)).sum() <= 32768",message="env must be at most 32 KiB together: mount larger values from a ConfigMap or Secret"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// podLabels are further labels of the pods. Keys that begin with proving.cuzk.dev/, batch.kubernetes.io/ or
	// kueue.x-k8s.io/ are reserved; labels for Kueue belong on the ProofJob itself.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('proving.cuzk.dev/') || k.startsWith('batch.kubernetes.io/') || k.startsWith('kueue.x-k8s.io/') || k == 'controller-uid' || k == 'job-name')",message="podLabels must not hold keys that begin with proving.cuzk.dev/, batch.kubernetes.io/ or kueue.x-k8s.io/, nor controller-uid or job-name: remove them (labels for Kueue belong on the ProofJob itself)"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="podLabels must hold label keys of at most 317 and values of at most 63 characters: shorten them"
	PodLabels map[string]string `json:"podLabels,omitempty"`

	// podAnnotations are further annotations of the pods. Keys that begin with proving.cuzk.dev/, batch.kubernetes.io/ or
	// kueue.x-k8s.io/ are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('proving.cuzk.dev/') || k.startsWith('batch.kubernetes.io/') || k.startsWith('kueue.x-k8s.io/'))",message="podAnnotations must not hold keys that begin with proving.cuzk.dev/, batch.kubernetes.io/ or kueue.x-k8s.io/: remove them"
	// +kubebuilder:validation:XValidation:rule="self.map(k, size(k) + size(self[k])).sum() <= 32768",message="podAnnotations must be at most 32 KiB together: shorten or remove some"
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// securityContext sets users and groups. All else is as the Pod Security Standard "restricted" wants it.
	// +optional
	SecurityContext *PodUsers `json:"securityContext,omitempty"`

	// priorityClassName is the pods' PriorityClass.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// runtimeClassName is the pods' RuntimeClass, such as nvidia.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// schedulerName is the scheduler that places the pods.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SchedulerName string `json:"schedulerName,omitempty"`

	// terminationGracePeriodSeconds is how long a pod may take to end after it was told to, 30 by default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// scratchSize is the limit of the pods' scratch folder, an emptyDir. Without it the operator's default holds.
	// +optional
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="execution.dedicated.scratchSize must be more than 0: raise it, or remove it for the default"
	ScratchSize *resource.Quantity `json:"scratchSize,omitempty"`
}

// PodUsers sets users and groups of a pod's processes and volumes.
type PodUsers struct {
	// fsGroup owns the pods' volumes that support it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	FSGroup *int64 `json:"fsGroup,omitempty"`

	// fsGroupChangePolicy says when the ownership of a volume is changed: OnRootMismatch or Always.
	// +optional
	// +kubebuilder:validation:Enum=OnRootMismatch;Always
	FSGroupChangePolicy *corev1.PodFSGroupChangePolicy `json:"fsGroupChangePolicy,omitempty"`

	// runAsUser is the user of the processes; root is not allowed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// runAsGroup is the group of the processes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsGroup *int64 `json:"runAsGroup,omitempty"`

	// supplementalGroups are further groups of the processes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=2147483647
	SupplementalGroups []int64 `json:"supplementalGroups,omitempty"`
}

// BackendType is the hardware that computes.
//
// +kubebuilder:validation:Enum=Auto;CUDA;CPU
type BackendType string

const (
	// BackendAuto takes CUDA where a GPU is there and the CPU elsewhere.
	BackendAuto BackendType = "Auto"
	// BackendCUDA wants an NVIDIA GPU.
	BackendCUDA BackendType = "CUDA"
	// BackendCPU uses the CPU alone.
	BackendCPU BackendType = "CPU"
)

// Backend says which hardware computes, and with how many workers.
type Backend struct {
	// type is Auto (the default: CUDA where a GPU is there, else CPU), CUDA or CPU.
	// +optional
	// +kubebuilder:default=Auto
	Type BackendType `json:"type,omitempty"`

	// partitionWorkers is how many partitions a pod synthesizes at once. Without it the prover chooses by its memory.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	PartitionWorkers *int32 `json:"partitionWorkers,omitempty"`

	// gpuWorkersPerDevice is how many partitions a GPU computes at once. Without it the prover chooses.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	GPUWorkersPerDevice *int32 `json:"gpuWorkersPerDevice,omitempty"`

	// gpuThreads is how many threads of the CPU serve the compute stage; with backend CPU, how many compute. Without it
	// all of the pod's cores.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	GPUThreads *int32 `json:"gpuThreads,omitempty"`
}
