// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// newProofJob returns a valid job of n inputs that are named input-0, input-1, ….
func newProofJob(namespace, name string, n int) *v1alpha1.ProofJob {
	job := &v1alpha1.ProofJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ProofJob"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ProofJobSpec{
			Circuit:       v1alpha1.Circuit{Type: v1alpha1.CircuitCircom},
			ProvingKeyRef: v1alpha1.ProvingKeyReference{Name: "membership"},
		},
	}
	for i := range n {
		job.Spec.Inputs = append(job.Spec.Inputs, v1alpha1.ProofInput{
			Name:        fmt.Sprintf("input-%d", i),
			InputSource: v1alpha1.InputSource{Inline: &v1alpha1.InlineInput{Input: ptr.To(`{"a": "3"}`)}},
		})
	}
	return job
}

// newProvingKey returns a valid key.
func newProvingKey(namespace, name string) *v1alpha1.ProvingKey {
	return &v1alpha1.ProvingKey{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ProvingKey"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ProvingKeySpec{
			Format: v1alpha1.KeyFormatSnarkjs,
			Curve:  v1alpha1.CurveBLS12381,
			Files: v1alpha1.KeyFiles{ProvingKey: v1alpha1.KeyFile{
				PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "keys", Path: "membership.zkey"},
			}},
		},
	}
}

// reportingJob makes a job of n partitions with the entries that the controller puts into its status.
func reportingJob(t *testing.T, job *v1alpha1.ProofJob) *v1alpha1.ProofJob {
	t.Helper()
	inputs := make([]string, len(job.Spec.Inputs))
	for i := range inputs {
		inputs[i] = job.Spec.Inputs[i].Name
	}
	return reportingPartitions(t, job, inputs...)
}

// reportingPartitions is reportingJob for partitions of these inputs.
func reportingPartitions(t *testing.T, job *v1alpha1.ProofJob, inputs ...string) *v1alpha1.ProofJob {
	t.Helper()
	if err := admin.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for i, input := range inputs {
		job.Status.Partitions = append(job.Status.Partitions, v1alpha1.PartitionStatus{
			Index: int32(i), Input: input, State: v1alpha1.PartitionPending,
		})
	}
	job.Status.State = v1alpha1.ProofJobRunning
	job.Status.Progress = fmt.Sprintf("0/%d", len(inputs))
	if err := admin.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return job
}

// parse reads an object from YAML.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object, err := parseYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func parseYAML(text string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(text), &object.Object); err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, text)
	}
	return object, nil
}

// causes returns what the API server says is wrong, one "field: message" a cause, sorted; nothing for no error.
func causes(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 {
		return []string{err.Error()}
	}
	var all []string
	for _, cause := range status.ErrStatus.Details.Causes {
		if strings.Contains(cause.Message, "some validation rules were not checked") {
			continue // said beside what the schema alone refuses
		}
		// What the value was is told too, at length; what is to be seen here is which field, and what about it.
		message := cause.Message
		if kind, rest, ok := strings.Cut(message, ": "); ok && strings.HasSuffix(kind, "value") {
			message = rest
			if cause.Type == metav1.CauseTypeFieldValueInvalid {
				message = afterValue.ReplaceAllString(rest, "")
			}
		}
		all = append(all, cause.Field+": "+message)
	}
	slices.Sort(all)
	return all
}

// afterValue is the value, which may hold anything, in "<value>: message". Rules of the schema do not tell it.
var afterValue = regexp.MustCompile(`^("([^"\\]|\\.)*"|-?[0-9]+): `)

// dryCreate asks whether an object would be admitted.
func dryCreate(t *testing.T, object client.Object) error {
	t.Helper()
	return admin.Create(t.Context(), object.DeepCopyObject().(client.Object), client.DryRunAll)
}

// strict returns a client that refuses unknown fields, as kubectl does.
func strict(t *testing.T) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return client.WithFieldValidation(c, metav1.FieldValidationStrict)
}
