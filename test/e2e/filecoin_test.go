//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// A window PoSt of three sectors of 2 KiB: the smallest of Filecoin's proofs that has two partitions.
func TestFilecoinWindowPoSt(t *testing.T) {
	ns := emptyNamespace(t)
	made := fabricate(t, "window-post", "--sectors", "3")
	filecoinKey(t, ns, "window-post", made)
	circuit := v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinWindowPoSt, FilecoinWindowPoSt: &v1alpha1.FilecoinWindowPoStCircuit{
		RegisteredProof: made.RegisteredProof, Randomness: v1alpha1.Bytes32(made.Randomness), Sectors: made.sectors(),
	}}
	verify := func(t *testing.T, job *v1alpha1.ProofJob) {
		t.Helper()
		verifiesFilecoin(t, "window-post", job, "--randomness", made.Randomness, "--registered-proof", made.RegisteredProof,
			"--sectors", made.file("sectors.json"))
	}

	t.Run("in one pod", func(t *testing.T) {
		create(t, filecoinJob(ns, "whole", circuit))
		job := until(t, ns, "whole", "ends", finished)
		if job.Status.State != v1alpha1.ProofJobSucceeded || job.Status.Progress != "2/2" {
			t.Fatalf("got %s", sketch(job))
		}
		verify(t, job)
		if n := len(podsOf(t, ns, "whole")); n != 1 {
			t.Errorf("%d pods proved what one proves by default", n)
		}
		if c := condition(job, v1alpha1.ConditionVerified); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonAgainstDeclaredInputs {
			t.Errorf("Verified is %s, reason %s", c.Status, c.Reason)
		}
		for _, p := range job.Status.Partitions {
			if p.Report == nil || p.Report.PublicInputs != nil || p.Report.Timings == nil || p.Report.InputDigest == "" {
				t.Errorf("the report of partition %d is %+v", p.Index, p.Report)
			}
		}
	})

	// Each partition has a pod, one of which is killed: the other partition's proof is kept, and the whole is in order.
	t.Run("in two pods, one of them killed", func(t *testing.T) {
		create(t, filecoinJob(ns, "parts", circuit, partitionsPerPod(1), long(2)))
		first := proving(t, ns, "parts")
		if err := admin.Delete(t.Context(), first, client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
		job := until(t, ns, "parts", "ends", finished)
		if job.Status.State != v1alpha1.ProofJobSucceeded {
			t.Fatalf("after killing pod %s: %s", first.Name, sketch(job))
		}
		verify(t, job)
		pods := map[string]bool{}
		for _, p := range job.Status.Partitions {
			pods[p.Report.PodUID] = true
			wanted := int32(1)
			if strings.HasPrefix(first.Name, fmt.Sprintf("%s-%d-", job.Name, p.Index)) {
				wanted = 2
			}
			if p.Attempts != wanted {
				t.Errorf("partition %d took %d attempts, want %d", p.Index, p.Attempts, wanted)
			}
		}
		if len(pods) != 2 || pods[string(first.UID)] {
			t.Errorf("after killing pod %s: %s", first.Name, sketch(job))
		}
	})

	// The input is of another sector than the job says: refused before any work, with file and field named.
	t.Run("of another statement", func(t *testing.T) {
		other := *circuit.DeepCopy()
		other.FilecoinWindowPoSt.Sectors[2].SectorNumber = ptr.To[int64](12)
		create(t, filecoinJob(ns, "other", other))
		job := until(t, ns, "other", "ends", finished)
		c := condition(job, v1alpha1.ConditionFailed)
		if job.Status.State != v1alpha1.ProofJobFailed || !strings.Contains(c.Message, "vanilla-3.bin: sector_id is 3, which is none of the sectors") {
			t.Errorf("got %s", sketch(job))
		}
		if n := len(podsOf(t, ns, "other")); n != 1 {
			t.Errorf("%d pods were made, want one", n)
		}
	})
}

func TestFilecoinWinningPoSt(t *testing.T) {
	ns := emptyNamespace(t)
	made := fabricate(t, "winning-post")
	filecoinKey(t, ns, "winning-post", made)
	create(t, filecoinJob(ns, "winning", v1alpha1.Circuit{
		Type: v1alpha1.CircuitFilecoinWinningPoSt, FilecoinWinningPoSt: &v1alpha1.FilecoinWinningPoStCircuit{
			RegisteredProof: made.RegisteredProof, Randomness: v1alpha1.Bytes32(made.Randomness), Sector: made.sectors()[0],
		},
	}))
	job := until(t, ns, "winning", "ends", finished)
	verifiesFilecoin(t, "winning-post", job, "--randomness", made.Randomness, "--registered-proof", made.RegisteredProof,
		"--sectors", made.file("sectors.json"))
}

// The variant with Poseidon is a circuit of SnapDeals that is small enough for every run.
func TestFilecoinSnapDealsPoseidon(t *testing.T) {
	ns := emptyNamespace(t)
	made := fabricate(t, "snap-deals", "--poseidon")
	filecoinKey(t, ns, "snap-deals-poseidon", made)
	create(t, filecoinJob(ns, "snap", made.update(v1alpha1.FilecoinShapePoseidon)))
	job := until(t, ns, "snap", "ends", finished)
	made.verifiesUpdate(t, "snap-deals-poseidon", job, "--poseidon")
}

