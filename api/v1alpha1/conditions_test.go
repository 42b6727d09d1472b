// Copyright The cuzk Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/reference/conditions.md anew between its markers")

const (
	conditionsPage  = "../../docs/reference/conditions.md"
	generatedBegins = "<!-- The tables are made of the comments in api/v1alpha1/conditions.go by `go test ./api/v1alpha1 -run TestConditionsPage -update`. -->\n"
)

// TestConditionsPage compares docs/reference/conditions.md with the constants and comments of conditions.go.
func TestConditionsPage(t *testing.T) {
	got, err := os.ReadFile(filepath.FromSlash(conditionsPage))
	if err != nil {
		t.Fatal(err)
	}
	head, tables, found := strings.Cut(string(got), generatedBegins)
	if !found {
		t.Fatalf("%s lacks the line %q", conditionsPage, generatedBegins)
	}
	want := conditionTables(t)
	if *update {
		if err := os.WriteFile(conditionsPage, []byte(head+generatedBegins+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, tables); diff != "" {
		t.Errorf("%s is not what conditions.go says; run this test with -update (-want +got):\n%s", conditionsPage, diff)
	}
}

var (
	upperCamel = regexp.MustCompile(`^[A-Z][A-Za-z]{0,31}$`)
	meaning    = regexp.MustCompile(`^(\w+)(?::| is) (.*\.)\n$`)
)

// conditionTables makes the tables: a group of constants is a table, its comment the heading.
func conditionTables(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	seen := map[string]string{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		heading, _, _ := strings.Cut(group.Doc.Text(), ".")
		fmt.Fprintf(&out, "\n## %s\n\n| | meaning |\n|---|---|\n", heading)
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			name := value.Names[0].Name
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kind := "Condition"
			if strings.HasPrefix(name, "Reason") {
				kind = "Reason"
			}
			if name != kind+text {
				t.Errorf("constant %s has the value %q: name it %s%s", name, text, kind, text)
			}
			if !upperCamel.MatchString(text) {
				t.Errorf("%s: %q is not an upper-camel word of at most 32 letters", name, text)
			}
			if other, twice := seen[kind+text]; twice {
				t.Errorf("%s and %s have the same value %q", name, other, text)
			}
			seen[kind+text] = name
			comment := meaning.FindStringSubmatch(strings.Join(strings.Fields(value.Doc.Text()), " ") + "\n")
			if comment == nil || comment[1] != name {
				t.Errorf("%s: comment %q is not %q or %q", name, value.Doc.Text(), name+": meaning.", name+" is ….")
				continue
			}
			fmt.Fprintf(&out, "| `%s` | %s%s |\n", text, strings.ToUpper(comment[2][:1]), comment[2][1:])
		}
	}
	return out.String()
}
