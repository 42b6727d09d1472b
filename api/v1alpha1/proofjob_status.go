// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProofJobState sums a job up in one word, derived from its conditions.
//
// +kubebuilder:validation:Enum=Pending;Suspended;Running;Succeeded;Failed
type ProofJobState string

const (
	// ProofJobPending is a job none of whose pods has run yet.
	ProofJobPending ProofJobState = "Pending"
	// ProofJobSuspended is a job that is kept from running.
	ProofJobSuspended ProofJobState = "Suspended"
	// ProofJobRunning is a job with pods that run, or have run.
	ProofJobRunning ProofJobState = "Running"
	// ProofJobSucceeded is a job that ended with all its proofs.
	ProofJobSucceeded ProofJobState = "Succeeded"
	// ProofJobFailed is a job that ended without all its proofs.
	ProofJobFailed ProofJobState = "Failed"
)

// PartitionState is how far a partition is.
//
// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed
type PartitionState string

const (
	// PartitionPending is a partition that no pod works on.
	PartitionPending PartitionState = "Pending"
	// PartitionRunning is a partition that a pod works on, or whose proof is still to be verified.
	PartitionRunning PartitionState = "Running"
	// PartitionSucceeded is a partition whose proof counts.
	PartitionSucceeded PartitionState = "Succeeded"
	// PartitionFailed is a partition that will get no proof.
	PartitionFailed PartitionState = "Failed"
)

// Stage is the part of its work that a prover is at.
//
// +kubebuilder:validation:Enum=Queue;SRS;Synth;GPU;Verify;Done
type Stage string

const (
	// StageQueue is waiting for a turn, reading the input included.
	StageQueue Stage = "Queue"
	// StageSRS is loading the proving key.
	StageSRS Stage = "SRS"
	// StageSynth is synthesis: witness and constraint evaluation.
	StageSynth Stage = "Synth"
	// StageGPU is the compute stage (NTTs and MSMs), on any backend.
	StageGPU Stage = "GPU"
	// StageVerify is the prover's own check of the proof.
	StageVerify Stage = "Verify"
	// StageDone means that the report is complete: it holds the proof, or the error.
	StageDone Stage = "Done"
)

