// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types. docs/reference/conditions.md explains them and the reasons; a test compares it with this file.
const (
	// ConditionKeyReady is True while the proving key of a ProofJob can be used.
	ConditionKeyReady = "KeyReady"
	// ConditionSuspended is True while a ProofJob is kept from running.
	ConditionSuspended = "Suspended"
	// ConditionRunning is True while pods of a ProofJob run; if False, its reason is what keeps them.
	ConditionRunning = "Running"
	// ConditionFailureTarget is True once a ProofJob is going to be Failed; its pods may still have to end.
	ConditionFailureTarget = "FailureTarget"
	// ConditionComplete is True once a ProofJob ended with all its proofs. It is final.
	ConditionComplete = "Complete"
	// ConditionFailed is True once a ProofJob ended without all its proofs. It is final.
	ConditionFailed = "Failed"
	// ConditionVerified is True once all proofs of a ProofJob were verified; its reason is against what.
	ConditionVerified = "Verified"

	// ConditionReady is True while jobs can use a ProvingKey.
	ConditionReady = "Ready"
	// ConditionDegraded is True while something about a ProvingKey is not as it should be.
	ConditionDegraded = "Degraded"
)

// Reasons of KeyReady.
const (
	// ReasonKeyReady: the key can be used.
	ReasonKeyReady = "KeyReady"
	// ReasonKeyNotFound: there is no ProvingKey of that name in the job's namespace.
	ReasonKeyNotFound = "KeyNotFound"
	// ReasonKeyNotReady: the ProvingKey's condition Ready is not True.
	ReasonKeyNotReady = "KeyNotReady"
	// ReasonKeyMismatch: the key's format does not suit the job's circuit type, or it is the key of another circuit.
	ReasonKeyMismatch = "KeyMismatch"
	// ReasonKeyChanged: the ProvingKey was deleted and made anew after the job had started.
	ReasonKeyChanged = "KeyChanged"
)

// Reasons of Suspended.
const (
	// ReasonSuspendedByUser: the field spec.suspend is true.
	ReasonSuspendedByUser = "SuspendedByUser"
	// ReasonQueued: a queueing system holds the job back.
	ReasonQueued = "Queued"
	// ReasonNotSuspended: nothing keeps the job from running.
	ReasonNotSuspended = "NotSuspended"
)

// Reasons of Running.
const (
	// ReasonPodsRunning: at least one pod runs.
	ReasonPodsRunning = "PodsRunning"
	// ReasonPodsPending: pods were created and none runs yet.
	ReasonPodsPending = "PodsPending"
	// ReasonUnschedulable: no node fits the pods.
	ReasonUnschedulable = "Unschedulable"
	// ReasonVolumeNotReady: a volume of the pods cannot be attached or mounted.
	ReasonVolumeNotReady = "VolumeNotReady"
	// ReasonImagePullFailed: an image of the pods cannot be pulled.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonContainerFailed: the pods' container cannot be started.
	ReasonContainerFailed = "ContainerFailed"
	// ReasonJobCreationFailed: the API server refused the Job or what it needs, for a quota or a policy.
	ReasonJobCreationFailed = "JobCreationFailed"
	// ReasonNameConflict: a Job of the same name is there that belongs to someone else.
	ReasonNameConflict = "NameConflict"
	// ReasonWaitingForKey: the proving key cannot be used yet.
	ReasonWaitingForKey = "WaitingForKey"
	// ReasonSuspended: the job is suspended.
	ReasonSuspended = "Suspended"
	// ReasonFinished: the job has ended.
	ReasonFinished = "Finished"
)

// Reason of Complete.
const (
	// ReasonAllProved: each partition has a proof that counts.
	ReasonAllProved = "AllProved"
)

