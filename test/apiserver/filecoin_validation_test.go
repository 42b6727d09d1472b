// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// Commitments as the chain writes them.
const (
	commD = "baga6ea4seaqaobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqoby"
	commR = "bagboea4b5abcabyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyh"
)

// digits is 32 bytes in hex.
var digits = strings.Repeat("0a", 32)

// newFilecoinJob returns a valid job of a proof of replication.
func newFilecoinJob(namespace, name string) *v1alpha1.ProofJob {
	job := newProofJob(namespace, name, 1)
	job.Spec.Inputs[0].InputSource = v1alpha1.InputSource{PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "sectors", Path: "c1.json"}}
	job.Spec.Circuit = v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinPoRep, FilecoinPoRep: &v1alpha1.FilecoinPoRepCircuit{
		RegisteredProof: "StackedDrg32GiBV1_1", Miner: "f01000", SectorNumber: ptr.To[int64](0),
		Ticket: v1alpha1.Bytes32(digits), Seed: v1alpha1.Bytes32("0x" + strings.ToUpper(digits)), CommD: commD, CommR: commR,
	}}
	return job
}

// windowPoSt makes a job that of a window PoSt of n sectors, with the longest numbers and commitments.
func windowPoSt(job *v1alpha1.ProofJob, registered string, n int) {
	c := &v1alpha1.FilecoinWindowPoStCircuit{RegisteredProof: registered, Randomness: v1alpha1.Bytes32("0x" + digits)}
	for i := range n {
		c.Sectors = append(c.Sectors, v1alpha1.FilecoinSector{SectorNumber: ptr.To(1<<53 - 1 - int64(i)), CommR: v1alpha1.SealedCommitment("0x" + digits)})
	}
	job.Spec.Circuit = v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinWindowPoSt, FilecoinWindowPoSt: c}
}

