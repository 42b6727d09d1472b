//go:build interop

// Package interop_test runs cuzk against the programs whose files it reads and writes: snarkjs, circom and gnark. It
// installs the first two with npm (npm.sh), so it needs the network once.
package interop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cuzk is the binary under test; node the folder of the npm packages.
var cuzk, node string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cuzk-interop-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		cuzk = filepath.Join(dir, "cuzk")
		if out, err := exec.Command("go", "build", "-o", cuzk, "../../cmd/cuzk").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		install := exec.Command("./npm.sh")
		install.Stderr = os.Stderr
		out, err := install.Output()
		if err != nil {
			fmt.Fprintf(os.Stderr, "npm.sh: %v\n", err)
			return 1
		}
		node = strings.TrimSpace(string(out))
		return m.Run()
	}())
}

// command runs a program in a folder and wants it to succeed. Where CUZK_LIBRARY names a CUDA library, cuzk proves with it.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	if name == cuzk && args[0] == "prove" && os.Getenv("CUZK_LIBRARY") != "" {
		args = append(args, "--backend", "cuda")
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// task is an operation of snarkjs.cjs.
type task struct {
	Op     string `json:"op"`
	Zkey   string `json:"zkey,omitempty"`
	Wtns   string `json:"wtns,omitempty"`
	VK     string `json:"vk,omitempty"`
	Public string `json:"public,omitempty"`
	Proof  string `json:"proof,omitempty"`
}

// snarkjs carries out tasks in one process of Node.
func snarkjs(t *testing.T, tasks ...task) {
	t.Helper()
	in, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "snarkjs.cjs")
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(node, "node_modules"))
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("snarkjs: %v\n%s", err, stderr.String())
	}
	var results []bool
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(tasks) {
		t.Fatalf("snarkjs printed %q: %v", out, err)
	}
	for i, ok := range results {
		if !ok {
			t.Errorf("snarkjs: %+v is refused", tasks[i])
		}
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

func circomFolders(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(fixtures(t, "circom"), "b*", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no circom fixtures: %v", err)
	}
	return folders
}

// compile compiles a circuit of a folder of sources with circom2 and returns the folder with its .r1cs
// and .wasm.
func compile(t *testing.T, sources, circuit, prime string) string {
	t.Helper()
	dir := t.TempDir()
	// circom2 sees only what lies below the working folder.
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS(sources)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "circomlib"), os.DirFS(filepath.Join(node, "node_modules", "circomlib"))); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "node", filepath.Join(node, "node_modules/circom2/cli.js"), filepath.Join("src", circuit+".circom"), "--r1cs", "--wasm", "--prime", prime, "-l", ".")
	return dir
}
