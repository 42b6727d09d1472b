// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A minimal ProvingKey:
//
//	apiVersion: proving.cuzk.dev/v1alpha1
//	kind: ProvingKey
//	metadata:
//	  name: membership
//	spec:
//	  format: Snarkjs
//	  curve: BLS12-381
//	  files:
//	    provingKey:
//	      persistentVolumeClaim:
//	        claimName: keys
//	        path: membership.zkey

// ProvingKey says what a Groth16 proving key is and where its files are. New content is a new object: the spec cannot be
// changed.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=provingkeys,singular=provingkey,shortName=pk,categories=cuzk
// +kubebuilder:selectablefield:JSONPath=`.spec.format`
// +kubebuilder:selectablefield:JSONPath=`.spec.curve`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether jobs can use the key"
// +kubebuilder:printcolumn:name="Format",type=string,JSONPath=`.spec.format`,description="What made the key"
// +kubebuilder:printcolumn:name="Curve",type=string,JSONPath=`.spec.curve`
// +kubebuilder:printcolumn:name="Constraints",type=integer,JSONPath=`.status.facts.constraints`,description="Constraints of the circuit"
// +kubebuilder:printcolumn:name="Public",type=integer,JSONPath=`.status.facts.publicInputs`,description="Public inputs of the circuit"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the key is ready or not"
// +kubebuilder:printcolumn:name="Digest",type=string,priority=1,JSONPath=`.status.provingKeyDigest`,description="Digest of the proving key's file"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 50 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label of at most 50 characters (lower-case letters, digits and '-', no dots), since an inspection pod is named after it: choose a shorter or simpler name"
type ProvingKey struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is a DNS label of at most 50 characters.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what the key is and where its files are. It cannot be changed.
	// +required
	Spec ProvingKeySpec `json:"spec,omitzero"`

	// status is what the controller found out about the key.
	// +optional
	Status ProvingKeyStatus `json:"status,omitzero"`
}

// ProvingKeyList is a list of ProvingKeys.
//
// +kubebuilder:object:root=true
type ProvingKeyList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of ProvingKeys.
	// +required
	Items []ProvingKey `json:"items"`
}

// KeyFormat says what made a key.
//
// +kubebuilder:validation:Enum=Snarkjs;Gnark;Filecoin
type KeyFormat string

const (
	// KeyFormatSnarkjs is a .zkey of snarkjs.
	KeyFormatSnarkjs KeyFormat = "Snarkjs"
	// KeyFormatGnark is a proving key of gnark.
	KeyFormatGnark KeyFormat = "Gnark"
	// KeyFormatFilecoin is a parameter file of Filecoin (.params).
	KeyFormatFilecoin KeyFormat = "Filecoin"
)

// Curve is the elliptic curve of a key.
//
// +kubebuilder:validation:Enum=BN254;BLS12-381
type Curve string

const (
	// CurveBN254 is BN254, which snarkjs calls bn128 and Ethereum alt_bn128.
	CurveBN254 Curve = "BN254"
	// CurveBLS12381 is BLS12-381.
	CurveBLS12381 Curve = "BLS12-381"
)

// ProvingKeySpec says what a key is and where its files are.
//
// +kubebuilder:validation:XValidation:rule="self.format == oldSelf.format",fieldPath=".format",message="format cannot be changed: create a new ProvingKey"
// +kubebuilder:validation:XValidation:rule="self.curve == oldSelf.curve",fieldPath=".curve",message="curve cannot be changed: create a new ProvingKey"
// +kubebuilder:validation:XValidation:rule="self.files == oldSelf.files",fieldPath=".files",message="files cannot be changed: create a new ProvingKey"
// +kubebuilder:validation:XValidation:rule="self.format != 'Gnark' || has(self.files.constraintSystem)",fieldPath=".files.constraintSystem",reason=FieldValueRequired,message="files.constraintSystem is required with format Gnark, whose proving key does not hold the constraints: add the compiled constraint system"
// +kubebuilder:validation:XValidation:rule="self.format != 'Filecoin' || self.curve == 'BLS12-381'",fieldPath=".curve",message="curve must be BLS12-381 with format Filecoin: change it"
// +kubebuilder:validation:XValidation:rule="self.format != 'Filecoin' || !has(self.files.constraintSystem)",fieldPath=".files.constraintSystem",message="files.constraintSystem is not allowed with format Filecoin, whose circuits the prover knows: remove it"
// +kubebuilder:validation:XValidation:rule="self.format == 'Snarkjs' || !has(self.files.witnessGenerator)",fieldPath=".files.witnessGenerator",message="files.witnessGenerator is circom's .wasm and allowed only with format Snarkjs: remove it"
type ProvingKeySpec struct {
	// format is Snarkjs, Gnark or Filecoin.
	// +required
	Format KeyFormat `json:"format,omitempty"`

	// curve is BN254 or BLS12-381. A key of another curve is refused.
	// +required
	Curve Curve `json:"curve,omitempty"`

	// files are the files that belong together.
	// +required
	Files KeyFiles `json:"files,omitzero"`
}

