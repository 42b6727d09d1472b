//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// idle gives a job pods that exist and never run, whose tokens a test can act with.
func idle(j *v1alpha1.ProofJob) { j.Spec.Execution.Dedicated.Image = "cuzk.dev/test/absent:1" }

// asPod acts with the token of a job's live pod.
func asPod(t *testing.T, ns, job string, index int) (client.Client, *corev1.Pod) {
	t.Helper()
	var pod corev1.Pod
	eventually(t, "pod of "+job, func(context.Context) (bool, string) {
		for _, p := range podsOf(t, ns, job) {
			if p.Annotations["batch.kubernetes.io/job-completion-index"] == fmt.Sprint(index) && p.DeletionTimestamp == nil {
				pod = p
				return true, ""
			}
		}
		return false, "none"
	})
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pod.Spec.ServiceAccountName}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To[int64](600),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	if err := admin.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	c := rest.AnonymousClientConfig(config)
	c.BearerToken, c.QPS = request.Status.Token, -1
	pc, err := client.New(c, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return pc, &pod
}

// patches are the three ways of writing the same status: by server-side apply, merge patch and JSON patch.
func patches(t *testing.T, job *v1alpha1.ProofJob, status map[string]any, pointer string, value any) map[string]client.Patch {
	t.Helper()
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	return map[string]client.Patch{
		"apply": client.RawPatch(types.ApplyPatchType, encode(map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": "ProofJob",
			"metadata": map[string]any{"name": job.Name, "namespace": job.Namespace}, "status": status,
		})),
		"merge": client.RawPatch(types.MergePatchType, encode(map[string]any{"status": status})),
		"json":  client.RawPatch(types.JSONPatchType, encode([]any{map[string]any{"op": "add", "path": pointer, "value": value}})),
	}
}

