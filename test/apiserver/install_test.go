//go:build apiserver

package apiserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cuzk-dev/cuzk/controllers/installcheck"
)

// What helm test runs passes on a sound installation for somebody who has the rights of its Role and no other.
func TestInstallCheck(t *testing.T) {
	namespace := newNamespace(t)
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "install-check"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"proving.cuzk.dev"}, Resources: []string{"proofjobs", "provingkeys"}, Verbs: []string{"create"},
		}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "install-check"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "install-check"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "install-check", Namespace: namespace}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	as := func(account string) *rest.Config {
		c := rest.CopyConfig(config)
		c.Impersonate = rest.ImpersonationConfig{
			UserName: "system:serviceaccount:" + namespace + ":" + account,
			Groups:   []string{"system:serviceaccounts", "system:authenticated"},
		}
		return c
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := installcheck.Run(ctx, as("install-check"), namespace); err != nil {
		t.Errorf("a sound installation was found unsound: %v", err)
	}
	jobs := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "proving.cuzk.dev/v1alpha1", "kind": "ProofJobList"}}
	if err := admin.List(t.Context(), jobs, client.InNamespace(namespace)); err != nil || len(jobs.Items) != 0 {
		t.Errorf("the check left %d jobs behind (%v)", len(jobs.Items), err)
	}

	// Without rights it says what is missing, once its time is up.
	ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err := installcheck.Run(ctx, as("nobody"), namespace)
	if err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("without rights: %v, want a message that says forbidden", err)
	}
}

// documents reads the objects of a YAML file.
func documents(t *testing.T, name string, raw []byte) []*unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	reader := utilyaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(raw)))
	for buffer := make([]byte, 1<<22); ; {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var object map[string]any
		if err := yaml.UnmarshalStrict(buffer[:n], &object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if object != nil {
			found = append(found, &unstructured.Unstructured{Object: object})
		}
	}
}

// The API server takes every object of config/ as it is, without a field that it does not know.
func TestConfigurationIsAdmitted(t *testing.T) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cuzk-system"}}
	if err := admin.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	count := 0
	err := filepath.WalkDir("../../config", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" || filepath.Base(path) == "kustomization.yaml" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, object := range documents(t, path, raw) {
			switch object.GroupVersionKind().Group {
			case "kustomize.config.k8s.io", "monitoring.coreos.com", "proving.cuzk.dev":
				continue // not the API server's, not its built-in types, and samples, which have a test of their own
			}
			count++
			// An apply refuses fields that the schema does not declare.
			err := admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object),
				client.DryRunAll, client.FieldOwner("test"), client.ForceOwnership)
			if err != nil {
				t.Errorf("%s: %s %s: %v", path, object.GetKind(), object.GetName(), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 15 {
		t.Errorf("only %d objects in config/", count)
	}
}

// The samples' jobs and keys are valid.
func TestSamplesAreAdmitted(t *testing.T) {
	namespace, count := newNamespace(t), 0
	paths, err := filepath.Glob("../../config/samples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range documents(t, path, raw) {
			if object.GroupVersionKind().Group != "proving.cuzk.dev" {
				continue
			}
			count++
			object.SetNamespace(namespace)
			if err := admin.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if count < 4 {
		t.Errorf("only %d objects in the samples", count)
	}
}

// Examples in the documentation are valid, not only well spelt.
func TestDocumentedExamplesAreAdmitted(t *testing.T) {
	namespace, count := newNamespace(t), 0
	page := func(path string) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(raw), "\n```yaml\n")[1:] {
			block, _, _ = strings.Cut(block, "\n```")
			if !strings.Contains(block, "apiVersion: proving.cuzk.dev/") {
				continue
			}
			for _, object := range documents(t, path, []byte(block)) {
				if object.GroupVersionKind().Group != "proving.cuzk.dev" {
					continue
				}
				count++
				object.SetNamespace(namespace)
				if err := admin.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
					t.Errorf("%s: %s %s: %v", path, object.GetKind(), object.GetName(), err)
				}
			}
		}
	}
	page("../../README.md")
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			page(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 5 {
		t.Errorf("only %d examples found", count)
	}
}
