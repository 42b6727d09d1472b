package solving

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The packages that gnark's own list of hints names are those that are imported here.
func TestStandardHintsAreComplete(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/consensys/gnark/std").Output()
	if err != nil {
		t.Skipf("the source of gnark is not at hand: %v", err)
	}
	want := standardImports(t, filepath.Join(strings.TrimSpace(string(out)), "hints.go"))
	if len(want) == 0 {
		t.Fatal("gnark's list of hints has no imports")
	}
	if d := cmp.Diff(want, standardImports(t, "stdhints.go")); d != "" {
		t.Errorf("packages with hints (-gnark +cuzk):\n%s", d)
	}
}

func standardImports(t *testing.T, file string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		if strings.HasPrefix(path, "github.com/consensys/gnark/std/") && !strings.Contains(path, "/internal/") {
			packages[path] = true
		}
	}
	return packages
}