func write(t *testing.T, c client.Client, index int, job *v1alpha1.ProofJob, p client.Patch) error {
	t.Helper()
	target := &v1alpha1.ProofJob{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	options := []client.SubResourcePatchOption{client.FieldOwner(v1alpha1.PartitionFieldManager(int32(index)))}
	if p.Type() == types.ApplyPatchType {
		options = append(options, client.ForceOwnership)
	}
	return c.Status().Patch(t.Context(), target, p, options...)
}

// The token of a pod of job "a-1" can write the report of its own partition and nothing else: not another partition, not
// the controller's fields, not the state, and not job "a", whose name begins like its own, nor the reverse.
func TestPodTokenCannotForge(t *testing.T) {
	ns := namespace(t)
	for _, name := range []string{"a", "a-1"} {
		create(t, newJob(ns, name, []string{"alice", "bob"}, parallelism(2), idle))
	}
	entries := func(j *v1alpha1.ProofJob) bool {
		return len(j.Status.Partitions) == 2 && len(podsOf(t, ns, j.Name)) == 2
	}
	short, long := until(t, ns, "a", "has pods", entries), until(t, ns, "a-1", "has pods", entries)

	for _, tc := range []struct{ own, other *v1alpha1.ProofJob }{{long, short}, {short, long}} {
		c, pod := asPod(t, ns, tc.own.Name, 0)
		report := map[string]any{"podName": pod.Name, "podUID": string(pod.UID), "stage": "Queue"}
		partition := func(index int, fields map[string]any) map[string]any {
			fields["index"] = index
			return map[string]any{"partitions": []any{fields}}
		}
		for name, p := range patches(t, tc.own, partition(0, map[string]any{"report": report}), "/status/partitions/0/report", report) {
			if name == "merge" {
				continue // a merge patch replaces the list, and with it the other entry: it is refused below
			}
			if err := write(t, c, 0, tc.own, p); err != nil {
				t.Errorf("%s, own report by %s: %v", tc.own.Name, name, err)
			}
		}
		stolen := map[string]any{"podName": pod.Name, "podUID": "00000000-0000-4000-8000-000000000000", "stage": "Queue"}
		for what, forged := range map[string]struct {
			job     *v1alpha1.ProofJob
			status  map[string]any
			pointer string
			value   any
		}{
			"another partition":        {tc.own, partition(1, map[string]any{"report": report}), "/status/partitions/1/report", report},
			"the partition's state":    {tc.own, partition(0, map[string]any{"state": "Succeeded"}), "/status/partitions/0/state", "Succeeded"},
			"the verdict":              {tc.own, partition(0, map[string]any{"verified": true}), "/status/partitions/0/verified", true},
			"the job's state":          {tc.own, map[string]any{"state": "Succeeded"}, "/status/state", "Succeeded"},
			"another pod's UID":        {tc.own, partition(0, map[string]any{"report": stolen}), "/status/partitions/0/report", stolen},
			"another job's partition":  {tc.other, partition(0, map[string]any{"report": report}), "/status/partitions/0/report", report},
			"another job's state":      {tc.other, map[string]any{"state": "Failed"}, "/status/state", "Failed"},
			"removal of all (by null)": {tc.own, map[string]any{"partitions": nil}, "/status/partitions", []any{}},
		} {
			for way, p := range patches(t, forged.job, forged.status, forged.pointer, forged.value) {
				if way == "apply" && what == "removal of all (by null)" {
					continue // an apply without the list writes nothing
				}
				err := write(t, c, 0, forged.job, p)
				if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
					t.Errorf("pod of %s, %s of %s by %s: want a refusal, got %v", tc.own.Name, what, forged.job.Name, way, err)
				}
			}
		}
		// Nor the spec, nor anything else in the namespace.
		spec := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`))
		if err := c.Patch(t.Context(), tc.own.DeepCopy(), spec); !apierrors.IsForbidden(err) {
			t.Errorf("pod of %s changes the spec: %v", tc.own.Name, err)
		}
		if err := c.List(t.Context(), &corev1.SecretList{}, client.InNamespace(ns)); !apierrors.IsForbidden(err) {
			t.Errorf("pod of %s lists Secrets: %v", tc.own.Name, err)
		}
	}
}

// A valid proof counts for what it is about, and for nothing else.
func TestForeignProofsAreRefused(t *testing.T) {
	ns := namespace(t)
	create(t, newJob(ns, "source", []string{"alice", "bob"}, parallelism(2)))
	source := until(t, ns, "source", "ends", finished)
	if source.Status.State != v1alpha1.ProofJobSucceeded {
		t.Fatalf("got %s", sketch(source))
	}
	create(t, newJob(ns, "target", []string{"alice", "bob"}, parallelism(2), idle))
	target := until(t, ns, "target", "has pods", func(j *v1alpha1.ProofJob) bool {
		return len(j.Status.Partitions) == 2 && len(podsOf(t, ns, "target")) == 2
	})
	// Partition 0 is about alice's root: bob's proof, with bob's root or with hers, is not it.
	give := func(index, from int, public string) {
		t.Helper()
		c, pod := asPod(t, ns, "target", index)
		was := source.Status.Partitions[from].Report
		report := map[string]any{
			"podName": pod.Name, "podUID": string(pod.UID), "stage": "Done", "proof": was.Proof, "publicInputs": []string{public},
			"inputDigest": was.InputDigest,
		}
		status := map[string]any{"partitions": []any{map[string]any{"index": index, "report": report}}}
		if err := write(t, c, index, target, patches(t, target, status, "", nil)["apply"]); err != nil {
			t.Fatal(err)
		}
	}
	give(0, 1, roots["bob"])
	give(1, 0, roots["bob"])
	job := until(t, ns, "target", "refuses both", func(j *v1alpha1.ProofJob) bool {
		return j.Status.Partitions[0].State == v1alpha1.PartitionFailed && j.Status.Partitions[1].State == v1alpha1.PartitionFailed
	})
	if r := job.Status.Partitions[0].Reason; r != v1alpha1.ReasonPublicInputsMismatch {
		t.Errorf("another input's proof: reason %s: %s", r, job.Status.Partitions[0].Message)
	}
	if r := job.Status.Partitions[1].Reason; r != v1alpha1.ReasonProofInvalid {
		t.Errorf("a proof under a false root: reason %s: %s", r, job.Status.Partitions[1].Message)
	}
	if job.Status.State == v1alpha1.ProofJobSucceeded {
		t.Error("the job succeeded with foreign proofs")
	}
}
