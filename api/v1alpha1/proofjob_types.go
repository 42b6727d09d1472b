// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A ProofJob is a batch of Groth16 proofs of one circuit with one proving key, each input of which becomes a partition, or
// one Filecoin proof, whose circuit has a number of partitions. Prover pods work through the partitions and report proof
// and timings into the status. A minimal one:
//
//	apiVersion: proving.cuzk.dev/v1alpha1
//	kind: ProofJob
//	metadata:
//	  name: membership
//	spec:
//	  circuit:
//	    type: Circom
//	  provingKeyRef:
//	    name: membership
//	  inputs:
//	  - name: alice
//	    configMap:
//	      name: membership-witness
//	      key: alice.wtns

// ProofJob is a batch of Groth16 proofs of one circuit with one proving key, one partition per input, or one Filecoin
// proof of several partitions; proved by pods that report proof and timings into the status.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=proofjobs,singular=proofjob,shortName=pj,categories=cuzk
// +kubebuilder:selectablefield:JSONPath=`.status.state`
// +kubebuilder:selectablefield:JSONPath=`.spec.provingKeyRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.circuit.type`
// +kubebuilder:selectablefield:JSONPath=`.spec.execution.type`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`,description="Pending, Suspended, Running, Succeeded or Failed"
// +kubebuilder:printcolumn:name="Circuit",type=string,JSONPath=`.spec.circuit.type`,description="What made the circuit"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`,description="Verified partitions of all partitions"
// +kubebuilder:printcolumn:name="Synth",type=string,JSONPath=`.status.summary.synth`,description="Median time of a partition in the synthesis stage"
// +kubebuilder:printcolumn:name="GPU",type=string,JSONPath=`.status.summary.gpu`,description="Median time of a partition in the compute stage, on any backend"
// +kubebuilder:printcolumn:name="Total",type=string,JSONPath=`.status.summary.total`,description="Median time of a partition over all stages"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Key",type=string,priority=1,JSONPath=`.spec.provingKeyRef.name`,description="The proving key"
// +kubebuilder:printcolumn:name="Node",type=string,priority=1,JSONPath=`.status.summary.node`,description="Where the last partition was proved"
// +kubebuilder:printcolumn:name="Cold",type=string,priority=1,JSONPath=`.status.summary.cold`,description="Median total time of the cold runs"
// +kubebuilder:printcolumn:name="Warm",type=string,priority=1,JSONPath=`.status.summary.warm`,description="Median total time of the warm runs"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.summary.reason`,description="Why the job is in its state"
// +kubebuilder:validation:XValidation:rule="!self.spec.circuit.type.startsWith('Filecoin') || !has(self.status) || !has(self.status.partitions) || !self.status.partitions.exists(p, has(p.report) && (has(p.report.publicInputs) || has(p.report.publicInputsDigest)))",message="report.publicInputs and publicInputsDigest are not allowed with a Filecoin circuit.type: leave them out"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label of at most 52 characters (lower-case letters, digits and '-', no dots), since pods are named after it: choose a shorter or simpler name"
type ProofJob struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is a DNS label of at most 52 characters.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what to prove and how. It cannot be changed but for suspend, ttlSecondsAfterFinished,
	// activeDeadlineSeconds and schedulingDeadlineSeconds.
	// +required
	Spec ProofJobSpec `json:"spec,omitzero"`

	// status is what the controller and the prover pods report.
	// +optional
	Status ProofJobStatus `json:"status,omitzero"`
}

// ProofJobList is a list of ProofJobs.
//
// +kubebuilder:object:root=true
type ProofJobList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of ProofJobs.
	// +required
	Items []ProofJob `json:"items"`
}

// VerificationPolicy says whether a proof must verify before it counts.
//
// +kubebuilder:validation:Enum=Required;Skip
type VerificationPolicy string

const (
	// VerificationRequired makes the controller verify each proof against the verifying key before it counts.
	VerificationRequired VerificationPolicy = "Required"
	// VerificationSkip takes each proof as it comes; Verified is then False with reason Skipped.
	VerificationSkip VerificationPolicy = "Skip"
)

// OutputType says where the proofs go.
//
// +kubebuilder:validation:Enum=Status
type OutputType string

// OutputStatus leaves each proof in its partition of the status.
const OutputStatus OutputType = "Status"

// Output says where the proofs go.
type Output struct {
	// type says where the proofs go. Status, the default and only value so far, leaves each proof in its partition of
	// the status.
	// +optional
	// +kubebuilder:default=Status
	Type OutputType `json:"type,omitempty"`
}

// DefaultManagedBy is the value of spec.managedBy that names this project's own controller; an absent field means it too.
const DefaultManagedBy = "proving.cuzk.dev/proofjob-controller"

