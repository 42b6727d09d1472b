//go:build chart

// Package chart tests what the Helm chart and the kustomize configuration render.
package chart

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// root is the repository.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}()

const namespace = "cuzk-system"

// program finds a program by an environment variable, in bin/, or in the path.
func program(t *testing.T, variable, name string) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		return path
	}
	if path := filepath.Join(root, "bin", name); executable(path) {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s: set %s, or run make bin/%s", name, variable, name)
	}
	return path
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

// helm renders the chart; extra arguments are --set and --values.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(program(t, "HELM", "helm"), append([]string{
		"template", "cuzk", filepath.Join(root, "charts", "cuzk"), "--namespace", namespace,
	}, args...)...)
	// Helm's own folders, so that the user's settings and repositories have no say.
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HELM_CONFIG_HOME="+home, "HELM_CACHE_HOME="+home, "HELM_DATA_HOME="+home)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return "", errors.New(strings.TrimSpace(stderr.String()))
	}
	return out.String(), nil
}

// objects renders the chart and reads what came out, by kind and name. Duplicate keys in YAML are errors.
func objects(t *testing.T, args ...string) map[string]*unstructured.Unstructured {
	t.Helper()
	text, err := helm(t, args...)
	if err != nil {
		t.Fatalf("helm template: %v", err)
	}
	return parse(t, text)
}

func parse(t *testing.T, text string) map[string]*unstructured.Unstructured {
	t.Helper()
	found := map[string]*unstructured.Unstructured{}
	reader := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(text)))
	defer reader.Close()
	for buffer := make([]byte, 1<<22); ; {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := yaml.UnmarshalStrict(buffer[:n], &object); err != nil {
			t.Fatalf("%v in\n%s", err, buffer[:n])
		}
		if object == nil {
			continue
		}
		u := &unstructured.Unstructured{Object: object}
		key := u.GetKind() + "/" + u.GetName()
		if found[key] != nil {
			t.Errorf("%s is rendered twice", key)
		}
		found[key] = u
	}
}
