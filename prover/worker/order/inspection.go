package order

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A proving key whose verifying key is only inside its files is looked at once, by a pod that runs `cuzk work
// --inspect-key`. It gets its order like any pod (Annotation, Path), mounts the key's files as a prover does, and hands
// back an InspectionResult as its termination message. The verifying key, which may not fit there, goes into ConfigMaps
// that the operator made beforehand: the pod may patch these and nothing else, and what it put there counts only as far
// as the digests in the termination message go.

const (
	// InspectionPartKey is the key of a ConfigMap's binaryData that a part of the verifying key is put under.
	InspectionPartKey = "verifyingKey"
	// InspectionFieldManager is the field manager with which the pod applies a ConfigMap.
	InspectionFieldManager = "cuzk-inspection"
	// InspectionPartBytes is the most that one ConfigMap takes; base64 of it stays below the API server's 1 MiB.
	InspectionPartBytes = 640 << 10
)

// InspectionOrder tells a pod which key to look at. It lies where a prover finds its Order.
type InspectionOrder struct {
	Version   int    `json:"version"`
	Namespace string `json:"namespace"`
	// Key names the key's files; Key.Name and Key.UID are the ProvingKey's.
	Key Key `json:"key"`
	// Outputs names the ConfigMaps, in this order, that take the verifying key, InspectionPartBytes each. A verifying
	// key that needs fewer leaves the rest untouched; one that needs more is an error of class Key.
	Outputs []string `json:"outputs"`
}

// InspectionResult is what the pod found: its termination message, at most TerminationMaxBytes.
type InspectionResult struct {
	Version int `json:"v"`
	// Class and Message tell why there is no result; all else is then empty.
	Class   string `json:"class,omitempty"`
	Message string `json:"message,omitempty"`

	// Curve as in spec.curve. A key of another curve or format than its ProvingKey says is an error of class Key.
	Curve string `json:"curve,omitempty"`
	// Facts of the circuit. Constraints counts those of the constraint system; 0 when only the key is known, whose
	// domain bounds it.
	Constraints  int64 `json:"constraints,omitempty"`
	PublicInputs int64 `json:"publicInputs"`
	Wires        int64 `json:"wires,omitempty"`
	DomainSize   int64 `json:"domainSize,omitempty"`
	// Parameters names the Filecoin circuit whose parameters have the key's lengths, "" if it is none that is known.
	Parameters string `json:"parameters,omitempty"`
	// StructureDigest names the circuit's structure ("sha256:…").
	StructureDigest string `json:"structureDigest,omitempty"`

	// ProvingKeyBytes and ProvingKeyDigest ("sha256:…") are those of the file as read.
	ProvingKeyBytes  int64  `json:"provingKeyBytes,omitempty"`
	ProvingKeyDigest string `json:"provingKeyDigest,omitempty"`

	// VerifyingKey is snarkjs's verification_key.json (compact), gnark's binary as its file holds it, or Filecoin's .vk. It is the
	// verifying key of the key's verifyingKey file if there is one, else the one that the proving key holds.
	VerifyingKey *InspectionVerifyingKey `json:"verifyingKey,omitempty"`
}

// InspectionVerifyingKey says where the verifying key was put and pins it.
type InspectionVerifyingKey struct {
	SizeBytes int64 `json:"sizeBytes"`
	// Digest ("sha256:…") is of all parts joined.
	Digest string `json:"digest"`
	// Parts counts the ConfigMaps used, from Outputs[0] on.
	Parts int `json:"parts"`
}

// ParseInspectionOrder reads an inspection order and checks that this prover can carry it out.
func ParseInspectionOrder(data []byte) (*InspectionOrder, error) {
	var o InspectionOrder
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("inspection order: %w", err)
	}
	if o.Version != Version {
		return nil, fmt.Errorf("inspection order has version %d, this prover understands %d: use a prover image of the operator's release", o.Version, Version)
	}
	if len(o.Outputs) == 0 {
		return nil, errors.New("inspection order names no ConfigMap for the verifying key")
	}
	return &o, nil
}

// Marshal writes the result within TerminationMaxBytes, shortening its message if it must.
func (r InspectionResult) Marshal() []byte {
	r.Version = Version
	for {
		data, err := json.Marshal(r)
		if err != nil { // strings and integers only: cannot fail
			panic(err)
		}
		if len(data) <= TerminationMaxBytes || r.Message == "" {
			return data
		}
		r.Message = cut(r.Message, len(r.Message)/2)
	}
}