// ProofJobSpec says what to prove and how.
//
// +kubebuilder:validation:XValidation:rule="self.runs + self.warmupRuns <= 50",fieldPath=".runs",message="runs and warmupRuns together must be at most 50: lower one of them"
// +kubebuilder:validation:XValidation:rule="(self.runs + self.warmupRuns) * size(self.inputs) <= 512",fieldPath=".runs",message="(runs + warmupRuns) times the number of inputs must be at most 512: lower runs or warmupRuns, or split inputs into several ProofJobs"
// +kubebuilder:validation:XValidation:rule="self.circuit.type != 'Gnark' || !self.inputs.exists(i, has(i.inline) && has(i.inline.input))",fieldPath=".inputs",message="inputs[].inline.input is text for circom's witness generator: with circuit.type Gnark put the serialized witness into inputs[].inline.witness"
// +kubebuilder:validation:XValidation:rule="!self.circuit.type.startsWith('Filecoin') || size(self.inputs) == 1",fieldPath=".inputs",message="inputs must be exactly one with a Filecoin circuit.type: make a ProofJob for each of the others"
// +kubebuilder:validation:XValidation:rule="!self.circuit.type.startsWith('Filecoin') || !self.inputs.exists(i, has(i.publicInputs))",fieldPath=".inputs",message="inputs[].publicInputs is not allowed with a Filecoin circuit.type, which tells them: remove it"
// +kubebuilder:validation:XValidation:rule="!self.circuit.type.startsWith('Filecoin') || !has(self.maxFailedPartitions) || self.maxFailedPartitions == 0",fieldPath=".maxFailedPartitions",message="maxFailedPartitions must be 0 with a Filecoin circuit.type, whose proof needs every partition: remove it"
// +kubebuilder:validation:XValidation:rule="self.circuit.type.startsWith('Filecoin') || !has(self.execution.dedicated.partitionsPerPod) || self.execution.dedicated.partitionsPerPod <= size(self.inputs)",fieldPath=".execution.dedicated.partitionsPerPod",message="execution.dedicated.partitionsPerPod must be at most the number of inputs: lower it"
// +kubebuilder:validation:XValidation:rule="self.circuit == oldSelf.circuit",fieldPath=".circuit",reason=FieldValueInvalid,message="circuit cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="self.provingKeyRef == oldSelf.provingKeyRef",fieldPath=".provingKeyRef",message="provingKeyRef cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="self.inputs == oldSelf.inputs && self.inputs.map(i, i.name) == oldSelf.inputs.map(i, i.name)",fieldPath=".inputs",message="inputs cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="self.execution == oldSelf.execution",fieldPath=".execution",message="execution cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="self.backend == oldSelf.backend",fieldPath=".backend",message="backend cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="self.runs == oldSelf.runs && self.warmupRuns == oldSelf.warmupRuns",fieldPath=".runs",message="runs and warmupRuns cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="self.output == oldSelf.output",fieldPath=".output",message="output cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="self.verification == oldSelf.verification",fieldPath=".verification",message="verification cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="self.backoffLimitPerPartition == oldSelf.backoffLimitPerPartition",fieldPath=".backoffLimitPerPartition",message="backoffLimitPerPartition cannot be changed: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="has(self.maxFailedPartitions) == has(oldSelf.maxFailedPartitions) && (!has(self.maxFailedPartitions) || self.maxFailedPartitions == oldSelf.maxFailedPartitions)",fieldPath=".maxFailedPartitions",message="maxFailedPartitions cannot be changed, set or removed later: create a new ProofJob"
// +kubebuilder:validation:XValidation:rule="has(self.managedBy) == has(oldSelf.managedBy) && (!has(self.managedBy) || self.managedBy == oldSelf.managedBy)",fieldPath=".managedBy",message="managedBy cannot be changed, set or removed later: create a new ProofJob"
type ProofJobSpec struct {
	// circuit says what kind of circuit the proofs are of.
	// +required
	Circuit Circuit `json:"circuit,omitzero"`

	// provingKeyRef names the proving key, in the job's own namespace.
	// +required
	ProvingKeyRef ProvingKeyReference `json:"provingKeyRef,omitzero"`

	// inputs are what to prove, 1 to 256: each becomes one partition, in this order; a Filecoin proof has exactly one. All
	// inline content together is at most 64 KiB, all publicInputs at most 128 KiB, all urls and paths at most 128 KiB.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.map(i, !has(i.inline) ? 0 : has(i.inline.witness) ? size(i.inline.witness) / 4 * 3 - (i.inline.witness.endsWith('==') ? 2 : i.inline.witness.endsWith('=') ? 1 : 0) : has(i.inline.input) ? size(i.inline.input) : 0).sum() <= 65536",message="inputs[].inline must be at most 64 KiB in all inputs together: put larger inputs into a ConfigMap, a Secret, a PersistentVolumeClaim or behind a URI"
	// +kubebuilder:validation:XValidation:rule="self.map(i, has(i.publicInputs) ? i.publicInputs.map(v, size(v)).sum() : 0).sum() <= 131072",message="inputs[].publicInputs must be at most 131072 digits in all inputs together: split the inputs into several ProofJobs"
	// +kubebuilder:validation:XValidation:rule="self.map(i, has(i.uri) ? size(i.uri.url) : has(i.persistentVolumeClaim) ? size(i.persistentVolumeClaim.path) : 0).sum() <= 131072",message="inputs[].uri.url and inputs[].persistentVolumeClaim.path must be at most 131072 characters in all inputs together: use shorter ones or split the inputs into several ProofJobs"
	// +kubebuilder:validation:XValidation:rule="!self.exists(i, has(i.publicInputs)) || self.filter(i, has(i.publicInputs)).map(i, size(i.publicInputs)).max() == self.filter(i, has(i.publicInputs)).map(i, size(i.publicInputs)).min()",message="inputs[].publicInputs must have the same number of values in each input that declares them, since all inputs are of one circuit: add the missing or remove the surplus values"
	Inputs []ProofInput `json:"inputs,omitempty"`

	// execution says what computes the proofs.
	// +optional
	// +kubebuilder:default={}
	Execution Execution `json:"execution,omitzero"`

	// backend says which hardware computes, and with how many workers.
	// +optional
	// +kubebuilder:default={}
	Backend Backend `json:"backend,omitzero"`

	// runs is how many times each input is proved, 1 by default: the first run in a pod is cold (key and structure are
	// loaded), later ones are warm. Each run's timings are kept; the proof of the last run is the one reported.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	Runs *int32 `json:"runs,omitempty"`

	// warmupRuns is how many times each input is proved before the runs that are measured, 0 by default.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=49
	WarmupRuns *int32 `json:"warmupRuns,omitempty"`

	// output says where the proofs go.
	// +optional
	// +kubebuilder:default={}
	Output Output `json:"output,omitzero"`

	// verification is Required (the default: a proof that does not verify against the verifying key does not count) or Skip.
	// +optional
	// +kubebuilder:default=Required
	Verification VerificationPolicy `json:"verification,omitempty"`

	// suspend keeps the job from running while it is true; set on a running job it ends the job's pods. It can be changed.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// backoffLimitPerPartition is how many times the pod of a partition is tried again after a failure that may pass,
	// 3 by default. Invalid input is not tried again; a pod lost by a disruption (eviction, dead node) does not count.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	BackoffLimitPerPartition *int32 `json:"backoffLimitPerPartition,omitempty"`

	// maxFailedPartitions is how many partitions may fail before the job is ended early. Without it all partitions are
	// tried. A job with any failed partition ends Failed; the proofs of its other partitions stay in the status.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=256
	MaxFailedPartitions *int32 `json:"maxFailedPartitions,omitempty"`

	// activeDeadlineSeconds is how long the job may run, counted from the creation of its pods and anew after each resume;
	// then it ends Failed with reason DeadlineExceeded. It can be changed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// schedulingDeadlineSeconds is how long the job may be without any scheduled pod; then it ends Failed with reason
	// SchedulingDeadlineExceeded. The time suspended does not count. It can be changed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	SchedulingDeadlineSeconds *int64 `json:"schedulingDeadlineSeconds,omitempty"`

	// ttlSecondsAfterFinished is how long after its end the job is deleted, with all that belongs to it. Without it the
	// job stays. It can be changed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// managedBy names the controller that reconciles the job, as domain/path. Absent, or
	// proving.cuzk.dev/proofjob-controller, is the project's own; with any other value that one leaves the job alone.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9/._~%!$&()*+,;=:@-]+$')",message="managedBy must be a domain and a path with '/' between, such as example.com/controller: add the domain"
	ManagedBy *string `json:"managedBy,omitempty"`
}

// ProvingKeyKind is the kind of the object that a ProvingKeyReference names.
//
// +kubebuilder:validation:Enum=ProvingKey
type ProvingKeyKind string

// ProvingKeyKindNamespaced is the kind of a key in the job's own namespace.
const ProvingKeyKindNamespaced ProvingKeyKind = "ProvingKey"

// ProvingKeyReference names a proving key.
type ProvingKeyReference struct {
	// kind is the kind of the object named, ProvingKey by default.
	// +optional
	// +kubebuilder:default=ProvingKey
	Kind ProvingKeyKind `json:"kind,omitempty"`

	// name is the name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}