func TestFilecoinValidation(t *testing.T) {
	namespace := newNamespace(t)
	type spec = *v1alpha1.ProofJobSpec
	porep := func(change func(*v1alpha1.FilecoinPoRepCircuit)) func(spec) {
		return func(s spec) { change(s.Circuit.FilecoinPoRep) }
	}
	window := func(registered string, n int) func(spec) {
		return func(s spec) {
			job := &v1alpha1.ProofJob{}
			windowPoSt(job, registered, n)
			s.Circuit = job.Spec.Circuit
		}
	}
	winning := func(registered string) func(spec) {
		return func(s spec) {
			s.Circuit = v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinWinningPoSt, FilecoinWinningPoSt: &v1alpha1.FilecoinWinningPoStCircuit{
				RegisteredProof: registered, Randomness: v1alpha1.Bytes32(digits), Sector: v1alpha1.FilecoinSector{SectorNumber: ptr.To[int64](0), CommR: commR},
			}}
		}
	}
	update := func(registered string, shape v1alpha1.FilecoinShape) func(spec) {
		return func(s spec) {
			s.Circuit = v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinSnapDeals, FilecoinSnapDeals: &v1alpha1.FilecoinSnapDealsCircuit{
				RegisteredProof: registered, Shape: shape, CommROld: commR, CommRNew: commR, CommDNew: commD,
			}}
		}
	}
	const (
		member   = "spec.circuit.filecoin%[1]s: circuit.filecoin%[1]s goes with circuit.type Filecoin%[1]s: add or remove it, or change type"
		notCommR = "must be a comm_r: use 64 hex digits or a CID that begins with bagboea4b5abc"
		notCommD = "must be a comm_d: use 64 hex digits or a CID that begins with baga6ea4sea"
		notHex   = "must be 64 hex digits: convert it"
		badPoRep = "spec.circuit.filecoinPoRep.registeredProof: registeredProof must be a seal proof such as StackedDrg32GiBV1_1 or StackedDrg32GiBV1_1_Feat_SyntheticPoRep: correct it (non-interactive ones are aggregates, which cuzk does not make)"
		badMiner = "spec.circuit.filecoinPoRep.miner: miner must be an id address such as f01000: use that of the miner"
		badSnap  = "spec.circuit.filecoinSnapDeals.registeredProof: circuit.filecoinSnapDeals.registeredProof is required, but with shape Test not allowed: add or remove it"
	)
	for _, c := range []struct {
		name   string
		change func(spec)
		want   []string
	}{
		{name: "PoRep", change: func(spec) {}},
		{name: "PoRep, hex", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) {
			c.CommD, c.CommR, c.Miner = v1alpha1.UnsealedCommitment(digits), v1alpha1.SealedCommitment(digits), "1000"
		})},
		{name: "synthetic PoRep", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.RegisteredProof = "StackedDrg64GiBV1_1_Feat_SyntheticPoRep" })},
		{name: "test shape", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) {
			c.RegisteredProof, c.Shape = "StackedDrg2KiBV1", v1alpha1.FilecoinShapeTest
		})},
		{name: "test shape of other sectors", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.Shape = v1alpha1.FilecoinShapeTest }),
			want: []string{"spec.circuit.filecoinPoRep.shape: circuit.filecoinPoRep.shape Test is of 2 KiB: remove it, or use a registeredProof of that size"}},
		{name: "shape of another circuit", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.Shape = v1alpha1.FilecoinShapePoseidon }),
			want: []string{`spec.circuit.filecoinPoRep.shape: "Poseidon": supported values: "Registered", "Test"`}},
		{name: "non-interactive PoRep", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) {
			c.RegisteredProof = "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep"
		}), want: []string{badPoRep}},
		{name: "proof of another kind", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.RegisteredProof = "StackedDrgWindow32GiBV1" }), want: []string{badPoRep}},
		{name: "address of another kind", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.Miner = "f2abjx2xiihg" }), want: []string{badMiner}},
		{name: "negative sector", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.SectorNumber = ptr.To[int64](-1) }),
			want: []string{"spec.circuit.filecoinPoRep.sectorNumber: spec.circuit.filecoinPoRep.sectorNumber in body should be greater than or equal to 0"}},
		{name: "no sector", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.SectorNumber = nil }), want: []string{"spec.circuit.filecoinPoRep.sectorNumber: Required value"}},
		{name: "commitments exchanged", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.CommD, c.CommR = commR, commD }),
			want: []string{"spec.circuit.filecoinPoRep.commD: " + notCommD, "spec.circuit.filecoinPoRep.commR: " + notCommR}},
		{name: "base64", change: porep(func(c *v1alpha1.FilecoinPoRepCircuit) { c.Ticket, c.Seed = "AAAA", "AQ==" }),
			want: []string{"spec.circuit.filecoinPoRep.seed: " + notHex, "spec.circuit.filecoinPoRep.ticket: " + notHex}},

		{name: "window PoSt", change: window("StackedDrgWindow2KiBV1_1", 3)},
		{name: "largest window PoSt", change: window("StackedDrgWindow32GiBV1_1", 2349)},
		{name: "more than that", change: window("StackedDrgWindow32GiBV1_1", 2350), want: []string{"spec.circuit.filecoinWindowPoSt.sectors: Too many: 2350: must have at most 2349 items"}},
		{name: "256 partitions", change: window("StackedDrgWindow8MiBV1", 512)},
		{name: "257 partitions", change: window("StackedDrgWindow8MiBV1", 513),
			want: []string{"spec.circuit.filecoinWindowPoSt.sectors: circuit.filecoinWindowPoSt.sectors below 32 GiB must be at most 512: split them into several ProofJobs"}},
		{name: "no sectors", change: window("StackedDrgWindow8MiBV1", 0), want: []string{"spec.circuit.filecoinWindowPoSt.sectors: Required value"}},
		{name: "window PoSt with the winning proof", change: window("StackedDrgWinning2KiBV1", 1),
			want: []string{"spec.circuit.filecoinWindowPoSt.registeredProof: registeredProof must be a window PoSt proof such as StackedDrgWindow32GiBV1_1: correct it"}},
		{name: "sector's commitment", change: func(s spec) {
			window("StackedDrgWindow8MiBV1", 2)(s)
			s.Circuit.FilecoinWindowPoSt.Sectors[1].CommR = commD
		}, want: []string{"spec.circuit.filecoinWindowPoSt.sectors[1].commR: " + notCommR}},

		{name: "winning PoSt", change: winning("StackedDrgWinning64GiBV1")},
		{name: "winning PoSt with the window proof", change: winning("StackedDrgWindow64GiBV1"),
			want: []string{"spec.circuit.filecoinWinningPoSt.registeredProof: registeredProof must be a winning PoSt proof such as StackedDrgWinning32GiBV1: correct it"}},

		{name: "update", change: update("StackedDrg32GiBV1", "")},
		{name: "update with Poseidon", change: update("StackedDrg32GiBV1", v1alpha1.FilecoinShapePoseidon)},
		{name: "update of the test shape", change: update("", v1alpha1.FilecoinShapeTest)},
		{name: "update of no shape", change: update("", ""), want: []string{badSnap}},
		{name: "update of two shapes", change: update("StackedDrg32GiBV1", v1alpha1.FilecoinShapeTest), want: []string{badSnap}},
		{name: "update with a seal proof", change: update("StackedDrg32GiBV1_1", ""),
			want: []string{"spec.circuit.filecoinSnapDeals.registeredProof: registeredProof must be an update proof such as StackedDrg32GiBV1: correct it"}},

		{name: "no statement", change: func(s spec) { s.Circuit.FilecoinPoRep = nil }, want: []string{fmt.Sprintf(member, "PoRep")}},
		{name: "statement of another type", change: func(s spec) { s.Circuit.Type = v1alpha1.CircuitFilecoinSnapDeals },
			want: []string{fmt.Sprintf(member, "PoRep"), fmt.Sprintf(member, "SnapDeals")}},
		{name: "circom's member", change: func(s spec) { s.Circuit.Circom = &v1alpha1.CircomCircuit{} },
			want: []string{"spec.circuit.circom: circuit.circom is allowed only with circuit.type Circom: remove it or change type"}},

		{name: "inline JSON", change: func(s spec) {
			s.Inputs[0].InputSource = v1alpha1.InputSource{Inline: &v1alpha1.InlineInput{Input: ptr.To(`["AAAA"]`)}}
		}},
		{name: "partitions per pod", change: func(s spec) { s.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](10) }},
		{name: "several mistakes at once", change: func(s spec) {
			s.Inputs[0].PublicInputs = []string{"1"}
			s.Inputs = append(s.Inputs, *s.Inputs[0].DeepCopy())
			s.Inputs[1].Name = "other"
			s.MaxFailedPartitions = ptr.To[int32](1)
		}, want: []string{
			"spec.inputs: inputs must be exactly one with a Filecoin circuit.type: make a ProofJob for each of the others",
			"spec.inputs: inputs[].publicInputs is not allowed with a Filecoin circuit.type, which tells them: remove it",
			"spec.maxFailedPartitions: maxFailedPartitions must be 0 with a Filecoin circuit.type, whose proof needs every partition: remove it",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := newFilecoinJob(namespace, "job")
			c.change(&job.Spec)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, causes(t, dryCreate(t, job))); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFilecoinImmutable makes sure that a statement stays what it was.
func TestFilecoinImmutable(t *testing.T) {
	job := newFilecoinJob(newNamespace(t), "job")
	if err := admin.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	want := []string{"spec.circuit: circuit cannot be changed: create a new ProofJob"}
	for _, change := range []func(*v1alpha1.FilecoinPoRepCircuit){
		func(c *v1alpha1.FilecoinPoRepCircuit) { c.SectorNumber = ptr.To[int64](1) },
		func(c *v1alpha1.FilecoinPoRepCircuit) { c.Shape = v1alpha1.FilecoinShapeRegistered },
		func(c *v1alpha1.FilecoinPoRepCircuit) { c.CommD = v1alpha1.UnsealedCommitment(digits) },
	} {
		changed := job.DeepCopy()
		change(changed.Spec.Circuit.FilecoinPoRep)
		if diff := cmp.Diff(want, causes(t, admin.Update(t.Context(), changed, client.DryRunAll))); diff != "" {
			t.Errorf("causes (-want +got):\n%s", diff)
		}
	}
}

// TestFilecoinReports makes sure that no public inputs get into the status, where nothing would ever look at them.
func TestFilecoinReports(t *testing.T) {
	job := reportingJob(t, newFilecoinJob(newNamespace(t), "job"))
	report := &v1alpha1.PartitionReport{PodName: "job-0-abcde", PodUID: "1", Stage: v1alpha1.StageDone, Proof: strings.Repeat("AAAA", 64)}
	if err := applyReport(t, admin, job, 0, report); err != nil {
		t.Error(err)
	}
	for _, forbidden := range []func(*v1alpha1.PartitionReport){
		func(r *v1alpha1.PartitionReport) { r.PublicInputs = []string{"1"} },
		func(r *v1alpha1.PartitionReport) { r.PublicInputsDigest = "sha256:" + digits },
	} {
		r := report.DeepCopy()
		forbidden(r)
		if err := applyReport(t, admin, job, 0, r); err == nil || !strings.Contains(err.Error(), "not allowed with a Filecoin circuit.type") {
			t.Errorf("public inputs: %v", err)
		}
	}
}

// TestFilecoinWorstCase stores the largest jobs: that with the most sectors, and that with the most partitions.
func TestFilecoinWorstCase(t *testing.T) {
	namespace := newNamespace(t)
	for _, c := range []struct {
		name, registered    string
		sectors, partitions int
	}{{"sectors", "StackedDrgWindow32GiBV1_1", 2349, 1}, {"partitions", "StackedDrgWindow512MiBV1_1", 512, 256}} {
		t.Run(c.name, func(t *testing.T) {
			job := largestJob(namespace, 1)
			job.Name = c.name
			job.Annotations = map[string]string{"example.com/note": strings.Repeat("a", 200_000)}
			job.Spec.Inputs[0].PublicInputs = nil
			windowPoSt(job, c.registered, c.sectors)
			if err := admin.Create(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			job.Status = largestStatus(c.partitions)
			for i := range job.Status.Partitions {
				r := job.Status.Partitions[i].Report
				r.Proof, r.PublicInputs, r.PublicInputsDigest = strings.Repeat("AAAA", 64), nil, ""
			}
			// One proof is never in two places, but there is room even for that.
			job.Status.Result = &v1alpha1.ProofJobResult{Proof: strings.Repeat("AAAA", 64*c.partitions)}
			status, err := json.Marshal(job.Status)
			if err != nil {
				t.Fatal(err)
			}
			if len(status) > v1alpha1.MaxStatusBytes {
				t.Errorf("the status takes %d bytes, more than %d", len(status), v1alpha1.MaxStatusBytes)
			}
			if err := admin.Status().Update(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			whole, err := json.Marshal(job)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("status %d bytes, whole object %d bytes", len(status), len(whole))
			if len(whole) > etcdBytes*9/10 {
				t.Errorf("the whole object takes %d bytes, within 10 %% of the %d that etcd takes", len(whole), etcdBytes)
			}
			more := job.DeepCopy()
			more.Status.Result.Proof = strings.Repeat("AAAA", 64*v1alpha1.MaxPartitions+1)
			if err := admin.Status().Update(t.Context(), more, client.DryRunAll); err == nil {
				t.Error("a longer result was accepted")
			}
		})
	}
	// The sectors of a whole partition, as they are numbered in practice, can be applied on the client's side.
	job := newFilecoinJob(namespace, "applied")
	windowPoSt(job, "StackedDrgWindow32GiBV1_1", 2349)
	for i := range job.Spec.Circuit.FilecoinWindowPoSt.Sectors {
		job.Spec.Circuit.FilecoinWindowPoSt.Sectors[i] = v1alpha1.FilecoinSector{SectorNumber: ptr.To(1_000_000 + int64(i)), CommR: commR}
	}
	kubectlApply(t, job)
}
