//go:build apiserver

package worker

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// filecoinSetup makes a job of a window PoSt of two partitions, and the worker of the pod that proves both.
func filecoinSetup(t *testing.T) (w *Worker, job *v1alpha1.ProofJob, folder string) {
	t.Helper()
	ctx := t.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "worker-"}}
	if err := admin.Create(ctx, ns); err != nil {
		t.Fatal(err)
	}
	circuit, folder := windowCase(t)
	job = &v1alpha1.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "job"}}
	job.Spec.Circuit = *circuit
	job.Spec.ProvingKeyRef.Name = "key"
	job.Spec.Inputs = []v1alpha1.ProofInput{{Name: "in", InputSource: v1alpha1.InputSource{
		PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "inputs", Path: "vanilla"},
	}}}
	if err := admin.Create(ctx, job); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		job.Status.Partitions = append(job.Status.Partitions, v1alpha1.PartitionStatus{Index: int32(i), Input: "in", State: v1alpha1.PartitionPending})
	}
	if err := admin.Status().Update(ctx, job); err != nil {
		t.Fatal(err)
	}
	keys := t.TempDir()
	params, _ := windowKey()
	writeFile(t, filepath.Join(keys, "window.params"), params)
	scratch := t.TempDir()
	w = &Worker{
		Pod: Pod{Name: "job-0-abcde", Namespace: ns.Name, Node: "node-1", UID: "5f2b1c9e-0000-4000-8000-000000000001"},
		Order: &order.Order{
			Version: order.Version, Namespace: ns.Name, Job: "job", JobUID: string(job.UID),
			Circuit:    order.Circuit{Type: string(circuit.Type), Filecoin: circuit},
			Key:        order.Key{Name: "key", Format: "Filecoin", Curve: "BLS12-381", ProvingKey: order.File{Root: keys, Path: "window.params"}},
			Partitions: 2, PartitionsPerPod: 2, Runs: 1, ProgressSeconds: 1,
			Inputs: []order.Input{{Name: "in", File: order.File{Root: filepath.Dir(folder), Path: filepath.Base(folder)}}},
		},
		Client: admin, Filecoin: &Filecoin{Backend: cpu.New(cpu.Config{}), CacheFolder: filepath.Join(scratch, "constraints")},
		Log: testr.New(t), Clock: clock.RealClock{}, Scratch: scratch, Termination: filepath.Join(t.TempDir(), "termination-log"),
	}
	return w, job, folder
}

func TestFilecoinProofOfTwoPartitions(t *testing.T) {
	w, job, _ := filecoinSetup(t)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := reports(t, job)
	last := lastWord(t, w)
	if len(last.Partitions) != 2 || last.Truncated {
		t.Fatalf("termination message: %+v", last)
	}
	var whole []byte
	for i, r := range first {
		if r.Stage != v1alpha1.StageDone || r.Error != nil || r.PublicInputs != nil || r.PublicInputsDigest != "" ||
			r.InputDigest == "" || r.InputDigest != first[0].InputDigest || r.Timings == nil || last.Partitions[i].Proof != r.Proof {
			t.Errorf("partition %d: %+v", i, r)
		}
		data, err := base64.StdEncoding.DecodeString(r.Proof)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, data...)
	}
	verifiesWindow(t, w.Order, whole)

	// A pod that comes later proves what is not verified yet, alone.
	got := job.DeepCopy()
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(job), got); err != nil {
		t.Fatal(err)
	}
	got.Status.Partitions[0].Verified = ptr.To(true)
	if err := admin.Status().Update(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	w.Pod.Name, w.Pod.UID = "job-0-fghij", "5f2b1c9e-0000-4000-8000-000000000002"
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := reports(t, job)
	if second[0].PodUID != first[0].PodUID || second[1].PodUID != w.Pod.UID || second[1].Proof == first[1].Proof || second[1].Proof == "" {
		t.Errorf("after another pod: %+v and %+v", second[0], second[1])
	}
}

// verifiesWindow verifies the proof of all partitions.
func verifiesWindow(t *testing.T, o *order.Order, data []byte) {
	t.Helper()
	_, vk := windowKey()
	parsed, err := filparams.ParseVerifyingKey("vk", vk)
	if err != nil {
		t.Fatal(err)
	}
	v, err := groth16.NewVerifier(parsed, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := proof.Verify(v, proof.Claim{Statement: claimOf(t, o.Circuit.Filecoin).Statement, Proof: data}); err != nil {
		t.Error(err)
	}
}

// A vanilla proof that contradicts itself ends the pod, with the file and the field named; partitions before it are reported.
func TestBadVanillaProofEndsThePod(t *testing.T) {
	w, job, folder := filecoinSetup(t)
	path := filepath.Join(folder, "vanilla-11.bin")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shape := filecoin.WindowPoStShape(filecoin.Sector2KiB)
	v, err := vanilla.ReadPoSt(path, data, shape)
	if err != nil {
		t.Fatal(err)
	}
	v.Leaves[4].Path[1].Siblings[2][0] ^= 1
	writeFile(t, path, v.Bincode(shape))
	if err := w.Run(t.Context()); failure.ClassOf(err) != failure.Input {
		t.Errorf("got %v, want an error of class Input", err)
	}
	got := reports(t, job)
	if got[0] == nil || got[0].Proof == "" || got[1] == nil || got[1].Error == nil || !strings.Contains(got[1].Error.Message, "input in/vanilla-11.bin: ") {
		t.Errorf("%+v and %+v", got[0], got[1])
	}
}

// An input of another statement is refused before the key, which is not even there.
func TestInputOfAnotherStatementIsRefusedBeforeTheKey(t *testing.T) {
	w, job, _ := filecoinSetup(t)
	w.Order.Key.ProvingKey.Path = "absent"
	w.Order.Circuit.Filecoin.FilecoinWindowPoSt.Sectors[2].SectorNumber = ptr.To[int64](12)
	if err := w.Run(t.Context()); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), "sector_id is 11") {
		t.Errorf("got %v", err)
	}
	if got := reports(t, job); got[0] == nil || got[0].Error == nil || got[1] != nil {
		t.Errorf("%+v and %+v", got[0], got[1])
	}
}

// Nothing is computed if the vanilla proofs of one of the pod's partitions are missing; another pod's do not matter.
func TestIncompleteFolder(t *testing.T) {
	w, job, folder := filecoinSetup(t)
	if err := os.Remove(filepath.Join(folder, "vanilla-11.bin")); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), "lacks vanilla proofs of sectors of partition 1; it is complete for partitions [0]") {
		t.Errorf("got %v", err)
	}
	if got := reports(t, job); got[0] == nil || got[0].Error == nil || got[1] != nil {
		t.Errorf("%+v and %+v", got[0], got[1])
	}
	w.Order.PartitionsPerPod = 1
	if err := w.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
