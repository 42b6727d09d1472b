package proofjob

import (
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
	"github.com/cuzk-dev/cuzk/prover/worker/statement"
)

// circuit is what jobs differ in by spec.circuit; nothing else here asks for its type. A batch of circom or gnark proofs has
// a partition for each input, whose proof stands for itself. A Filecoin proof is made from one input in as many partitions
// as its circuit has; none of them can be missing, and joined they are the proof.
type circuit struct {
	keyFormat  api.KeyFormat
	partitions int32
	// partitionsPerPod is how many one pod proves, parallelism how many pods run at once.
	partitionsPerPod int32
	parallelism      int32
	// maxFailed is how many partitions may fail before the job does, nil for all.
	maxFailed *int32
	// filecoin is what a Filecoin proof claims, nil for a batch.
	filecoin *statement.Filecoin
}

// keyFormats are those of batches.
var keyFormats = map[api.CircuitType]api.KeyFormat{
	api.CircuitCircom: api.KeyFormatSnarkjs,
	api.CircuitGnark:  api.KeyFormatGnark,
}

// circuitOf reads spec.circuit and what depends on it. An error is one of the statement that the API server could not see;
// the circuit is then one of a single partition, with which nothing can be done.
func circuitOf(job *api.ProofJob) (*circuit, error) {
	spec := &job.Spec
	if !spec.Circuit.Type.IsFilecoin() {
		c := &circuit{keyFormat: keyFormats[spec.Circuit.Type], partitions: int32(len(spec.Inputs)), maxFailed: spec.MaxFailedPartitions}
		c.spread(&spec.Execution.Dedicated, 1, 1)
		return c, nil
	}
	c := &circuit{keyFormat: api.KeyFormatFilecoin, partitions: 1, maxFailed: ptr.To[int32](0)}
	f, err := statement.Of(&spec.Circuit)
	if err == nil {
		c.filecoin, c.partitions = f, int32(f.Statement.Partitions())
	}
	c.spread(&spec.Execution.Dedicated, c.partitions, c.partitions)
	return c, err
}

// spread lays the partitions out over pods, as the job or else the defaults say.
func (c *circuit) spread(d *api.DedicatedExecution, partitionsPerPod, parallelism int32) {
	c.partitionsPerPod = min(ptr.Deref(d.PartitionsPerPod, partitionsPerPod), c.partitions)
	c.parallelism = min(ptr.Deref(d.Parallelism, parallelism), c.completions())
}

// completions is how many pods it takes.
func (c *circuit) completions() int32 {
	return (c.partitions + c.partitionsPerPod - 1) / c.partitionsPerPod
}

// whole says that the partitions are parts of one proof.
func (c *circuit) whole() bool { return c.filecoin != nil }

// input is what a partition is made from.
func (c *circuit) input(spec *api.ProofJobSpec, partition int32) *api.ProofInput {
	if c.whole() {
		return &spec.Inputs[0]
	}
	return &spec.Inputs[partition]
}

// claim is what a proof must be about.
type claim struct {
	// public inputs, in decimal; those of a Filecoin proof come from its statement.
	public    []string
	statement proof.Statement
	// declared says that the spec tells them, not the prover.
	declared bool
	// name tells the claim from others of the job.
	name string
}

// claim is what the proof of a partition's report must be about.
func (c *circuit) claim(spec *api.ProofJobSpec, partition int32, report *api.PartitionReport) claim {
	if c.whole() {
		return claim{
			statement: proof.Partition(c.filecoin.Statement, int(partition)), declared: true,
			name: "partition " + strconv.Itoa(int(partition)),
		}
	}
	public := c.input(spec, partition).PublicInputs
	declared := len(public) > 0
	if !declared {
		public = report.PublicInputs
	}
	return claim{public: public, declared: declared, name: strings.Join(public, "\n")}
}

// wholeClaim is what the proofs of all partitions must be about together.
func (c *circuit) wholeClaim() claim {
	return claim{statement: c.filecoin.Statement, declared: true, name: "whole"}
}

// declares says that the spec tells the public inputs of a partition.
func (c *circuit) declares(in *api.ProofInput) bool { return c.whole() || len(in.PublicInputs) > 0 }

// order is what a pod must know of the circuit.
func (c *circuit) order(spec *api.ProofJobSpec, curve string) order.Circuit {
	o := order.Circuit{Type: string(spec.Circuit.Type)}
	switch {
	case c.whole():
		o.Filecoin = &spec.Circuit
	case c.keyFormat == api.KeyFormatGnark:
		o.Curve, o.CommitmentHash = curve, commitmentHash(spec)
	case spec.Circuit.Circom != nil:
		o.WitnessTimeoutSeconds = int(ptr.Deref(spec.Circuit.Circom.WitnessTimeoutSeconds, 0))
	}
	return o
}

// commitmentHash is the hash of a gnark job's commitments, "" for the default.
func commitmentHash(spec *api.ProofJobSpec) string {
	if spec.Circuit.Gnark == nil {
		return ""
	}
	return string(spec.Circuit.Gnark.CommitmentHash)
}
