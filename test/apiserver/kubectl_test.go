// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build apiserver

package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// kubeconfig writes the file that kubectl reads, once.
var kubeconfig = sync.OnceValues(func() (string, error) {
	user, err := environment.AddUser(envtest.User{Name: "kubectl", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return "", err
	}
	raw, err := user.KubeConfig()
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "kubeconfig")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "config")
	return path, os.WriteFile(path, raw, 0o600)
})

// kubectl runs the real kubectl and returns what it prints.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tryKubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryKubectl(ctx context.Context, args ...string) (string, error) {
	path, err := kubeconfig()
	if err != nil {
		return "", err
	}
	// The usual cache goes by the server's port, which an earlier run may have had too.
	args = append([]string{"--kubeconfig", path, "--cache-dir", filepath.Join(filepath.Dir(path), "cache")}, args...)
	out, err := exec.CommandContext(ctx, environment.ControlPlane.KubectlPath, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %v: %w\n%s", args, err, out)
	}
	return string(out), nil
}

// kubectlApply applies an object as a user does, on the client's side.
func kubectlApply(t *testing.T, object client.Object) {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "object.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "apply", "-f", path)
}

func clientset(t *testing.T) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func crdPath(plural string) string {
	return filepath.Join(filepath.FromSlash(crdFolder), "proving.cuzk.dev_"+plural+".yaml")
}

// readCRD reads a CRD's file as JSON.
func readCRD(t *testing.T, plural string) []byte {
	t.Helper()
	text, err := os.ReadFile(crdPath(plural))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func parseCRD(t *testing.T, plural string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(readCRD(t, plural), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}
