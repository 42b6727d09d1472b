//go:build e2e

package e2e

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// claim puts files on a volume of the control-plane node (whose file system is the machine's) and claims it.
func claim(t *testing.T, ns, name string, files map[string]string) {
	t.Helper()
	folder, err := os.MkdirTemp("/opt", "cuzk-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for as, from := range files {
		if err := copyFile(filepath.Join(folder, as), from); err != nil {
			t.Fatal(err)
		}
	}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: ns + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}, StorageClassName: ns,
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: folder}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"control-plane"}}},
			}}}},
		},
	}
	create(t, pv)
	t.Cleanup(func() { _ = admin.Delete(context.Background(), pv) })
	create(t, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}, StorageClassName: ptr.To(ns), VolumeName: pv.Name,
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	})
}

// copyFile makes a file that everybody may read, with its folder.
func copyFile(to, from string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func keyReady(t *testing.T, ns, name string) *v1alpha1.ProvingKey {
	t.Helper()
	var key *v1alpha1.ProvingKey
	eventually(t, "key "+name+" is ready", func(ctx context.Context) (bool, string) {
		key = get(t, ns, name, &v1alpha1.ProvingKey{})
		c := meta.FindStatusCondition(key.Status.Conditions, v1alpha1.ConditionReady)
		if c == nil {
			return false, "no condition"
		}
		return c.Status == metav1.ConditionTrue, c.Reason + ": " + c.Message
	})
	return key
}

// A key whose verifying key is only inside the .zkey on a claim: a pod looks once, and proofs are verified against that.
func TestVerifyingKeyOnlyInsideTheZkey(t *testing.T) {
	ns := namespace(t)
	claim(t, ns, "keys", map[string]string{"merkle3.zkey": circuit("merkle3.zkey")})
	key := merkleKey(ns, "on-claim")
	key.Spec.Files = v1alpha1.KeyFiles{ProvingKey: v1alpha1.KeyFile{
		PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "keys", Path: "merkle3.zkey"},
	}}
	create(t, key)
	got := keyReady(t, ns, "on-claim")
	// 765 constraints and one public signal: what snarkjs tells of the circuit (test/circuits/README.md).
	f := got.Status.Facts
	if f == nil || f.Constraints == nil || *f.Constraints != 765 || f.PublicInputs == nil || *f.PublicInputs != 1 {
		t.Errorf("facts: %+v", f)
	}
	create(t, newJob(ns, "prove", []string{"alice"}, func(j *v1alpha1.ProofJob) { j.Spec.ProvingKeyRef.Name = "on-claim" }))
	job := until(t, ns, "prove", "ends", finished)
	if job.Status.State != v1alpha1.ProofJobSucceeded {
		t.Fatalf("got %s", sketch(job))
	}
	verifies(t, job.Status.Partitions[0])
}

// A gnark circuit, with its constraint system and witnesses.
func TestGnark(t *testing.T) {
	ns := namespace(t)
	file := func(name string) string { return filepath.Join(root, "test", "circuits", "gnark", "merkle", name) }
	configMap(t, ns, "gnark", map[string]string{"pk.bin": file("pk.bin"), "ccs.bin": file("ccs.bin"), "vk.bin": file("vk.bin")})
	configMap(t, ns, "gnark-witnesses", map[string]string{
		"one": file("witness-1.bin"), "two": file("witness-2.bin"), "wrong": file("witness-wrong.bin"),
	})
	from := func(key string) v1alpha1.KeyFile {
		return v1alpha1.KeyFile{ConfigMap: &v1alpha1.ConfigMapKey{Name: "gnark", Key: key}}
	}
	create(t, &v1alpha1.ProvingKey{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "gnark"},
		Spec: v1alpha1.ProvingKeySpec{Format: v1alpha1.KeyFormatGnark, Curve: v1alpha1.CurveBN254, Files: v1alpha1.KeyFiles{
			ProvingKey: from("pk.bin"), VerifyingKey: ptr.To(from("vk.bin")), ConstraintSystem: ptr.To(from("ccs.bin")),
		}},
	})
	job := &v1alpha1.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "gnark"}}
	job.Spec.Circuit.Type = v1alpha1.CircuitGnark
	job.Spec.ProvingKeyRef.Name = "gnark"
	for _, n := range []string{"one", "two", "wrong"} {
		job.Spec.Inputs = append(job.Spec.Inputs, v1alpha1.ProofInput{Name: n, InputSource: v1alpha1.InputSource{
			ConfigMap: &v1alpha1.ConfigMapKey{Name: "gnark-witnesses", Key: n},
		}})
	}
	job.Spec.Execution.Dedicated.PartitionsPerPod = ptr.To[int32](3)
	create(t, job)
	got := until(t, ns, "gnark", "ends", finished)
	p := got.Status.Partitions
	if p[0].State != v1alpha1.PartitionSucceeded || p[1].State != v1alpha1.PartitionSucceeded {
		t.Errorf("got %s", sketch(got))
	}
	if p[2].State != v1alpha1.PartitionFailed || !namesConstraint.MatchString(p[2].Message) {
		t.Errorf("the wrong witness: %s", p[2].Message)
	}
	if len(podsOf(t, ns, "gnark")) != 1 {
		t.Errorf("%d pods for one index", len(podsOf(t, ns, "gnark")))
	}
}