// KeyFiles are the files that belong to a key.
//
// +kubebuilder:validation:XValidation:rule="(has(self.provingKey.inline) ? (has(self.provingKey.inline.data) ? size(self.provingKey.inline.data) / 4 * 3 - (self.provingKey.inline.data.endsWith('==') ? 2 : self.provingKey.inline.data.endsWith('=') ? 1 : 0) : has(self.provingKey.inline.text) ? size(self.provingKey.inline.text) : 0) : 0) + (has(self.verifyingKey) && has(self.verifyingKey.inline) ? (has(self.verifyingKey.inline.data) ? size(self.verifyingKey.inline.data) / 4 * 3 - (self.verifyingKey.inline.data.endsWith('==') ? 2 : self.verifyingKey.inline.data.endsWith('=') ? 1 : 0) : has(self.verifyingKey.inline.text) ? size(self.verifyingKey.inline.text) : 0) : 0) + (has(self.constraintSystem) && has(self.constraintSystem.inline) ? (has(self.constraintSystem.inline.data) ? size(self.constraintSystem.inline.data) / 4 * 3 - (self.constraintSystem.inline.data.endsWith('==') ? 2 : self.constraintSystem.inline.data.endsWith('=') ? 1 : 0) : has(self.constraintSystem.inline.text) ? size(self.constraintSystem.inline.text) : 0) : 0) + (has(self.witnessGenerator) && has(self.witnessGenerator.inline) ? (has(self.witnessGenerator.inline.data) ? size(self.witnessGenerator.inline.data) / 4 * 3 - (self.witnessGenerator.inline.data.endsWith('==') ? 2 : self.witnessGenerator.inline.data.endsWith('=') ? 1 : 0) : has(self.witnessGenerator.inline.text) ? size(self.witnessGenerator.inline.text) : 0) : 0) <= 65536",message="files.*.inline must be at most 64 KiB in all files together: put larger files into a ConfigMap or on a PersistentVolumeClaim"
type KeyFiles struct {
	// provingKey is the key: .zkey, gnark's proving key in its compressed, raw or dump form, or Filecoin's .params.
	// +required
	ProvingKey KeyFile `json:"provingKey,omitzero"`

	// verifyingKey is verification_key.json of snarkjs, gnark's verifying key or Filecoin's .vk. Inline or in a ConfigMap, the controller
	// reads it; otherwise, or without it, a pod of the operator reads it from the files once.
	// +optional
	VerifyingKey *KeyFile `json:"verifyingKey,omitempty"`

	// constraintSystem is circom's .r1cs, with which an unsatisfied constraint is named, or gnark's compiled constraint
	// system, which is required.
	// +optional
	ConstraintSystem *KeyFile `json:"constraintSystem,omitempty"`

	// witnessGenerator is circom's .wasm, with which inputs may be given as input.json.
	// +optional
	WitnessGenerator *KeyFile `json:"witnessGenerator,omitempty"`
}

