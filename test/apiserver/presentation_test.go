// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// TestColumns compares what the real kubectl prints.
func TestColumns(t *testing.T) {
	namespace := newNamespace(t)
	job := newProofJob(namespace, "membership", 2)
	if err := admin.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	job.Status = v1alpha1.ProofJobStatus{
		State: v1alpha1.ProofJobFailed, Progress: "1/2",
		Summary: &v1alpha1.ProofJobSummary{Synth: "1.2s", GPU: "3.4s", Total: "5s", Cold: "6s", Warm: "4s", Node: "gpu-1", Reason: v1alpha1.ReasonPartitionsFailed},
	}
	if err := admin.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	key := newProvingKey(namespace, "membership")
	if err := admin.Create(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	key.Status.Facts = &v1alpha1.CircuitFacts{Constraints: ptr.To[int64](1234), PublicInputs: ptr.To[int64](2)}
	if err := admin.Status().Update(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	table := func(args ...string) (header, row []string) {
		lines := strings.Split(strings.TrimSpace(kubectl(t, append(args, "-n", namespace)...)), "\n")
		if len(lines) != 2 {
			t.Fatalf("kubectl %v printed\n%s", args, strings.Join(lines, "\n"))
		}
		return strings.Fields(lines[0]), strings.Fields(lines[1])
	}
	header, row := table("get", "pj")
	if diff := cmp.Diff(strings.Fields("NAME STATE CIRCUIT PROGRESS SYNTH GPU TOTAL AGE"), header); diff != "" {
		t.Errorf("columns of ProofJob (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Fields("membership Failed Circom 1/2 1.2s 3.4s 5s"), row[:len(row)-1]); diff != "" {
		t.Errorf("row of ProofJob (-want +got):\n%s", diff)
	}
	header, row = table("get", "proofjobs", "-o", "wide")
	if diff := cmp.Diff(strings.Fields("NAME STATE CIRCUIT PROGRESS SYNTH GPU TOTAL AGE KEY NODE COLD WARM REASON"), header); diff != "" {
		t.Errorf("wide columns of ProofJob (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Fields("membership gpu-1 6s 4s PartitionsFailed"), row[8:]); diff != "" {
		t.Errorf("wide row of ProofJob (-want +got):\n%s", diff)
	}
	header, _ = table("get", "pk")
	if diff := cmp.Diff(strings.Fields("NAME READY FORMAT CURVE CONSTRAINTS PUBLIC AGE"), header); diff != "" {
		t.Errorf("columns of ProvingKey (-want +got):\n%s", diff)
	}
	header, _ = table("get", "provingkey", "-o", "wide")
	if diff := cmp.Diff(strings.Fields("NAME READY FORMAT CURVE CONSTRAINTS PUBLIC AGE REASON DIGEST"), header); diff != "" {
		t.Errorf("wide columns of ProvingKey (-want +got):\n%s", diff)
	}
	if out := kubectl(t, "get", "cuzk", "-n", namespace, "-o", "name"); out != "proofjob.proving.cuzk.dev/membership\nprovingkey.proving.cuzk.dev/membership\n" {
		t.Errorf("category cuzk: %q", out)
	}
}

func TestSelectableFields(t *testing.T) {
	namespace := newNamespace(t)
	for _, name := range []string{"pending", "done"} {
		job := newProofJob(namespace, name, 1)
		job.Spec.ProvingKeyRef.Name = "key-of-" + name
		if name == "done" {
			job.Spec.Circuit.Type = v1alpha1.CircuitGnark
			job.Spec.Inputs[0].Inline = &v1alpha1.InlineInput{Witness: []byte{1}}
		}
		if err := admin.Create(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		job.Status.State = map[string]v1alpha1.ProofJobState{"pending": v1alpha1.ProofJobPending, "done": v1alpha1.ProofJobSucceeded}[name]
		if err := admin.Status().Update(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		field, value string
		want         []string
	}{
		{"status.state", "Succeeded", []string{"done"}},
		{"spec.provingKeyRef.name", "key-of-pending", []string{"pending"}},
		{"spec.circuit.type", "Gnark", []string{"done"}},
		{"spec.execution.type", "Dedicated", []string{"done", "pending"}},
		{"status.state", "Failed", nil},
	} {
		list := &v1alpha1.ProofJobList{}
		if err := admin.List(t.Context(), list, client.InNamespace(namespace), client.MatchingFields{c.field: c.value}); err != nil {
			t.Errorf("%s=%s: %v", c.field, c.value, err)
			continue
		}
		var got []string
		for _, job := range list.Items {
			got = append(got, job.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s=%s (-want +got):\n%s", c.field, c.value, diff)
		}
	}
}

// TestExplain makes sure that kubectl explain has a text for each field, and that ours are whole sentences.
func TestExplain(t *testing.T) {
	for _, name := range []string{"proofjobs", "provingkeys"} {
		for _, version := range parseCRD(t, name).Spec.Versions {
			checkDescriptions(t, name, *version.Schema.OpenAPIV3Schema)
		}
	}
	for field, want := range map[string]string{
		"proofjob.spec":                                     "says what to prove and how",
		"pj.spec.inputs.publicInputs":                       "as decimal numbers in the circuit's order",
		"pj.spec.execution.dedicated.partitionsPerPod":      "partitions one pod proves",
		"pj.status.partitions.report.proof":                 "the text of proof.json",
		"provingkey.spec.files.provingKey.digest":           "sha256:<64 hex digits>",
		"pj.spec.execution.dedicated.affinity.nodeAffinity": "node affinity",
	} {
		// The API server publishes the schema of a new resource a moment after the resource.
		eventually(t, "kubectl explain "+field, func(ctx context.Context) error {
			out, err := tryKubectl(ctx, "explain", field)
			if err == nil && !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
				err = fmt.Errorf("does not say %q:\n%s", want, out)
			}
			return err
		})
	}
}

func checkDescriptions(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for name, property := range schema.Properties {
		below := path + "." + name
		switch name {
		case "metadata":
			continue // the API server's own
		case "affinity", "topologySpreadConstraints", "tolerations", "env", "resources", "resourceClaims", "imagePullSecrets":
			if property.Description == "" {
				t.Errorf("%s has no description", below)
			}
			continue // what is below is Kubernetes' own
		case "conditions":
			continue
		}
		text := property.Description
		if text == "" {
			t.Errorf("%s has no description", below)
		} else if !strings.HasSuffix(strings.TrimSpace(text), ".") && name != "apiVersion" && name != "kind" {
			t.Errorf("%s: description is cut or no sentence: %q", below, text)
		}
		checkDescriptions(t, below, property)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		checkDescriptions(t, path+"[]", *schema.Items.Schema)
	}
}

// TestRulesNameTheFix makes sure that each rule's message says what is wrong and, after a colon, what to do.
func TestRulesNameTheFix(t *testing.T) {
	for _, name := range []string{"proofjobs", "provingkeys"} {
		for _, version := range parseCRD(t, name).Spec.Versions {
			checkRules(t, name, *version.Schema.OpenAPIV3Schema)
		}
	}
}

func checkRules(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for i, rule := range schema.XValidations {
		where := fmt.Sprintf("%s rule %d", path, i)
		if !strings.Contains(rule.Message, ": ") && !strings.HasPrefix(path, "proofjobs.status") {
			t.Errorf("%s: message %q does not say what to do", where, rule.Message)
		}
	}
	for name, property := range schema.Properties {
		checkRules(t, path+"."+name, property)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		checkRules(t, path+"[]", *schema.Items.Schema)
	}
}

// TestBounds makes sure that nothing of ours grows without bound: each text has a greatest length or a fixed set of values,
// each list a greatest number of items, each number a range.
func TestBounds(t *testing.T) {
	for _, name := range []string{"proofjobs", "provingkeys"} {
		for _, version := range parseCRD(t, name).Spec.Versions {
			schema := version.Schema.OpenAPIV3Schema
			checkBounds(t, name+".spec", schema.Properties["spec"])
			checkBounds(t, name+".status", schema.Properties["status"])
		}
	}
}

func checkBounds(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	switch schema.Type {
	case "string":
		if schema.MaxLength == nil && len(schema.Enum) == 0 && schema.Format != "date-time" && !schema.XIntOrString {
			t.Errorf("%s: text without greatest length", path)
		}
	case "integer":
		if (schema.Minimum == nil || schema.Maximum == nil) && !strings.HasSuffix(path, ".observedGeneration") {
			t.Errorf("%s: number without range", path)
		}
	case "number":
		t.Errorf("%s: a floating-point number", path)
	case "array":
		if schema.MaxItems == nil {
			t.Errorf("%s: list without greatest number of items", path)
		}
		if schema.XListType == nil {
			t.Errorf("%s: list without type", path)
		}
		checkBounds(t, path+"[]", *schema.Items.Schema)
	case "object":
		if schema.AdditionalProperties != nil {
			if strings.Contains(path, ".status") {
				t.Errorf("%s: a map in the status", path)
			}
			if schema.MaxProperties == nil {
				t.Errorf("%s: map without greatest number of keys", path)
			}
		}
		for name, property := range schema.Properties {
			switch name {
			case "affinity", "tolerations", "env", "resources", "resourceClaims", "imagePullSecrets", "topologySpreadConstraints", "conditions":
				continue // Kubernetes' own types; the lists of them are bounded
			}
			checkBounds(t, path+"."+name, property)
		}
	}
}
