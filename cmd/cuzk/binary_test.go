// These tests run the built binary, as a user does.
package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program is the path of the cuzk under test.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cuzk-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = os.Getenv("CUZK_BINARY")
		if program == "" {
			program = filepath.Join(dir, "cuzk")
			if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
				return 1
			}
		}
		os.Setenv("CUZK_CACHE", filepath.Join(dir, "cache"))
		return m.Run()
	}())
}

// result is how a run of the binary ended.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the binary in a folder.
func run(t *testing.T, dir string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "panic") {
		t.Errorf("cuzk %s printed a stack trace:\n%s", strings.Join(args, " "), r.stderr)
	}
	return r
}

// succeed runs the binary and wants exit code 0.
func succeed(t *testing.T, dir string, args ...string) result {
	t.Helper()
	r := run(t, dir, args...)
	if r.code != 0 {
		t.Fatalf("cuzk %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r
}

// fail runs the program, wants an exit code and each of the texts in the message, and returns the message.
func fail(t *testing.T, dir string, code int, texts []string, args ...string) string {
	t.Helper()
	r := run(t, dir, append([]string{"--output", "json"}, args...)...)
	var e struct {
		Error struct{ Class, Message string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &e); err != nil {
		t.Errorf("cuzk %s: exit code %d, standard output is not an error in JSON: %v\n%s\n%s", strings.Join(args, " "), r.code, err, r.stdout, r.stderr)
		return ""
	}
	if r.code != code {
		t.Errorf("cuzk %s: exit code %d, want %d\n%s", strings.Join(args, " "), r.code, code, r.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(e.Error.Message, text) {
			t.Errorf("cuzk %s: message %q lacks %q", strings.Join(args, " "), e.Error.Message, text)
		}
	}
	return e.Error.Message
}

// files lists a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// unchanged wants a folder to hold exactly these files.
func unchanged(t *testing.T, dir string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, files(t, dir)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// fixtures is the folder of real files made by other programs; the test is skipped where there is none.
func fixtures(t *testing.T, elements ...string) string {
	t.Helper()
	root := os.Getenv("CUZK_FIXTURES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "fixtures")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no fixtures at %s: set CUZK_FIXTURES to their folder", root)
	}
	return filepath.Join(append([]string{root}, elements...)...)
}

// circomFixtures runs a test for each circom circuit on each curve.
func circomFixtures(t *testing.T, f func(t *testing.T, folder string)) {
	folders, err := filepath.Glob(filepath.Join(fixtures(t, "circom"), "b*", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no circom fixtures: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(filepath.Dir(folder))+"/"+filepath.Base(folder), func(t *testing.T) { f(t, folder) })
	}
}