// A proof of replication of two partitions, which no chain knows, since those of small sectors have one.
func TestFilecoinPoRep(t *testing.T) {
	takesMinutes(t)
	ns := emptyNamespace(t)
	made := fabricate(t, "porep", "--test-shape", "--sector-number", "7")
	filecoinKey(t, ns, "porep", made)
	circuit := v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinPoRep, FilecoinPoRep: &v1alpha1.FilecoinPoRepCircuit{
		RegisteredProof: made.RegisteredProof, Shape: v1alpha1.FilecoinShapeTest, Miner: "f01000", SectorNumber: ptr.To[int64](7),
		Ticket: v1alpha1.Bytes32(made.Ticket), Seed: v1alpha1.Bytes32(made.Seed),
		CommD: v1alpha1.UnsealedCommitment(made.CommD), CommR: v1alpha1.SealedCommitment(made.CommR),
	}}
	create(t, filecoinJob(ns, "porep", circuit))
	job := until(t, ns, "porep", "ends", finished)
	verifiesFilecoin(t, "porep", job, "--registered-proof", made.RegisteredProof, "--test-shape", "--miner", "f01000", "--sector-number", "7",
		"--ticket", made.Ticket, "--seed", made.Seed, "--comm-d", made.CommD, "--comm-r", made.CommR)

	other := *circuit.DeepCopy()
	other.FilecoinPoRep.SectorNumber = ptr.To[int64](8)
	create(t, filecoinJob(ns, "other", other))
	job = until(t, ns, "other", "ends", finished)
	if c := condition(job, v1alpha1.ConditionFailed); !strings.Contains(c.Message, "the sector is 7, but 8 was given") {
		t.Errorf("another sector: %s", sketch(job))
	}
}

func TestFilecoinSnapDeals(t *testing.T) {
	takesMinutes(t)
	ns := emptyNamespace(t)
	made := fabricate(t, "snap-deals")
	filecoinKey(t, ns, "snap-deals", made)
	create(t, filecoinJob(ns, "snap", made.update("")))
	job := until(t, ns, "snap", "ends", finished)
	made.verifiesUpdate(t, "snap-deals", job)
}

// takesMinutes skips what make test-e2e-long runs: circuits of millions of constraints.
func takesMinutes(t *testing.T) {
	t.Helper()
	if os.Getenv("CUZK_TEST_LONG") == "" {
		t.Skip("set CUZK_TEST_LONG to run this")
	}
	usual := patience
	t.Cleanup(func() { patience = usual })
	patience = 20 * time.Minute
}

func partitionsPerPod(n int32) jobOption {
	return func(j *v1alpha1.ProofJob) { j.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To(n) }
}

// filecoinJob proves the input on the claim that filecoinKey makes.
func filecoinJob(ns, name string, circuit v1alpha1.Circuit, options ...jobOption) *v1alpha1.ProofJob {
	job := &v1alpha1.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	job.Spec.Circuit = circuit
	job.Spec.ProvingKeyRef.Name = "filecoin"
	job.Spec.Inputs = []v1alpha1.ProofInput{{Name: "input", InputSource: v1alpha1.InputSource{
		PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "filecoin", Path: "input"},
	}}}
	for _, o := range options {
		o(job)
	}
	return job
}

// filecoinKey claims a volume with a circuit's parameters and an input, and waits until the operator has looked at the key.
func filecoinKey(t *testing.T, ns, circuit string, in *fabrication) {
	t.Helper()
	params := parameters(t, circuit)
	name := filepath.Base(params)
	files := map[string]string{name: params}
	for _, f := range in.inputs {
		if len(in.inputs) == 1 {
			files["input"] = f
		} else {
			files["input/"+filepath.Base(f)] = f
		}
	}
	claim(t, ns, "filecoin", files)
	create(t, &v1alpha1.ProvingKey{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "filecoin"},
		Spec: v1alpha1.ProvingKeySpec{
			Format: v1alpha1.KeyFormatFilecoin, Curve: v1alpha1.CurveBLS12381,
			Files: v1alpha1.KeyFiles{ProvingKey: v1alpha1.KeyFile{PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "filecoin", Path: v1alpha1.RelativePath(name)}}},
		},
	})
	key := keyReady(t, ns, "filecoin")
	published := circuit != "snap-deals-poseidon" // which is published for large sectors alone
	if f := key.Status.Facts; f == nil || (f.Parameters == strings.TrimSuffix(name, ".params")) != published {
		t.Errorf("facts of %s: %+v", name, f)
	}
}

// result is the proof of a job that succeeded.
func result(t *testing.T, job *v1alpha1.ProofJob) []byte {
	t.Helper()
	if job.Status.State != v1alpha1.ProofJobSucceeded || job.Status.Result == nil {
		t.Fatalf("got %s, result %+v", sketch(job), job.Status.Result)
	}
	data, err := base64.StdEncoding.DecodeString(job.Status.Result.Proof)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// verifiesFilecoin checks a job's result by the command that users have.
func verifiesFilecoin(t *testing.T, circuit string, job *v1alpha1.ProofJob, flags ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "proof.bin")
	if err := os.WriteFile(file, result(t, job), 0o600); err != nil {
		t.Fatal(err)
	}
	command := strings.TrimSuffix(circuit, "-poseidon")
	cuzk(t, slices.Concat([]string{"verify", command, file, "--params-dir", filepath.Dir(parameters(t, circuit))}, flags)...)
}

// verifiesUpdate checks the result of a job about an update.
func (f *fabrication) verifiesUpdate(t *testing.T, circuit string, job *v1alpha1.ProofJob, flags ...string) {
	t.Helper()
	verifiesFilecoin(t, circuit, job, append(flags, "--registered-proof", f.RegisteredProof,
		"--comm-r-old", f.CommROld, "--comm-r-new", f.CommRNew, "--comm-d-new", f.CommDNew)...)
}