// ProofJobStatus is what the controller and the prover pods report. It is at most 512 KiB.
type ProofJobStatus struct {
	// conditions are KeyReady, Suspended, Running, FailureTarget, Complete, Failed and Verified. Complete and Failed
	// exclude each other and are final.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=7
	// +kubebuilder:validation:XValidation:rule="!self.exists(c, size(c.message) > 1024)",message="a condition's message must be at most 1024 characters"
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the job that the controller's part of the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// state is Pending, Suspended, Running, Succeeded or Failed, derived from the conditions.
	// +optional
	State ProofJobState `json:"state,omitempty"`

	// partitionCount is how many partitions the job has.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=256
	PartitionCount *int32 `json:"partitionCount,omitempty"`

	// progress is how many partitions have a proof that counts, of how many, such as 3/10.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	Progress string `json:"progress,omitempty"`

	// summary holds texts for kubectl get.
	// +optional
	Summary *ProofJobSummary `json:"summary,omitempty"`

	// startTime is when the job's pods were first created, anew after each resume.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the job ended, Complete or Failed.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// provingKey is the key that the job was started with, so that a key made anew under the same name is noticed.
	// +optional
	ProvingKey *ResolvedProvingKey `json:"provingKey,omitempty"`

	// timings are the times of a partition, each the median over the partitions proved so far.
	// +optional
	Timings *Timings `json:"timings,omitempty"`

	// runs are the times of each run, warm-up runs first, each the median over the partitions proved so far. It is absent
	// for a job of one run.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Runs []RunTimings `json:"runs,omitempty"`

	// result is what a job of one Filecoin proof is for. Other jobs' proofs stay in their partitions.
	// +optional
	Result *ProofJobResult `json:"result,omitempty"`

	// partitions are the parts of the job: one per input, in the order of the inputs, or those of a Filecoin proof.
	// +optional
	// +listType=map
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="size(self) <= 32 || !self.exists(p, has(p.report) && has(p.report.timings) && (has(p.report.timings.prepMSMMilliseconds) || has(p.report.timings.nttMSMHMilliseconds) || has(p.report.timings.batchAddMilliseconds) || has(p.report.timings.bG2MSMMilliseconds) || has(p.report.timings.tailMSMMilliseconds) || has(p.report.timings.gpuTotalMilliseconds)))",message="with more than 32 partitions report.timings must not hold the times of kernels: leave them out"
	// +kubebuilder:validation:XValidation:rule="size(self) <= 32 || !self.exists(p, has(p.report) && has(p.report.runs) && p.report.runs.exists(r, has(r.queueMilliseconds) || has(r.srsMilliseconds) || has(r.synthMilliseconds) || has(r.gpuMilliseconds) || has(r.verifyMilliseconds) || has(r.prepMSMMilliseconds) || has(r.nttMSMHMilliseconds) || has(r.batchAddMilliseconds) || has(r.bG2MSMMilliseconds) || has(r.tailMSMMilliseconds) || has(r.gpuTotalMilliseconds)))",message="with more than 32 partitions report.runs must hold type and totalMilliseconds only: leave the other times out"
	// +kubebuilder:validation:XValidation:rule="!self.exists(p, has(p.report) && has(p.report.runs) && size(p.report.runs) * size(self) > 512)",message="report.runs must hold at most 512 entries in all partitions together: leave some out"
	// +kubebuilder:validation:XValidation:rule="!self.exists(p, has(p.report) && has(p.report.publicInputs) && p.report.publicInputs.map(v, size(v) + 3).sum() > 4096)",message="report.publicInputs must be at most 4 KiB, 3 bytes more than its digits for each value: report publicInputsDigest in their place"
	// +kubebuilder:validation:XValidation:rule="!self.exists(p, has(p.report) && (has(p.report.proof) ? size(p.report.proof) : 0) + (has(p.report.publicInputs) ? p.report.publicInputs.map(v, size(v) + 3).sum() : 0) + (has(p.report.publicInputsDigest) ? size(p.report.publicInputsDigest) : 0) + (has(p.report.error) ? size(p.report.error.message) : 0) > (size(self) <= 80 ? 5200 : 478000 / size(self) - 762))",message="report.proof, publicInputs and error.message are too long together for a job of so many partitions: report publicInputsDigest in place of the values, or shorten the message"
	// +kubebuilder:validation:XValidation:rule="!self.exists(p, has(p.report) && has(p.report.withdrawnDevices) && p.report.withdrawnDevices.map(d, size(d.uuid) + 12 + (has(d.name) ? size(d.name) + 10 : 0) + (has(d.reason) ? size(d.reason) + 12 : 0)).sum() > (size(self) <= 8 ? 2048 : 18000 / size(self) - 10))",message="report.withdrawnDevices are too long for a job of so many partitions: leave out names and reasons"
	// +kubebuilder:validation:XValidation:rule="size(self) <= 32 || !self.exists(p, has(p.report) && has(p.report.runs) && (has(p.report.withdrawnDevices) || has(p.report.refusals)))",message="with more than 32 partitions a report with withdrawnDevices or refusals must not hold runs: leave them out"
	// +kubebuilder:validation:XValidation:rule="self.map(p, has(p.message) ? size(p.message) : 0).sum() <= 2048",message="the messages of all partitions must be at most 2 KiB together: shorten them"
	Partitions []PartitionStatus `json:"partitions,omitempty"`
}

// ProofJobResult is the result of a job that makes one proof of several partitions.
type ProofJobResult struct {
	// proof is the proof in base64: 192 bytes for each partition, in their order. It is there once all partitions count,
	// and takes the place of the proofs in their reports.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	Proof string `json:"proof,omitempty"`
}

