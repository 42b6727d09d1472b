// Package order is what the operator tells a prover pod, and the short form of what the pod answers.
//
// An order travels as JSON in an annotation of the pod template and reaches the pod as a file. It never holds a secret,
// an inline input or a witness: those are mounted, or read from the ProofJob.
package order

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

const (
	// Annotation carries the order on the pod template.
	Annotation = "proving.cuzk.dev/order"
	// MaxBytes bounds an order; one that passes it leaves to the job what is long about its inputs (Order.InputsFromJob).
	MaxBytes = 192 << 10

	// Path is where the pod finds its order.
	Path = "/etc/cuzk/order/order.json"

	// Directories of the pod, by what is mounted there.
	KeyDir         = "/var/run/cuzk/key"
	KeyClaimsDir   = "/var/run/cuzk/key-claims"
	KeyImagesDir   = "/var/run/cuzk/key-images"
	InputsDir      = "/var/run/cuzk/inputs"
	InputClaimsDir = "/var/run/cuzk/input-claims"
	CredentialsDir = "/var/run/cuzk/credentials"
	ScratchDir     = "/var/cache/cuzk"

	// Environment that the operator sets from the downward API; JOB_COMPLETION_INDEX is the Job controller's.
	EnvPodName      = "CUZK_POD_NAME"
	EnvPodUID       = "CUZK_POD_UID"
	EnvPodNamespace = "CUZK_POD_NAMESPACE"
	EnvNodeName     = "CUZK_NODE_NAME"
	EnvIndex        = "JOB_COMPLETION_INDEX"

	// Version of the order's form. A pod refuses an order whose version it does not know.
	Version = 1
)

// Order is everything a pod must know of its job, but for secrets and inline inputs.
type Order struct {
	Version   int    `json:"version"`
	Namespace string `json:"namespace"`
	Job       string `json:"job"`
	JobUID    string `json:"jobUID"`

	Circuit Circuit `json:"circuit"`
	Key     Key     `json:"key"`

	// Partitions counts the partitions of the job; index i of the Job owns partitions i·k … i·k+k−1.
	Partitions       int `json:"partitions"`
	PartitionsPerPod int `json:"partitionsPerPod"`

	// CircuitFromJob says that the statement did not fit: Circuit.Filecoin is to be taken from the ProofJob's spec.
	CircuitFromJob bool `json:"circuitFromJob,omitempty"`

	// Inputs, one a partition in order, or the one of a Filecoin proof.
	Inputs []Input `json:"inputs"`
	// InputsFromJob says that the inputs did not fit: names, digests, URIs and the paths on claims are to be taken from
	// the ProofJob's spec. Where things are mounted is here in any case.
	InputsFromJob bool `json:"inputsFromJob,omitempty"`

	Backend    Backend `json:"backend"`
	Runs       int     `json:"runs"`
	WarmupRuns int     `json:"warmupRuns"`

	// ProgressSeconds is the least time between two progress reports of one partition.
	ProgressSeconds int `json:"progressSeconds"`
}

// Circuit is the job's circuit: its type as in the API and what the prover needs of its member.
type Circuit struct {
	Type string `json:"type"`
	// Curve is set for gnark circuits, whose files do not always tell it.
	Curve string `json:"curve,omitempty"`
	// CommitmentHash is "SHA256" or "Keccak256" (gnark).
	CommitmentHash string `json:"commitmentHash,omitempty"`
	// WitnessTimeoutSeconds bounds circom's witness generator for one input; 0 leaves the prover's own limit.
	WitnessTimeoutSeconds int `json:"witnessTimeoutSeconds,omitempty"`
	// Filecoin is the circuit of a Filecoin proof with its statement, as in the API; package statement reads it.
	Filecoin *v1alpha1.Circuit `json:"filecoin,omitempty"`
}

// IsFilecoin tells whether all partitions are of one proof, made from one input.
func (c *Circuit) IsFilecoin() bool { return v1alpha1.CircuitType(c.Type).IsFilecoin() }

