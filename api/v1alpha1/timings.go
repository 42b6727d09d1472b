// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Timings are the times of one proof, in milliseconds, by stage and, for the compute stage, by kernel. What was not
// measured is absent.
type Timings struct {
	// queueMilliseconds is the time waited for a turn.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	QueueMilliseconds *int64 `json:"queueMilliseconds,omitempty"`

	// srsMilliseconds is the time in which the proving key was loaded.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	SRSMilliseconds *int64 `json:"srsMilliseconds,omitempty"`

	// synthMilliseconds is the time of synthesis: witness and constraint evaluation.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	SynthMilliseconds *int64 `json:"synthMilliseconds,omitempty"`

	// gpuMilliseconds is the time of the compute stage, on any backend.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	GPUMilliseconds *int64 `json:"gpuMilliseconds,omitempty"`

	// verifyMilliseconds is the time in which the prover checked its proof.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	VerifyMilliseconds *int64 `json:"verifyMilliseconds,omitempty"`

	// totalMilliseconds is the time from the first stage's begin to the last one's end.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	TotalMilliseconds *int64 `json:"totalMilliseconds,omitempty"`

	// prepMSMMilliseconds is the time in which the scalars of the MSMs were prepared.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	PrepMSMMilliseconds *int64 `json:"prepMSMMilliseconds,omitempty"`

	// nttMSMHMilliseconds is the time of the NTTs that give h and of the MSM over h.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	NTTMSMHMilliseconds *int64 `json:"nttMSMHMilliseconds,omitempty"`

	// batchAddMilliseconds is the time of the batched additions for scalars 0 and 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	BatchAddMilliseconds *int64 `json:"batchAddMilliseconds,omitempty"`

	// bG2MSMMilliseconds is the time of the MSM over B in G2.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	BG2MSMMilliseconds *int64 `json:"bG2MSMMilliseconds,omitempty"`

	// tailMSMMilliseconds is the time of the remaining MSMs in G1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	TailMSMMilliseconds *int64 `json:"tailMSMMilliseconds,omitempty"`

	// gpuTotalMilliseconds is the time in which the device, or the CPU's compute threads, were held.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999
	GPUTotalMilliseconds *int64 `json:"gpuTotalMilliseconds,omitempty"`
}

// RunType says what was there when a run began.
//
// +kubebuilder:validation:Enum=Warmup;Cold;Warm
type RunType string

const (
	// RunWarmup is a run that is not measured for the summary.
	RunWarmup RunType = "Warmup"
	// RunCold is the first run in a pod: key and structure are loaded.
	RunCold RunType = "Cold"
	// RunWarm is a run with key and structure in memory.
	RunWarm RunType = "Warm"
)

// RunTimings are the times of one of several runs.
type RunTimings struct {
	// type is Warmup, Cold or Warm.
	// +required
	Type RunType `json:"type,omitempty"`

	Timings `json:",inline"`
}
