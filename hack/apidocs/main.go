// Command apidocs writes docs/reference/api.md, the reference of all fields, from the CustomResourceDefinitions, which
// controller-gen makes from the Go types.
//
//	go run ./hack/apidocs
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	crds := flag.String("crds", "config/crd/bases", "folder of the CustomResourceDefinitions")
	out := flag.String("out", "docs/reference/api.md", "file to write")
	flag.Parse()
	if err := run(*crds, *out); err != nil {
		fmt.Fprintln(os.Stderr, "apidocs:", err)
		os.Exit(1)
	}
}

const head = `# Fields of ProofJob and ProvingKey

Made from the types in ` + "`api/v1alpha1`" + ` by ` + "`make api-docs`" + `. ` + "`kubectl explain`" + ` has the same texts. What is marked *Kubernetes* is as in a pod.
Beside each object are the rules that the API server checks, in the words it refuses with.
`

func run(folder, out string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("no CustomResourceDefinition in %s", folder)
	}
	slices.Sort(paths)
	page := bytes.NewBufferString(head)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(raw, &crd); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		writeKind(page, &crd)
	}
	return os.WriteFile(out, page.Bytes(), 0o644)
}

func writeKind(page *bytes.Buffer, crd *apiextensionsv1.CustomResourceDefinition) {
	names := crd.Spec.Names
	for _, version := range crd.Spec.Versions {
		schema := version.Schema.OpenAPIV3Schema
		fmt.Fprintf(page, "\n## %s\n\n`apiVersion: %s/%s`, `kind: %s`; for kubectl `%s` or `%s`. %s\n",
			names.Kind, crd.Spec.Group, version.Name, names.Kind, names.Plural, strings.Join(names.ShortNames, "`, `"), line(schema.Description))
		writeRules(page, *schema)
		if fields := version.SelectableFields; len(fields) > 0 {
			page.WriteString("\nField selectors: ")
			for i, field := range fields {
				if i > 0 {
					page.WriteString(", ")
				}
				fmt.Fprintf(page, "`%s`", strings.TrimPrefix(field.JSONPath, "."))
			}
			page.WriteString(".\n")
		}
		for _, part := range []string{"spec", "status"} {
			writeObject(page, part, schema.Properties[part])
		}
	}
}

// writeObject writes the table of an object's fields, then those of the objects within.
func writeObject(page *bytes.Buffer, path string, schema apiextensionsv1.JSONSchemaProps) {
	fmt.Fprintf(page, "\n### %s\n\n%s\n", path, line(schema.Description))
	writeRules(page, schema)
	page.WriteString("\n| field | type | |\n|---|---|---|\n")
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	// Required fields first.
	slices.SortFunc(names, func(a, b string) int {
		if ra, rb := slices.Contains(schema.Required, a), slices.Contains(schema.Required, b); ra != rb {
			if ra {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		property := schema.Properties[name]
		texts := []string{strings.TrimPrefix(line(property.Description), name+" ")}
		for _, rule := range append(slices.Clone(property.XValidations), itemRules(property)...) {
			if property.Type == "object" && len(property.Properties) > 0 && !upstream(name) {
				break // beside the object's own table
			}
			texts = append(texts, "*Rule: "+rule.Message+".*")
		}
		required := ""
		if slices.Contains(schema.Required, name) {
			required = " **required**"
		}
		fmt.Fprintf(page, "| `%s`%s | %s | %s |\n", name, required, typeOf(name, property), cell(strings.Join(texts, " ")))
	}
	for _, name := range names {
		property := schema.Properties[name]
		if upstream(name) {
			continue
		}
		below := path + "." + name
		if property.Items != nil && property.Items.Schema != nil {
			property, below = *property.Items.Schema, below+"[]"
		}
		if property.Type == "object" && len(property.Properties) > 0 {
			writeObject(page, below, property)
		}
	}
}

// upstream tells fields whose type is Kubernetes' own.
func upstream(name string) bool {
	switch name {
	case "affinity", "conditions", "env", "imagePullSecrets", "resourceClaims", "resources", "tolerations", "topologySpreadConstraints":
		return true
	}
	return false
}

func itemRules(property apiextensionsv1.JSONSchemaProps) apiextensionsv1.ValidationRules {
	if property.Items == nil || property.Items.Schema == nil || len(property.Items.Schema.Properties) > 0 {
		return nil
	}
	return property.Items.Schema.XValidations
}

func writeRules(page *bytes.Buffer, schema apiextensionsv1.JSONSchemaProps) {
	for i, rule := range schema.XValidations {
		if i == 0 {
			page.WriteString("\nRules:\n\n")
		}
		fmt.Fprintf(page, "* %s.\n", rule.Message)
	}
}

// typeOf says what a field holds and within which bounds.
func typeOf(name string, p apiextensionsv1.JSONSchemaProps) string {
	var text string
	switch {
	case upstream(name):
		text = "*Kubernetes*"
	case p.XIntOrString:
		text = "quantity"
	case len(p.Enum) > 0:
		var values []string
		for _, v := range p.Enum {
			values = append(values, "`"+strings.Trim(string(v.Raw), `"`)+"`")
		}
		text = strings.Join(values, ", ")
	case p.Type == "array":
		text = "list of " + typeOf("", *p.Items.Schema)
		if p.MaxItems != nil {
			text += fmt.Sprintf(", at most %d", *p.MaxItems)
		}
	case p.AdditionalProperties != nil:
		text = "map of text"
	case p.Type == "string" && p.Format == "date-time":
		text = "time"
	case p.Type == "string" && p.Format == "byte":
		text = "bytes in base64"
	case p.Type == "string":
		text = "text"
		if p.MaxLength != nil {
			text += fmt.Sprintf(", at most %d", *p.MaxLength)
		}
	case p.Type == "integer" && p.Minimum != nil && p.Maximum != nil:
		text = fmt.Sprintf("%.0f to %.0f", *p.Minimum, *p.Maximum)
	default:
		text = p.Type
	}
	if p.Default != nil && string(p.Default.Raw) != "{}" {
		text += fmt.Sprintf("; default `%s`", strings.Trim(string(p.Default.Raw), `"`))
	}
	return text
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