// KeyFile says where a file of a key is, and what it must be.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="(has(self.inline) ? 1 : 0) + (has(self.configMap) ? 1 : 0) + (has(self.persistentVolumeClaim) ? 1 : 0) + (has(self.uri) ? 1 : 0) + (has(self.image) ? 1 : 0) == 1",message="a file has exactly one source: set one of inline, configMap, persistentVolumeClaim, uri and image"
// +kubebuilder:validation:XValidation:rule="!has(self.uri) || has(self.digest)",fieldPath=".digest",reason=FieldValueRequired,message="digest is required for a file with uri: set it to the content's digest, as sha256:<hex>"
type KeyFile struct {
	// inline is the content itself. All inline content of a key is at most 64 KiB.
	// +optional
	Inline *InlineFile `json:"inline,omitempty"`

	// configMap names a key of a ConfigMap in the same namespace.
	// +optional
	ConfigMap *ConfigMapKey `json:"configMap,omitempty"`

	// persistentVolumeClaim names a file on a volume, which is mounted read-only.
	// +optional
	PersistentVolumeClaim *ClaimPath `json:"persistentVolumeClaim,omitempty"`

	// uri is where the pod downloads the content from. digest is required with it.
	// +optional
	URI *URISource `json:"uri,omitempty"`

	// image names a file in an OCI image, which is mounted as a volume.
	// +optional
	Image *ImageFile `json:"image,omitempty"`

	// sizeBytes is the size that the content must have.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1125899906842624
	SizeBytes *int64 `json:"sizeBytes,omitempty"`

	// digest is the digest that the content must have, sha256:<64 hex digits> or blake2b-512:<128 hex digits>, in lower
	// case. It is required for uri.
	// +optional
	Digest Digest `json:"digest,omitempty"`
}

// InlineFile is a file's content in the object itself: exactly one member is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.data) != has(self.text)",message="inline holds exactly one thing: set either inline.data (base64) or inline.text"
type InlineFile struct {
	// data is the content in base64.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=87384
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:Pattern=`^([0-9A-Za-z+/]{4})*([0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?$`
	Data []byte `json:"data,omitempty"`

	// text is the content as text, such as a verification_key.json.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	Text *string `json:"text,omitempty"`
}

// Bytes returns the content.
func (f *InlineFile) Bytes() []byte {
	if f.Text != nil {
		return []byte(*f.Text)
	}
	return f.Data
}

// ImageFile names a file in an OCI image.
type ImageFile struct {
	// reference is the image's reference, as in a pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Reference string `json:"reference,omitempty"`

	// path is the file's path in the image, relative to its root, without '.' and '..' elements.
	// +required
	Path RelativePath `json:"path,omitempty"`

	// pullPolicy is Always, IfNotPresent or Never. Without it, Always for the tag latest and IfNotPresent otherwise.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	PullPolicy corev1.PullPolicy `json:"pullPolicy,omitempty"`
}

// ProvingKeyStatus is what the controller found out about a key.
type ProvingKeyStatus struct {
	// conditions are Ready (jobs can use the key) and Degraded (something about it is not as it should be).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the key that the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// facts are what the key's files say about the circuit.
	// +optional
	Facts *CircuitFacts `json:"facts,omitempty"`

	// provingKeyDigest is the digest of the proving key's file as it was read.
	// +optional
	ProvingKeyDigest Digest `json:"provingKeyDigest,omitempty"`

	// verifyingKey says where the verifying key is that proofs are verified against.
	// +optional
	VerifyingKey *VerifyingKeyLocation `json:"verifyingKey,omitempty"`
}

// CircuitFacts are facts about a key's circuit.
type CircuitFacts struct {
	// constraints is the number of constraints.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1099511627776
	Constraints *int64 `json:"constraints,omitempty"`

	// publicInputs is the number of public inputs, without the constant 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1099511627776
	PublicInputs *int64 `json:"publicInputs,omitempty"`

	// wires is the number of wires, the constant 1 included.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1099511627776
	Wires *int64 `json:"wires,omitempty"`

	// domainSize is the size of the evaluation domain, a power of two.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1099511627776
	DomainSize *int64 `json:"domainSize,omitempty"`

	// commitments is the number of Pedersen commitments of a gnark circuit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1024
	Commitments *int32 `json:"commitments,omitempty"`

	// parameters is the name of the Filecoin circuit whose parameters the key's lengths are those of, such as
	// v28-proof-of-spacetime-fallback-….
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Parameters string `json:"parameters,omitempty"`

	// structureDigest is the digest of the circuit's matrices.
	// +optional
	StructureDigest Digest `json:"structureDigest,omitempty"`
}

// VerifyingKeyLocation says where a verifying key is: in the spec, or in ConfigMaps.
type VerifyingKeyLocation struct {
	// digest is the digest of the verifying key's bytes.
	// +required
	Digest Digest `json:"digest,omitempty"`

	// sizeBytes is the number of these bytes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1073741824
	SizeBytes *int64 `json:"sizeBytes,omitempty"`

	// configMaps hold the bytes, cut into parts in this order. It is empty if the spec holds them inline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	ConfigMaps []ConfigMapKey `json:"configMaps,omitempty"`
}