// ProofJobSummary holds texts for kubectl get.
type ProofJobSummary struct {
	// synth is the median time in the synthesis stage, such as 1.2s.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Synth string `json:"synth,omitempty"`

	// gpu is the median time in the compute stage.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	GPU string `json:"gpu,omitempty"`

	// total is the median time over all stages.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Total string `json:"total,omitempty"`

	// cold is the median total time of the cold runs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Cold string `json:"cold,omitempty"`

	// warm is the median total time of the warm runs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Warm string `json:"warm,omitempty"`

	// node is the node that proved the last partition, or how many nodes there were.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Node string `json:"node,omitempty"`

	// reason is why the job is in its state.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
}

// ResolvedProvingKey pins a proving key.
type ResolvedProvingKey struct {
	// uid is the UID of the ProvingKey.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// verifyingKeyDigest is the digest of the verifying key that the proofs are verified against.
	// +optional
	VerifyingKeyDigest Digest `json:"verifyingKeyDigest,omitempty"`
}

// PartitionStatus is the status of one partition. The controller owns all of it but report, which is the pod's.
type PartitionStatus struct {
	// index is the partition's number, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	Index int32 `json:"index"` //nolint:kubeapilinter // The first partition is number 0: the key is always written.

	// input is the name of the partition's input.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Input string `json:"input,omitempty"`

	// state is Pending, Running, Succeeded or Failed.
	// +optional
	State PartitionState `json:"state,omitempty"`

	// verified is true if the proof in report verified against the verifying key, false if it did not.
	// +optional
	Verified *bool `json:"verified,omitempty"`

	// reason is why the partition is in its state, in one word.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Reason string `json:"reason,omitempty"`

	// message is the reason in a sentence, shortened in large jobs. All partitions' messages together are at most 2 KiB.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// attempts is how many pods have worked on the partition, counted up to 999.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999
	Attempts int32 `json:"attempts,omitempty"`

	// report is what the partition's pod says. It is written by the pod as a whole.
	// +optional
	Report *PartitionReport `json:"report,omitempty"`
}

// PartitionReport is what a prover pod says about a partition.
//
// +kubebuilder:validation:XValidation:rule="!has(self.publicInputs) || !has(self.publicInputsDigest)",message="a report must hold publicInputs or publicInputsDigest, not both: leave out one"
// +kubebuilder:validation:XValidation:rule="!has(self.proof) || !has(self.error)",message="a report must hold proof or error, not both: leave out one"
// +kubebuilder:validation:XValidation:rule="!has(self.proof) && !has(self.error) || !has(self.progressPercent)",message="a report with a proof or an error must not hold progressPercent: leave it out"
// +kubebuilder:validation:XValidation:rule=`!has(self.proof) || size(self.proof.split('"')) <= 39`,message="proof must be proof.json of snarkjs without white space, or base64: it holds too many quotes"
// +structType=atomic
type PartitionReport struct {
	// podName is the name of the pod that wrote the report.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[-a-z0-9.]+$`
	PodName string `json:"podName,omitempty"`

	// podUID is the UID of that pod. A report counts only while it is the UID of the partition's live pod, or once its
	// proof has been verified.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:validation:Pattern=`^[-a-z0-9]+$`
	PodUID string `json:"podUID,omitempty"`

	// node is the node that the pod runs on, cut after 63 characters.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[-a-z0-9.]+$`
	Node string `json:"node,omitempty"`

	// stage is what the prover is at: Queue, SRS, Synth, GPU, Verify or Done.
	// +optional
	Stage Stage `json:"stage,omitempty"`

	// progressPercent is how much of all runs is done. It is absent once the proof or an error is there.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ProgressPercent *int32 `json:"progressPercent,omitempty"`

	// backend is the hardware that computes, CUDA or CPU.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self != 'Auto'",message="report.backend must be CUDA or CPU"
	Backend BackendType `json:"backend,omitempty"`

	// inputDigest is the digest of the input that was read.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	InputDigest string `json:"inputDigest,omitempty"`

	// proof is the proof: for a key of snarkjs the text of proof.json, without white space; for a key of gnark the bytes of
	// its binary form, compressed, in base64; for one of Filecoin the partition's 192 bytes, in base64.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1200
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z+/=_:,"{}\[\]]*$`
	Proof string `json:"proof,omitempty"`

	// publicInputs are the values, decimal and in the circuit's order, that the proof is about; Filecoin's the spec tells.
	// Where they are too long publicInputsDigest is in their place, and the job must declare them to be verified.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=77
	// +kubebuilder:validation:items:Pattern=`^(0|[1-9][0-9]*)$`
	PublicInputs []string `json:"publicInputs,omitempty"`

	// publicInputsDigest is the digest of the values in place of the values: SHA-256 over each value and a newline.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	PublicInputsDigest string `json:"publicInputsDigest,omitempty"`

	// timings are the times of the run whose proof is reported.
	// +optional
	Timings *Timings `json:"timings,omitempty"`

	// runs are the times of each run, warm-up runs first. It is absent for a job of one run.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Runs []RunTimings `json:"runs,omitempty"`

	// error is why the attempt gave no proof.
	// +optional
	Error *ReportError `json:"error,omitempty"`

	// refusals is how many proofs did not verify in the prover and were computed again, over all runs, counted up to 999.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999
	Refusals int32 `json:"refusals,omitempty"`

	// withdrawnDevices are the GPUs that the pod gave no more work from this partition on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	WithdrawnDevices []WithdrawnDevice `json:"withdrawnDevices,omitempty"`
}

