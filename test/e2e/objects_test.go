//go:build e2e

package e2e

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
)

// The roots that the sample's witnesses are about: what snarkjs wrote as public signals when the witnesses were made.
var roots = map[string]string{
	"alice": "14070723239694043173881743399778374300979442942079490105279892527278855680629",
	"bob":   "16335250830246949645986025671138206212960773593623350961623669227472206203679",
	"carol": "40240553297902455708753880458390032162369972518227942523859229608682376864294",
}

func merkleKey(ns, name string) *v1alpha1.ProvingKey {
	return &v1alpha1.ProvingKey{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: v1alpha1.ProvingKeySpec{
			Format: v1alpha1.KeyFormatSnarkjs, Curve: v1alpha1.CurveBLS12381,
			Files: v1alpha1.KeyFiles{
				ProvingKey:       v1alpha1.KeyFile{ConfigMap: &v1alpha1.ConfigMapKey{Name: "key", Key: "merkle3.zkey"}},
				VerifyingKey:     &v1alpha1.KeyFile{ConfigMap: &v1alpha1.ConfigMapKey{Name: "circuit", Key: "vk.json"}},
				ConstraintSystem: &v1alpha1.KeyFile{ConfigMap: &v1alpha1.ConfigMapKey{Name: "circuit", Key: "merkle3.r1cs"}},
			},
		},
	}
}

// jobOption changes a job before it is created.
type jobOption func(*v1alpha1.ProofJob)

// newJob makes a job that proves the named members' witnesses, and declares their roots.
func newJob(ns, name string, members []string, options ...jobOption) *v1alpha1.ProofJob {
	job := &v1alpha1.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	job.Spec.Circuit.Type = v1alpha1.CircuitCircom
	job.Spec.ProvingKeyRef.Name = "merkle"
	for _, m := range members {
		job.Spec.Inputs = append(job.Spec.Inputs, v1alpha1.ProofInput{
			Name:         m,
			InputSource:  v1alpha1.InputSource{ConfigMap: &v1alpha1.ConfigMapKey{Name: "witnesses", Key: m}},
			PublicInputs: []string{roots[m]},
		})
	}
	for _, o := range options {
		o(job)
	}
	return job
}

func parallelism(n int32) jobOption {
	return func(j *v1alpha1.ProofJob) { j.Spec.Execution.Dedicated.Parallelism = ptr.To(n) }
}

// long makes each pod work for seconds on any machine: it proves its input many times, on a quarter of a CPU.
func long(runs int32) jobOption {
	return func(j *v1alpha1.ProofJob) {
		j.Spec.Runs = ptr.To(runs)
		j.Spec.Execution.Dedicated.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}
	}
}

func gpus(n string) jobOption {
	return func(j *v1alpha1.ProofJob) {
		j.Spec.Execution.Dedicated.Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(n)}
	}
}

// damaged makes the input's witness one that satisfies no constraint system of the sample: its last value is changed.
func damaged(t *testing.T, ns, member string) {
	t.Helper()
	data, err := os.ReadFile(circuit("witness-" + member + ".wtns"))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-32] ^= 1
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "damaged"}, BinaryData: map[string][]byte{member: data}}
	create(t, cm)
}

// from takes an input from another ConfigMap.
func from(configMap, member string) jobOption {
	return func(j *v1alpha1.ProofJob) {
		for i := range j.Spec.Inputs {
			if j.Spec.Inputs[i].Name == member {
				j.Spec.Inputs[i].ConfigMap = &v1alpha1.ConfigMapKey{Name: configMap, Key: member}
			}
		}
	}
}

// verifies checks a partition's proof here, against the sample's verifying key and the member's root.
func verifies(t *testing.T, p v1alpha1.PartitionStatus) {
	t.Helper()
	if p.Report == nil || p.Report.Proof == "" {
		t.Errorf("partition %d has no proof", p.Index)
		return
	}
	text, err := os.ReadFile(circuit("vk.json"))
	if err != nil {
		t.Fatal(err)
	}
	vk, err := snarkjs.ParseVerifyingKey(text)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := snarkjs.ParseProof([]byte(p.Report.Proof), curve.BLS12381)
	if err != nil {
		t.Fatal(err)
	}
	public, err := snarkjs.ParseDecimals([]string{roots[p.Input]}, curve.BLS12381)
	if err != nil {
		t.Fatal(err)
	}
	if err := groth16.Verify(vk, proof, public, ""); err != nil {
		t.Errorf("partition %d (%s): %v", p.Index, p.Input, err)
	}
}
