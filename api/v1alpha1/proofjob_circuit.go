// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// CircuitType says what made the circuit. A further type is a further value and a further member of Circuit.
//
// +kubebuilder:validation:Enum=Circom;Gnark;FilecoinPoRep;FilecoinWindowPoSt;FilecoinWinningPoSt;FilecoinSnapDeals
type CircuitType string

const (
	// CircuitCircom is a circuit of circom with a key of snarkjs.
	CircuitCircom CircuitType = "Circom"
	// CircuitGnark is a circuit and key of gnark.
	CircuitGnark CircuitType = "Gnark"
	// CircuitFilecoinPoRep is Filecoin's proof of replication (commit phase 2).
	CircuitFilecoinPoRep CircuitType = "FilecoinPoRep"
	// CircuitFilecoinWindowPoSt is Filecoin's window proof of spacetime.
	CircuitFilecoinWindowPoSt CircuitType = "FilecoinWindowPoSt"
	// CircuitFilecoinWinningPoSt is Filecoin's winning proof of spacetime.
	CircuitFilecoinWinningPoSt CircuitType = "FilecoinWinningPoSt"
	// CircuitFilecoinSnapDeals is Filecoin's proof of a sector's update.
	CircuitFilecoinSnapDeals CircuitType = "FilecoinSnapDeals"
)

// Circuit says what kind of circuit the proofs are of: type, and the member of that name, which only circom and gnark do
// without.
//
// +union
// +kubebuilder:validation:XValidation:rule="self.type == 'Circom' || !has(self.circom)",fieldPath=".circom",message="circuit.circom is allowed only with circuit.type Circom: remove it or change type"
// +kubebuilder:validation:XValidation:rule="self.type == 'Gnark' || !has(self.gnark)",fieldPath=".gnark",message="circuit.gnark is allowed only with circuit.type Gnark: remove it or change type"
// +kubebuilder:validation:XValidation:rule="(self.type == 'FilecoinPoRep') == has(self.filecoinPoRep)",fieldPath=".filecoinPoRep",message="circuit.filecoinPoRep goes with circuit.type FilecoinPoRep: add or remove it, or change type"
// +kubebuilder:validation:XValidation:rule="(self.type == 'FilecoinWindowPoSt') == has(self.filecoinWindowPoSt)",fieldPath=".filecoinWindowPoSt",message="circuit.filecoinWindowPoSt goes with circuit.type FilecoinWindowPoSt: add or remove it, or change type"
// +kubebuilder:validation:XValidation:rule="(self.type == 'FilecoinWinningPoSt') == has(self.filecoinWinningPoSt)",fieldPath=".filecoinWinningPoSt",message="circuit.filecoinWinningPoSt goes with circuit.type FilecoinWinningPoSt: add or remove it, or change type"
// +kubebuilder:validation:XValidation:rule="(self.type == 'FilecoinSnapDeals') == has(self.filecoinSnapDeals)",fieldPath=".filecoinSnapDeals",message="circuit.filecoinSnapDeals goes with circuit.type FilecoinSnapDeals: add or remove it, or change type"
type Circuit struct {
	// type is Circom (inputs are .wtns witnesses or circom's input.json), Gnark (inputs are serialized full witnesses), or
	// one of Filecoin's proofs, of which a job makes one from one input.
	// +required
	// +unionDiscriminator
	Type CircuitType `json:"type,omitempty"`

	// circom holds settings of a circuit of circom; all have defaults.
	// +optional
	Circom *CircomCircuit `json:"circom,omitempty"`

	// gnark holds settings of a circuit of gnark; all have defaults.
	// +optional
	Gnark *GnarkCircuit `json:"gnark,omitempty"`

	// filecoinPoRep is what a proof of replication claims. Its input is the output of commit phase 1.
	// +optional
	FilecoinPoRep *FilecoinPoRepCircuit `json:"filecoinPoRep,omitempty"`

	// filecoinWindowPoSt is what a window PoSt claims. Its input is the sectors' vanilla proofs: a folder of files, or a file
	// with one or with a JSON list of them in base64.
	// +optional
	FilecoinWindowPoSt *FilecoinWindowPoStCircuit `json:"filecoinWindowPoSt,omitempty"`

	// filecoinWinningPoSt is what a winning PoSt claims. Its input is the sector's vanilla proof.
	// +optional
	FilecoinWinningPoSt *FilecoinWinningPoStCircuit `json:"filecoinWinningPoSt,omitempty"`

	// filecoinSnapDeals is what the proof of a sector's update claims. Its input is the partitions' vanilla proofs: as those
	// of a window PoSt, or Curio's JSON of proof.Snap.
	// +optional
	FilecoinSnapDeals *FilecoinSnapDealsCircuit `json:"filecoinSnapDeals,omitempty"`
}

// CircomCircuit holds settings of a circuit of circom.
type CircomCircuit struct {
	// witnessTimeoutSeconds is how long the key's witness generator may run for one input that is given as input.json.
	// Without it the prover's own limit holds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	WitnessTimeoutSeconds *int32 `json:"witnessTimeoutSeconds,omitempty"`
}

// CommitmentHash is the hash from which gnark derives the challenge of a Pedersen commitment.
//
// +kubebuilder:validation:Enum=SHA256;Keccak256
type CommitmentHash string

const (
	// CommitmentHashSHA256 is gnark's default, for verifiers in Go.
	CommitmentHashSHA256 CommitmentHash = "SHA256"
	// CommitmentHashKeccak256 is what gnark's Solidity verifiers expect.
	CommitmentHashKeccak256 CommitmentHash = "Keccak256"
)

// GnarkCircuit holds settings of a circuit of gnark.
type GnarkCircuit struct {
	// commitmentHash is the hash of the circuit's commitments, if it has any: SHA256 (the default), or Keccak256 for
	// proofs that a Solidity verifier of gnark shall accept.
	// +optional
	// +kubebuilder:default=SHA256
	CommitmentHash CommitmentHash `json:"commitmentHash,omitempty"`
}