// Reasons of FailureTarget and Failed.
const (
	// ReasonPartitionsFailed: at least one partition will get no proof.
	ReasonPartitionsFailed = "PartitionsFailed"
	// ReasonMaxFailedPartitionsExceeded: more partitions failed than spec.maxFailedPartitions allows.
	ReasonMaxFailedPartitionsExceeded = "MaxFailedPartitionsExceeded"
	// ReasonInvalidKey: the prover found the key's files unusable.
	ReasonInvalidKey = "InvalidKey"
	// ReasonInvalidConfiguration: the prover cannot carry out the job's settings, or nothing can be proved of its statement.
	ReasonInvalidConfiguration = "InvalidConfiguration"
	// ReasonInvalidJob: the API server refuses the Job for good.
	ReasonInvalidJob = "InvalidJob"
	// ReasonDeadlineExceeded: the job ran longer than spec.activeDeadlineSeconds.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonSchedulingDeadlineExceeded: no pod was scheduled for spec.schedulingDeadlineSeconds.
	ReasonSchedulingDeadlineExceeded = "SchedulingDeadlineExceeded"
	// ReasonInputChanged: two attempts of a partition read different inputs.
	ReasonInputChanged = "InputChanged"
	// ReasonProofMissing: the pods ended well and a proof is not there.
	ReasonProofMissing = "ProofMissing"
	// ReasonWholeProofInvalid: the partitions of a Filecoin proof verify alone and not together.
	ReasonWholeProofInvalid = "WholeProofInvalid"
	// ReasonJobFailed: the Job failed for a reason of its own.
	ReasonJobFailed = "JobFailed"
)

// Reasons of Verified, and of partitions.
const (
	// ReasonAgainstDeclaredInputs: the proof verified with the public inputs that the spec declares, or that follow from its
	// statement.
	ReasonAgainstDeclaredInputs = "AgainstDeclaredInputs"
	// ReasonAgainstReportedInputs: the proof verified with the public inputs that the prover reported.
	ReasonAgainstReportedInputs = "AgainstReportedInputs"
	// ReasonSkipped: spec.verification is Skip.
	ReasonSkipped = "Skipped"
	// ReasonProofsPending: not all proofs are there yet.
	ReasonProofsPending = "ProofsPending"
	// ReasonProofInvalid: a proof does not verify.
	ReasonProofInvalid = "ProofInvalid"
	// ReasonPublicInputsMismatch: a proof is about other public inputs than declared.
	ReasonPublicInputsMismatch = "PublicInputsMismatch"
	// ReasonDuplicateProof: the proof is that of another partition.
	ReasonDuplicateProof = "DuplicateProof"
)

// Reasons of partitions alone.
const (
	// ReasonInvalidInput: the partition's input is malformed or does not satisfy the circuit.
	ReasonInvalidInput = "InvalidInput"
	// ReasonBackoffLimitExceeded: the partition failed more often than spec.backoffLimitPerPartition allows.
	ReasonBackoffLimitExceeded = "BackoffLimitExceeded"
	// ReasonRetrying: an attempt failed and another one follows.
	ReasonRetrying = "Retrying"
	// ReasonNotProved: the job ended before the partition had a proof.
	ReasonNotProved = "NotProved"
)

// Reason of events alone.
const (
	// ReasonDeviceWithdrawn: a pod gives a GPU no more work, because it failed or computed a wrong proof.
	ReasonDeviceWithdrawn = "DeviceWithdrawn"
)

// Reasons of Ready and Degraded of a ProvingKey.
const (
	// ReasonVerifyingKeyLoaded: the verifying key was read and is sound.
	ReasonVerifyingKeyLoaded = "VerifyingKeyLoaded"
	// ReasonVerifyingKeyMissing: none was given, and the proving key does not hold it, which those of gnark never do.
	ReasonVerifyingKeyMissing = "VerifyingKeyMissing"
	// ReasonVerifyingKeyInvalid: the verifying key is malformed, or of another format or curve.
	ReasonVerifyingKeyInvalid = "VerifyingKeyInvalid"
	// ReasonSourceNotFound: a ConfigMap or claim that the key names is not there.
	ReasonSourceNotFound = "SourceNotFound"
	// ReasonInspecting: a pod reads the key's files.
	ReasonInspecting = "Inspecting"
	// ReasonInspectionFailed: the pod that read the key's files failed.
	ReasonInspectionFailed = "InspectionFailed"
	// ReasonDigestMismatch: a file's content is not what its digest says.
	ReasonDigestMismatch = "DigestMismatch"
	// ReasonAsExpected: nothing is wrong with the key.
	ReasonAsExpected = "AsExpected"
)
