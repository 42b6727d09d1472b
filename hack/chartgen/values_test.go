package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `# About the file as a whole.

# How many.
# @schema {"minimum": 1}
replicas: 2

# The image.
image:
  # Where it is | what it is.
  repository: registry.example/x
  # Tag.
  tag: ""

# Handed on as it is.
resources:
  limits: {memory: 1Gi}
`

func TestSchema(t *testing.T) {
	root, err := parseValues([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	file, err := schemaFile(root)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(file, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": "Values of the chart cuzk",
		"type": "object", "additionalProperties": false,
		"properties": map[string]any{
			"global":   map[string]any{"type": "object", "description": "Values shared by the charts of a parent; this chart reads none."},
			"replicas": map[string]any{"type": "integer", "minimum": 1.0, "description": "How many."},
			"image": map[string]any{
				"type": "object", "additionalProperties": false, "description": "The image.",
				"properties": map[string]any{
					"repository": map[string]any{"type": "string", "description": "Where it is | what it is."},
					"tag":        map[string]any{"type": "string", "description": "Tag."},
				},
			},
			"resources": map[string]any{"type": "object", "description": "Handed on as it is."},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func TestReadme(t *testing.T) {
	root, err := parseValues([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readme([]byte("# Chart\n\n<!-- values -->\n"), root)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Chart\n\n| value | default | |\n|---|---|---|\n" +
		"| `replicas` | `2` | How many. |\n" +
		"| **`image`** | | **The image.** |\n" +
		"| `image.repository` | `\"registry.example/x\"` | Where it is \\| what it is. |\n" +
		"| `image.tag` | `\"\"` | Tag. |\n" +
		"| `resources` | `{\"limits\":{\"memory\":\"1Gi\"}}` | Handed on as it is. |\n"
	_, body, _ := strings.Cut(string(got), "-->\n\n")
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("README (-want +got):\n%s", diff)
	}
	if _, err := readme([]byte("no place\n"), root); err == nil {
		t.Error("a README without a place for the table was taken")
	}
}

func TestValuesRefused(t *testing.T) {
	for name, tc := range map[string]struct{ yaml, want string }{
		"a key without comment":        {"# One.\na: 1\n\nb: 2\n", "b"},
		"a nested key without comment": {"# One.\na:\n  # Two.\n  b: 1\n  c: 2\n", "a.c"},
		"a broken @schema":             {"# One.\n# @schema {minimum: 1}\na: 1\n", "@schema"},
		"a default of no known type":   {"# One.\na: 1.5\n", "!!float"},
		"no default":                   {"# One.\na:\n", "!!null"},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := parseValues([]byte(tc.yaml))
			if err == nil {
				_, err = schemaFile(root)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

// fill must leave Helm nothing to run that the objects bring along, and something where the release has its say.
func TestFill(t *testing.T) {
	got := fill("labels:\n  CUZKAGGREGATEview: \"true\"\n  CUZKLABELS: \"\"\nname: CUZKPREFIX-x\nrule: '{{ $labels.x }}'\nannotations:\n  CUZKKEEP: \"\"\n")
	want := `labels:
  {{- if .Values.rbac.aggregate }}
  rbac.authorization.k8s.io/aggregate-to-view: "true"
  {{- end }}
  {{- include "cuzk.labels" . | nindent 2 }}
name: {{ include "cuzk.fullname" . }}-x
rule: '{{ "{{" }} $labels.x }}'
annotations:
  {{- if .Values.crds.keep }}
  helm.sh/resource-policy: keep
  {{- end }}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fill (-want +got):\n%s", diff)
	}
}
