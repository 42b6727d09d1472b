// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ProofInput is one thing to prove: a witness, or circom's input.json for the key's witness generator (the one begins
// with "wtns", the other with '{'); for gnark a serialized full witness, for Filecoin what circuit says.
//
// +kubebuilder:validation:XValidation:rule="(has(self.inline) ? 1 : 0) + (has(self.configMap) ? 1 : 0) + (has(self.secret) ? 1 : 0) + (has(self.persistentVolumeClaim) ? 1 : 0) + (has(self.uri) ? 1 : 0) == 1",message="an input has exactly one source: set one of inline, configMap, secret, persistentVolumeClaim and uri"
// +kubebuilder:validation:XValidation:rule="!has(self.uri) || has(self.digest)",fieldPath=".digest",reason=FieldValueRequired,message="digest is required for an input with uri: set it to the content's digest, as sha256:<hex>"
type ProofInput struct {
	// name tells the input from the others, in the partition's status and in messages.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="an input's name must be a DNS label: use lower-case letters, digits and '-' only, beginning and ending with a letter or digit"
	Name string `json:"name,omitempty"`

	InputSource `json:",inline"`

	// digest is the digest that the content must have, sha256:<64 hex digits> or blake2b-512:<128 hex digits>, in lower
	// case. It is required for uri.
	// +optional
	Digest Digest `json:"digest,omitempty"`

	// publicInputs are the public values, as decimal numbers in the circuit's order, that the proof must be about: one with
	// others is refused. Without them those that the prover reports are taken, and the reason of Verified says so.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=77
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^(0|[1-9]\\d*)$')`,message="a public input must be a decimal number without sign, white space or leading zeros: convert it"
	PublicInputs []string `json:"publicInputs,omitempty"`
}

// Digest is a digest in the form sha256:<64 hex digits> or blake2b-512:<128 hex digits>, in lower case.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=140
// +kubebuilder:validation:XValidation:rule="self.matches('^(sha256:[0-9a-f]{64}|blake2b-512:[0-9a-f]{128})$')",message="a digest must be sha256:<64 hex digits> or blake2b-512:<128 hex digits>, in lower case: take what sha256sum or b2sum prints, with the prefix"
type Digest string

// InputSource says where an input's content is: exactly one member is set.
type InputSource struct {
	// inline holds the content itself. Whoever may read the job may read it.
	// +optional
	Inline *InlineInput `json:"inline,omitempty"`

	// configMap names a key of a ConfigMap in the job's namespace.
	// +optional
	ConfigMap *ConfigMapKey `json:"configMap,omitempty"`

	// secret names a key of a Secret in the job's namespace.
	// +optional
	Secret *SecretKey `json:"secret,omitempty"`

	// persistentVolumeClaim names a file on a volume, which is mounted read-only; for vanilla proofs of Filecoin also a folder.
	// +optional
	PersistentVolumeClaim *ClaimPath `json:"persistentVolumeClaim,omitempty"`

	// uri is where the prover pod downloads the content from. digest is required with it.
	// +optional
	URI *URISource `json:"uri,omitempty"`
}

// InlineInput is an input's content in the job itself: exactly one member is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.witness) != has(self.input)",message="inline holds exactly one thing: set either inline.witness (base64 of the witness file) or inline.input (the text of circom's input.json)"
type InlineInput struct {
	// witness is a witness file, .wtns or gnark's serialized full witness, or Filecoin's input, in base64.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=87384
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:Pattern=`^([0-9A-Za-z+/]{4})*([0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?$`
	Witness []byte `json:"witness,omitempty"`

	// input is the text of circom's input.json, for which the key must have a witnessGenerator, or Filecoin's input in JSON.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	Input *string `json:"input,omitempty"`
}

// Witness, like a key's inline.data, is no text of format byte in the schema: its rules could not read that, since they
// decode the format by another alphabet than it has.

// Bytes returns the content.
func (i *InlineInput) Bytes() []byte {
	if i.Input != nil {
		return []byte(*i.Input)
	}
	return i.Witness
}

// ConfigMapKey names a key of a ConfigMap.
type ConfigMapKey struct {
	// name is the name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key is the key within the ConfigMap's data or binaryData.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="configMap.key may hold letters, digits, '-', '_' and '.' only: use the key as it stands in the ConfigMap's data"
	Key string `json:"key,omitempty"`
}

// SecretKey names a key of a Secret.
type SecretKey struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key is the key within the Secret's data.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="secret.key may hold letters, digits, '-', '_' and '.' only: use the key as it stands in the Secret's data"
	Key string `json:"key,omitempty"`
}

// ClaimPath names a file on the volume of a PersistentVolumeClaim.
type ClaimPath struct {
	// claimName is the name of a PersistentVolumeClaim in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`

	// path is the file's path on the volume, relative to its root, without '.' and '..' elements.
	// +required
	Path RelativePath `json:"path,omitempty"`
}

// RelativePath is a path below some root, with '/' between its elements.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule="!self.matches('(^|/)[.]{0,2}(/|$)')",message="a path must be relative to the root of the volume or image, without '.', '..' and empty elements: remove them, and any '/' at the beginning or end"
type RelativePath string

// URISource says where to download from.
type URISource struct {
	// url is the address: https://…, s3://bucket/key, gs://bucket/key or azblob://container/blob. It holds no
	// credentials: whoever may read the object may read it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(https|s3|gs|azblob)://[^\\\\s]+$')",message="uri.url must begin with https://, s3://, gs:// or azblob:// and hold no white space: copy the object to one of these, or use another source"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z0-9]+://[^/?#]*@')",message="uri.url must not hold credentials, since whoever may read the object may read it: put them into a Secret and name it in uri.secretRef"
	// +kubebuilder:validation:XValidation:rule="!self.contains('#') && (self.startsWith('https:') || !self.contains('?'))",message="uri.url must have no fragment, and a query only with https: remove what follows '#' or '?'"
	URL string `json:"url,omitempty"`

	// secretRef names a Secret with the credentials, by default the pod's own identity. For https: token, or username and
	// password, and ca.crt. For others their own tools' variables, such as AWS_ACCESS_KEY_ID; for gs service-account.json.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
}

// SecretReference names a Secret in the same namespace.
type SecretReference struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}
