// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// The members of Circuit for Filecoin say what the proof must be about. The operator computes the public inputs from
// them, and never takes them from a prover.

// IsFilecoin tells whether a job of the type makes one of Filecoin's proofs, whose partitions belong together.
func (t CircuitType) IsFilecoin() bool {
	switch t {
	case CircuitFilecoinPoRep, CircuitFilecoinWindowPoSt, CircuitFilecoinWinningPoSt, CircuitFilecoinSnapDeals:
		return true
	}
	return false
}

// FilecoinPoRepCircuit is what a proof of replication claims: that the miner stores this replica of this data.
//
// +kubebuilder:validation:XValidation:rule="!has(self.shape) || self.shape != 'Test' || self.registeredProof.startsWith('StackedDrg2KiB')",fieldPath=".shape",message="circuit.filecoinPoRep.shape Test is of 2 KiB: remove it, or use a registeredProof of that size"
type FilecoinPoRepCircuit struct {
	// registeredProof is the name of the registered seal proof, such as StackedDrg32GiBV1_1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^StackedDrg(2KiB|8MiB|512MiB|32GiB|64GiB)V1(_1(_Feat_SyntheticPoRep)?)?$')",message="registeredProof must be a seal proof such as StackedDrg32GiBV1_1 or StackedDrg32GiBV1_1_Feat_SyntheticPoRep: correct it (non-interactive ones are aggregates, which cuzk does not make)"
	RegisteredProof string `json:"registeredProof,omitempty"`

	// shape is Registered (the default), or Test: 2 partitions of 2 challenges.
	// +optional
	// +kubebuilder:validation:Enum=Registered;Test
	Shape FilecoinShape `json:"shape,omitempty"`

	// miner is the miner's id address, such as f01000.
	// +required
	Miner MinerAddress `json:"miner,omitempty"`

	// sectorNumber is the sector's number.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	SectorNumber *int64 `json:"sectorNumber,omitempty"`

	// ticket that the sector was sealed with, in hex.
	// +required
	Ticket Bytes32 `json:"ticket,omitempty"`

	// seed of the challenges, in hex.
	// +required
	Seed Bytes32 `json:"seed,omitempty"`

	// commD is the commitment to the data.
	// +required
	CommD UnsealedCommitment `json:"commD,omitempty"`

	// commR is the commitment to the replica.
	// +required
	CommR SealedCommitment `json:"commR,omitempty"`
}

// FilecoinWindowPoStCircuit is what a window PoSt claims: that these sectors are stored. Partitions are made of them in the
// order of their numbers.
//
// +kubebuilder:validation:XValidation:rule="self.registeredProof.matches('(32|64)GiB') || size(self.sectors) <= 512",fieldPath=".sectors",message="circuit.filecoinWindowPoSt.sectors below 32 GiB must be at most 512: split them into several ProofJobs"
type FilecoinWindowPoStCircuit struct {
	// registeredProof is the name of the registered PoSt proof, such as StackedDrgWindow32GiBV1_1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^StackedDrgWindow(2KiB|8MiB|512MiB|32GiB|64GiB)V1(_1)?$')",message="registeredProof must be a window PoSt proof such as StackedDrgWindow32GiBV1_1: correct it"
	RegisteredProof string `json:"registeredProof,omitempty"`

	// randomness of the challenges, in hex; its two top bits are cleared, as on the chain.
	// +required
	Randomness Bytes32 `json:"randomness,omitempty"`

	// sectors are those that are proved, each once: at most as many as fill a partition of 32 GiB sectors.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2349
	Sectors []FilecoinSector `json:"sectors,omitempty"`
}

