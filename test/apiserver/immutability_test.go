// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// TestProofJobImmutable changes, removes and sets each field of the spec of a job with all fields, and of one with only
// what is required.
func TestProofJobImmutable(t *testing.T) {
	namespace := newNamespace(t)
	full := newProofJob(namespace, "full", 2)
	full.Spec.Circuit.Circom = &v1alpha1.CircomCircuit{WitnessTimeoutSeconds: ptr.To[int32](60)}
	full.Spec.Inputs[0].PublicInputs = []string{"1"}
	full.Spec.Execution.Dedicated.Image = "example.com/prover:v1"
	full.Spec.Execution.Dedicated.NodeSelector = map[string]string{"a": "b"}
	full.Spec.Backend.GPUThreads = ptr.To[int32](2)
	full.Spec.MaxFailedPartitions = ptr.To[int32](1)
	full.Spec.ManagedBy = ptr.To(v1alpha1.DefaultManagedBy)
	full.Spec.Suspend = ptr.To(true)
	full.Spec.ActiveDeadlineSeconds = ptr.To[int64](60)
	full.Spec.SchedulingDeadlineSeconds = ptr.To[int64](60)
	full.Spec.TTLSecondsAfterFinished = ptr.To[int32](60)
	bare := newProofJob(namespace, "bare", 2)
	for _, job := range []*v1alpha1.ProofJob{full, bare} {
		if err := admin.Create(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}

	cannot := func(field, what string) []string {
		return []string{fmt.Sprintf("spec.%s: %s: create a new ProofJob", field, what)}
	}
	circuit := cannot("circuit", "circuit cannot be changed")
	inputs := cannot("inputs", "inputs cannot be changed")
	execution := cannot("execution", "execution cannot be changed")
	maxFailed := cannot("maxFailedPartitions", "maxFailedPartitions cannot be changed, set or removed later")
	managedBy := cannot("managedBy", "managedBy cannot be changed, set or removed later")
	runs := cannot("runs", "runs and warmupRuns cannot be changed")
	for _, c := range []struct {
		job   *v1alpha1.ProofJob
		patch string
		want  []string
	}{
		// What can be changed, set and removed.
		{full, `{"spec": {"suspend": false}}`, nil},
		{full, `{"spec": {"suspend": null}}`, nil},
		{full, `{"spec": {"activeDeadlineSeconds": 5, "schedulingDeadlineSeconds": 6, "ttlSecondsAfterFinished": 0}}`, nil},
		{full, `{"spec": {"activeDeadlineSeconds": null, "schedulingDeadlineSeconds": null, "ttlSecondsAfterFinished": null}}`, nil},
		{bare, `{"spec": {"suspend": true, "activeDeadlineSeconds": 5, "schedulingDeadlineSeconds": 6, "ttlSecondsAfterFinished": 0}}`, nil},
		// What has its value by default is no change when it is set or removed.
		{full, `{"spec": {"backoffLimitPerPartition": 3, "runs": 1, "warmupRuns": 0, "verification": "Required"}}`, nil},
		{full, `{"spec": {"output": null, "runs": null}}`, nil},

		{full, `{"spec": {"circuit": {"type": "Gnark", "circom": null}, "inputs": [{"name": "input-0", "inline": {"witness": "AA=="}}]}}`, append(append([]string{}, circuit...), inputs...)},
		{full, `{"spec": {"circuit": {"circom": {"witnessTimeoutSeconds": 61}}}}`, circuit},
		{full, `{"spec": {"circuit": {"circom": null}}}`, circuit},
		{bare, `{"spec": {"circuit": {"circom": {}}}}`, circuit},
		{full, `{"spec": {"provingKeyRef": {"name": "other"}}}`, cannot("provingKeyRef", "provingKeyRef cannot be changed")},
		{full, `{"spec": {"inputs": [{"name": "input-0", "inline": {"input": "{}"}}]}}`, inputs},
		{bare, `{"spec": {"inputs": [{"name": "input-0", "inline": {"input": "{\"a\": \"4\"}"}}, {"name": "input-1", "inline": {"input": "{\"a\": \"3\"}"}}]}}`, inputs},
		// Partitions take their inputs by position, so their order cannot change either.
		{bare, `{"spec": {"inputs": [{"name": "input-1", "inline": {"input": "{\"a\": \"3\"}"}}, {"name": "input-0", "inline": {"input": "{\"a\": \"3\"}"}}]}}`, inputs},
		{full, `{"spec": {"execution": {"dedicated": {"parallelism": 2}}}}`, execution},
		{full, `{"spec": {"execution": {"dedicated": {"image": null}}}}`, execution},
		{full, `{"spec": {"execution": {"dedicated": null}}}`, execution},
		{full, `{"spec": {"execution": {"dedicated": {"nodeSelector": {"a": "c"}}}}}`, execution},
		{bare, `{"spec": {"execution": {"dedicated": {"image": "example.com/prover:v1"}}}}`, execution},
		{full, `{"spec": {"backend": {"type": "CPU"}}}`, cannot("backend", "backend cannot be changed")},
		{full, `{"spec": {"backend": {"gpuThreads": null}}}`, cannot("backend", "backend cannot be changed")},
		{bare, `{"spec": {"backend": {"gpuThreads": 1}}}`, cannot("backend", "backend cannot be changed")},
		{full, `{"spec": {"runs": 2}}`, runs},
		{full, `{"spec": {"warmupRuns": 2}}`, runs},
		{full, `{"spec": {"verification": "Skip"}}`, cannot("verification", "verification cannot be changed")},
		{full, `{"spec": {"backoffLimitPerPartition": 4}}`, cannot("backoffLimitPerPartition", "backoffLimitPerPartition cannot be changed")},
		{full, `{"spec": {"maxFailedPartitions": 2}}`, maxFailed},
		{full, `{"spec": {"maxFailedPartitions": null}}`, maxFailed},
		{bare, `{"spec": {"maxFailedPartitions": 2}}`, maxFailed},
		{full, `{"spec": {"managedBy": "example.com/other"}}`, managedBy},
		{full, `{"spec": {"managedBy": null}}`, managedBy},
		{bare, `{"spec": {"managedBy": "example.com/other"}}`, managedBy},
		// Several at once, each with its message.
		{full, `{"spec": {"managedBy": null, "runs": 2, "circuit": {"circom": null}}}`, append(append(append([]string{}, circuit...), managedBy...), runs...)},
	} {
		t.Run(c.job.Name+" "+c.patch, func(t *testing.T) {
			object := &v1alpha1.ProofJob{}
			object.Namespace, object.Name = namespace, c.job.Name
			err := admin.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(c.patch)), client.DryRunAll)
			if diff := cmp.Diff(c.want, causes(t, err)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProofJobSpecCannotGo makes sure that no detour by an absent spec leads around the rules.
func TestProofJobSpecCannotGo(t *testing.T) {
	job := newProofJob(newNamespace(t), "job", 1)
	if err := admin.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for _, patch := range []string{`{"spec": null}`, `{"spec": {"inputs": null}}`, `{"spec": {"circuit": null}}`, `{"spec": {"provingKeyRef": null}}`} {
		object := &v1alpha1.ProofJob{}
		object.Namespace, object.Name = job.Namespace, job.Name
		if err := admin.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))); err == nil {
			t.Errorf("patch %s was accepted", patch)
		}
	}
}