// Key says where the files of the proving key are.
type Key struct {
	Name   string `json:"name"`
	UID    string `json:"uid"`
	Format string `json:"format"`
	Curve  string `json:"curve"`

	ProvingKey       File  `json:"provingKey"`
	VerifyingKey     *File `json:"verifyingKey,omitempty"`
	ConstraintSystem *File `json:"constraintSystem,omitempty"`
	WitnessGenerator *File `json:"witnessGenerator,omitempty"`
}

// File is a file at a path in the pod or at a URI.
type File struct {
	// Root and Path name a mounted file: Path is opened below Root and cannot leave it.
	Root string `json:"root,omitempty"`
	Path string `json:"path,omitempty"`
	// URI names a file to fetch (https, s3, gs, azblob).
	URI string `json:"uri,omitempty"`
	// Credentials is the directory with the credentials for URI, if it needs any.
	Credentials string `json:"credentials,omitempty"`
	// Inline, for a verifying key in the ProvingKey itself.
	Inline []byte `json:"inline,omitempty"`
	// SizeBytes and Digest ("sha256:…", "blake2b-512:…") pin the content; zero values do not.
	SizeBytes int64  `json:"sizeBytes,omitempty"`
	Digest    string `json:"digest,omitempty"`
}

// Input is one input of a job.
type Input struct {
	Name string `json:"name"`
	// Inline says that the bytes are in the ProofJob's spec.
	Inline bool `json:"inline,omitempty"`
	File
}

// Backend is spec.backend.
type Backend struct {
	Type                string `json:"type"`
	PartitionWorkers    int    `json:"partitionWorkers,omitempty"`
	GPUWorkersPerDevice int    `json:"gpuWorkersPerDevice,omitempty"`
	GPUThreads          int    `json:"gpuThreads,omitempty"`
}

// Parse reads an order and checks that this prover can carry it out.
func Parse(data []byte) (*Order, error) {
	var o Order
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("order: %w", err)
	}
	if o.Version != Version {
		return nil, fmt.Errorf("order has version %d, this prover understands %d: use a prover image of the operator's release", o.Version, Version)
	}
	if o.Partitions < 1 || o.PartitionsPerPod < 1 {
		return nil, errors.New("order has no partitions")
	}
	want := o.Partitions
	if o.Circuit.IsFilecoin() {
		want = 1
		if o.Circuit.Filecoin == nil && !o.CircuitFromJob {
			return nil, fmt.Errorf("order has no statement for circuit type %s", o.Circuit.Type)
		}
	}
	if len(o.Inputs) != want {
		return nil, fmt.Errorf("order has %d inputs for %d partitions, want %d", len(o.Inputs), o.Partitions, want)
	}
	return &o, nil
}

// Statement is the circuit of a Filecoin proof with its statement, for which a long one is looked up in the job's spec.
func (o *Order) Statement(spec *v1alpha1.ProofJobSpec) *v1alpha1.Circuit {
	if o.CircuitFromJob {
		return &spec.Circuit
	}
	return o.Circuit.Filecoin
}

// Marshal writes an order, leaving the statement and what is long about the inputs to the job when the whole would pass
// MaxBytes.
func (o Order) Marshal() ([]byte, error) {
	data, err := json.Marshal(o)
	if err != nil || len(data) <= MaxBytes {
		return data, err
	}
	if o.Circuit.IsFilecoin() {
		o.Circuit.Filecoin, o.CircuitFromJob = nil, true
		if data, err = json.Marshal(o); err != nil || len(data) <= MaxBytes {
			return data, err
		}
	}
	short := make([]Input, len(o.Inputs))
	for i, in := range o.Inputs {
		short[i] = Input{Inline: in.Inline, File: File{Root: in.Root, Credentials: in.Credentials}}
		if in.Root == InputsDir {
			short[i].Path = in.Path
		}
	}
	o.Inputs, o.InputsFromJob = short, true
	data, err = json.Marshal(o)
	if err == nil && len(data) > MaxBytes {
		err = fmt.Errorf("order takes %d bytes even with its inputs shortened, more than %d", len(data), MaxBytes)
	}
	return data, err
}

// Owned lists the partitions of a completion index.
func (o *Order) Owned(index int) (lo, hi int) {
	lo = index * o.PartitionsPerPod
	return lo, min(lo+o.PartitionsPerPod, o.Partitions)
}