// FilecoinWinningPoStCircuit is what a winning PoSt claims: that this sector is stored.
type FilecoinWinningPoStCircuit struct {
	// registeredProof is the name of the registered PoSt proof, such as StackedDrgWinning32GiBV1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^StackedDrgWinning(2KiB|8MiB|512MiB|32GiB|64GiB)V1$')",message="registeredProof must be a winning PoSt proof such as StackedDrgWinning32GiBV1: correct it"
	RegisteredProof string `json:"registeredProof,omitempty"`

	// randomness of the challenges, in hex; its two top bits are cleared, as on the chain.
	// +required
	Randomness Bytes32 `json:"randomness,omitempty"`

	// sector is the one that is proved.
	// +required
	Sector FilecoinSector `json:"sector,omitzero"`
}

// FilecoinSector is a sector that a PoSt is about.
type FilecoinSector struct {
	// sectorNumber is the sector's number.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	SectorNumber *int64 `json:"sectorNumber,omitempty"`

	// commR is the commitment to the replica.
	// +required
	CommR SealedCommitment `json:"commR,omitempty"`
}

// FilecoinSnapDealsCircuit is what the proof of a sector's update claims: that the new replica holds the new data.
//
// +kubebuilder:validation:XValidation:rule="has(self.registeredProof) != (has(self.shape) && self.shape == 'Test')",fieldPath=".registeredProof",message="circuit.filecoinSnapDeals.registeredProof is required, but with shape Test not allowed: add or remove it"
type FilecoinSnapDealsCircuit struct {
	// registeredProof is the name of the registered update proof, such as StackedDrg32GiBV1.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^StackedDrg(2KiB|8MiB|512MiB|32GiB|64GiB)V1$')",message="registeredProof must be an update proof such as StackedDrg32GiBV1: correct it"
	RegisteredProof string `json:"registeredProof,omitempty"`

	// shape is Registered (the default), Poseidon (the variant of that hash), or Test: 16 KiB, 2 partitions.
	// +optional
	// +kubebuilder:validation:Enum=Registered;Poseidon;Test
	Shape FilecoinShape `json:"shape,omitempty"`

	// commROld is the commitment to the old replica.
	// +required
	CommROld SealedCommitment `json:"commROld,omitempty"`

	// commRNew is the commitment to the new replica.
	// +required
	CommRNew SealedCommitment `json:"commRNew,omitempty"`

	// commDNew is the commitment to the new data.
	// +required
	CommDNew UnsealedCommitment `json:"commDNew,omitempty"`
}

// FilecoinShape is a variant of a circuit.
type FilecoinShape string

const (
	// FilecoinShapeRegistered is the shape that the registered proof has; an absent field means it too.
	FilecoinShapeRegistered FilecoinShape = "Registered"
	// FilecoinShapePoseidon is the variant of SnapDeals whose data tree is hashed with Poseidon.
	FilecoinShapePoseidon FilecoinShape = "Poseidon"
	// FilecoinShapeTest is the smallest shape that has two partitions. No chain knows it.
	FilecoinShapeTest FilecoinShape = "Test"
)

// MinerAddress is a miner's id address: f01000, t01000 or 1000.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=21
// +kubebuilder:validation:XValidation:rule="self.matches('^([ft]0)?[0-9]{1,19}$')",message="miner must be an id address such as f01000: use that of the miner"
type MinerAddress string

// Bytes32 is 32 bytes in hex.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=66
// +kubebuilder:validation:XValidation:rule="self.matches('^(0x)?[0-9a-fA-F]{64}$')",message="must be 64 hex digits: convert it"
type Bytes32 string

// SealedCommitment is a commitment to a replica (comm_r): 64 hex digits, or its CID.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=66
// +kubebuilder:validation:XValidation:rule="self.matches('^((0x)?[0-9a-fA-F]{64}|bagboea4b5abc[a-z2-7]{52})$')",message="must be a comm_r: use 64 hex digits or a CID that begins with bagboea4b5abc"
type SealedCommitment string

// UnsealedCommitment is a commitment to data (comm_d): 64 hex digits, or its CID.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=66
// +kubebuilder:validation:XValidation:rule="self.matches('^((0x)?[0-9a-fA-F]{64}|baga6ea4sea[a-z2-7]{53})$')",message="must be a comm_d: use 64 hex digits or a CID that begins with baga6ea4sea"
type UnsealedCommitment string
