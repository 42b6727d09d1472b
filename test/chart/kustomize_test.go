//go:build chart

package chart

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

func kustomize(t *testing.T, folder string) map[string]*unstructured.Unstructured {
	t.Helper()
	out, err := exec.Command(program(t, "KUBECTL", "kubectl"), "kustomize", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl kustomize %s: %v\n%s", folder, err, out)
	}
	return parse(t, string(out))
}

// Both ways of installing give the same objects, with the same rules, specs and arguments.
func TestKustomizeAndChartAgree(t *testing.T) {
	fromChart, fromKustomize := objects(t), kustomize(t, filepath.Join(root, "config", "default"))
	for key := range fromChart {
		if strings.HasSuffix(key, "/cuzk-install-check") {
			delete(fromChart, key) // helm test has no counterpart
		}
	}
	delete(fromKustomize, "Namespace/"+namespace) // helm --create-namespace
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fromChart)), slices.Sorted(maps.Keys(fromKustomize))); diff != "" {
		t.Fatalf("objects (-chart +kustomize):\n%s", diff)
	}
	for key, c := range fromChart {
		k := fromKustomize[key]
		for _, field := range []string{"rules", "roleRef", "subjects"} {
			if diff := cmp.Diff(c.Object[field], k.Object[field]); diff != "" {
				t.Errorf("%s: %s (-chart +kustomize):\n%s", key, field, diff)
			}
		}
		if slices.Contains([]string{"CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}, c.GetKind()) {
			if !cmp.Equal(c.Object["spec"], k.Object["spec"]) {
				t.Errorf("%s: the chart's is not that of config/: run make chart", key)
			}
		}
	}
	c := typed[appsv1.Deployment](t, fromChart, "Deployment/cuzk-manager").Spec
	k := typed[appsv1.Deployment](t, fromKustomize, "Deployment/cuzk-manager").Spec
	if diff := cmp.Diff(c.Template.Spec.Containers, k.Template.Spec.Containers); diff != "" {
		t.Errorf("manager's container (-chart +kustomize):\n%s", diff)
	}
	if diff := cmp.Diff(c.Replicas, k.Replicas); diff != "" {
		t.Errorf("replicas (-chart +kustomize):\n%s", diff)
	}
}

// The optional components can be added to the default, as its comment says.
func TestKustomizeComponents(t *testing.T) {
	folder := filepath.Join(root, "bin", "kustomize-components")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	text := "resources: [../../config/default]\ncomponents: [../../config/prometheus, ../../config/network-policy]\n"
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	found := kustomize(t, folder)
	for _, key := range []string{"ServiceMonitor/cuzk-manager", "PrometheusRule/cuzk", "NetworkPolicy/cuzk-manager"} {
		if found[key] == nil {
			t.Errorf("no %s", key)
		}
	}
}

// alerts lists the names of the alerts in config/prometheus.
func alerts(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "config", "prometheus", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert       string
					Annotations map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal(raw, &rule); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range rule.Spec.Groups {
		for _, r := range g.Rules {
			names = append(names, r.Alert)
			if want := "/docs/runbook/" + r.Alert + ".md"; !strings.HasSuffix(r.Annotations["runbook_url"], want) {
				t.Errorf("alert %s: runbook_url %q does not end in %s", r.Alert, r.Annotations["runbook_url"], want)
			}
		}
	}
	if len(names) == 0 {
		t.Fatal("no alerts")
	}
	return names
}

// Whoever is woken by an alert finds a page that says what to do.
func TestEveryAlertHasARunbook(t *testing.T) {
	pages := map[string]bool{}
	entries, err := os.ReadDir(filepath.Join(root, "docs", "runbook"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pages[strings.TrimSuffix(e.Name(), ".md")] = true
	}
	for _, name := range alerts(t) {
		if !pages[name] {
			t.Errorf("no docs/runbook/%s.md", name)
		}
		delete(pages, name)
	}
	delete(pages, "README")
	for page := range pages {
		t.Errorf("docs/runbook/%s.md is about no alert", page)
	}
}

// The samples work as they are: their objects have only known fields, name what is there, and fit the API's bounds.
func TestSamples(t *testing.T) {
	found := kustomize(t, filepath.Join(root, "config", "samples"))
	configMaps := map[string]map[string]bool{}
	for key, u := range found {
		if u.GetKind() != "ConfigMap" {
			continue
		}
		m, size := typed[corev1.ConfigMap](t, found, key), 0
		configMaps[m.Name] = map[string]bool{}
		for k, v := range m.Data {
			configMaps[m.Name][k], size = true, size+len(v)
		}
		for k, v := range m.BinaryData {
			configMaps[m.Name][k], size = true, size+len(v)
		}
		if size > 1<<20 {
			t.Errorf("%s holds %d bytes; 1 MiB is the limit", key, size)
		}
	}
	has := func(who string, c *api.ConfigMapKey) {
		if c != nil && !configMaps[c.Name][c.Key] {
			t.Errorf("%s names key %s of ConfigMap %s, which no sample has", who, c.Key, c.Name)
		}
	}
	jobs := 0
	for key, u := range found {
		switch u.GetKind() {
		case "ProofJob":
			jobs++
			job := typed[api.ProofJob](t, found, key)
			if found["ProvingKey/"+job.Spec.ProvingKeyRef.Name] == nil {
				t.Errorf("%s names a key that no sample has", key)
			}
			for i := range job.Spec.Inputs {
				has(key, job.Spec.Inputs[i].ConfigMap)
			}
		case "ProvingKey":
			files := typed[api.ProvingKey](t, found, key).Spec.Files
			for _, f := range []*api.KeyFile{&files.ProvingKey, files.VerifyingKey, files.ConstraintSystem, files.WitnessGenerator} {
				if f != nil {
					has(key, f.ConfigMap)
				}
			}
		}
	}
	if jobs < 2 {
		t.Errorf("%d sample jobs, want at least 2", jobs)
	}

	// What the membership job declares is what the witnesses were made from.
	job := typed[api.ProofJob](t, found, "ProofJob/membership")
	for i, file := range []string{"input.json", "input-bob.json", "input-carol.json"} {
		raw, err := os.ReadFile(filepath.Join(root, "test", "circuits", "bls12381", "merkle3", file))
		if err != nil {
			t.Fatal(err)
		}
		var input struct{ Root string }
		if err := yaml.Unmarshal(raw, &input); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{input.Root}, job.Spec.Inputs[i].PublicInputs); diff != "" {
			t.Errorf("input %s: public inputs (-%s +sample):\n%s", job.Spec.Inputs[i].Name, file, diff)
		}
	}
}