// WithdrawnDevice is a GPU that failed or computed a wrong proof, and takes no more work of its pod. Large jobs shorten
// what is said about it.
type WithdrawnDevice struct {
	// uuid is the GPU's UUID, as nvidia-smi -L tells it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[ !#-%'-;=?-\[\]-~]*$`
	UUID string `json:"uuid,omitempty"`

	// name is its model.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[ !#-%'-;=?-\[\]-~]*$`
	Name string `json:"name,omitempty"`

	// reason is what was wrong with it, in words.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[ !#-%'-;=?-\[\]-~]*$`
	Reason string `json:"reason,omitempty"`
}

// ErrorClass says what kind of thing went wrong, and so whether another attempt can help. The classes are those of the
// prover's exit codes.
//
// +kubebuilder:validation:Enum=Internal;Usage;Input;Key;Verification;Backend;IO;Memory;Interrupted
type ErrorClass string

const (
	// ErrorClassInternal is a defect or a state that nobody foresaw: another attempt may help.
	ErrorClassInternal ErrorClass = "Internal"
	// ErrorClassUsage is a setting that cannot be carried out: the job cannot go on.
	ErrorClassUsage ErrorClass = "Usage"
	// ErrorClassInput is an error of the partition's input: no other attempt can help, other partitions go on.
	ErrorClassInput ErrorClass = "Input"
	// ErrorClassKey is an error of the proving key's files: the job cannot go on.
	ErrorClassKey ErrorClass = "Key"
	// ErrorClassVerification is a proof that does not verify.
	ErrorClassVerification ErrorClass = "Verification"
	// ErrorClassBackend is a device, driver or library that is absent or unusable.
	ErrorClassBackend ErrorClass = "Backend"
	// ErrorClassIO is storage or network that may work at the next attempt.
	ErrorClassIO ErrorClass = "IO"
	// ErrorClassMemory is a lack of memory.
	ErrorClassMemory ErrorClass = "Memory"
	// ErrorClassInterrupted is a stop asked for from outside.
	ErrorClassInterrupted ErrorClass = "Interrupted"
)

// ReportError is why an attempt gave no proof.
type ReportError struct {
	// class is Internal, Usage, Input, Key, Verification, Backend, IO, Memory or Interrupted.
	// +required
	Class ErrorClass `json:"class,omitempty"`

	// message is the error in words, naming what to do, without anything of a witness: printable ASCII but for <, >, &, \
	// and the double quote.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[ !#-%'-;=?-\[\]-~]*$`
	Message string `json:"message,omitempty"`
}
