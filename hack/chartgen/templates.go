package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// mark begins every template that this program writes.
const mark = "{{- /* Generated from "

// The objects of config/ get these in place of what differs by release. They survive marshalling as plain strings and
// are turned into template actions afterwards.
const (
	prefixHole    = "CUZKPREFIX"
	namespaceHole = "CUZKNAMESPACE"
	accountHole   = "CUZKACCOUNT"
	labelsHole    = "CUZKLABELS"
	keepHole      = "CUZKKEEP"
	aggregateHole = "CUZKAGGREGATE"
	extraHole     = "CUZKEXTRALABELS"
)

// part is a folder of config/ that becomes templates.
type part struct {
	from   string // pattern below config/
	to     string // folder below templates/
	when   string // condition of the whole file
	change func(object map[string]any)
}

var parts = []part{
	{from: "crd/bases/*.yaml", to: "crds", when: ".Values.crds.enabled", change: keepable},
	{from: "policies/*.yaml", to: "policies", when: ".Values.policies.enabled", change: labelled},
	{from: "rbac/*role*.yaml", to: "rbac", when: ".Values.rbac.create", change: released},
	{from: "prometheus/alerts.yaml", to: "monitoring", when: ".Values.metrics.alerts.enabled", change: alert},
}

// templates turns the objects of config/ into templates of the chart, by path below the chart.
func templates(config string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, p := range parts {
		sources, err := filepath.Glob(filepath.Join(config, p.from))
		if err != nil {
			return nil, err
		}
		found := 0
		for _, source := range sources {
			if filepath.Base(source) == "kustomization.yaml" {
				continue
			}
			found++
			origin, err := filepath.Rel(config, source)
			if err != nil {
				return nil, err
			}
			content, err := p.template(source, "config/"+filepath.ToSlash(origin))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", source, err)
			}
			files["templates/"+p.to+"/"+filepath.Base(source)] = content
		}
		if found == 0 {
			return nil, fmt.Errorf("%s: no file matches %s", config, p.from)
		}
	}
	return files, nil
}

// template turns one file into a template; origin is what the file is called in the mark.
func (p part) template(source, origin string) ([]byte, error) {
	raw, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s%s by make chart. */ -}}\n{{- if %s }}\n", mark, origin, p.when)
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		var object map[string]any
		// Numbers stay as they are written: as a float64, 999999999 would become 9.99999999e+08.
		if err := yaml.Unmarshal(doc, &object, useNumber); err != nil {
			return nil, err
		}
		if object == nil {
			continue
		}
		p.change(object)
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.WriteString(fill(string(text)))
	}
	out.WriteString("{{- end }}\n")
	return out.Bytes(), nil
}

func useNumber(d *json.Decoder) *json.Decoder {
	d.UseNumber()
	return d
}

func metadata(object map[string]any) map[string]any {
	m, ok := object["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
		object["metadata"] = m
	}
	return m
}

// labelled gives an object the release's labels.
func labelled(object map[string]any) {
	metadata(object)["labels"] = map[string]any{labelsHole: ""}
}

// keepable is for CRDs: Helm leaves them on uninstall if the values say so.
func keepable(object map[string]any) {
	labelled(object)
	m := metadata(object)
	annotations, ok := m["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		m["annotations"] = annotations
	}
	annotations[keepHole] = ""
}

// released is for what each release has of its own: its names begin with the release's, its namespace is the release's.
func released(object map[string]any) {
	m := metadata(object)
	aggregate := map[string]any{}
	if labels, ok := m["labels"].(map[string]any); ok {
		for key, value := range labels {
			if role, ok := strings.CutPrefix(key, "rbac.authorization.k8s.io/aggregate-to-"); ok {
				aggregate[aggregateHole+role] = value
			}
		}
	}
	labelled(object)
	maps.Copy(m["labels"].(map[string]any), aggregate)
	rename(m)
	if ref, ok := object["roleRef"].(map[string]any); ok {
		rename(ref)
	}
	subjects, _ := object["subjects"].([]any)
	for _, s := range subjects {
		if subject, ok := s.(map[string]any); ok {
			subject["name"], subject["namespace"] = accountHole, namespaceHole
		}
	}
}

// alert is for Prometheus rules, which are selected by labels of the user's choice.
func alert(object map[string]any) {
	released(object)
	metadata(object)["labels"].(map[string]any)[extraHole] = ""
}

// rename puts the release's prefix in the place of cuzk.
func rename(m map[string]any) {
	if name, ok := m["name"].(string); ok {
		m["name"] = prefixHole + strings.TrimPrefix(name, "cuzk")
	}
	if _, ok := m["namespace"]; ok {
		m["namespace"] = namespaceHole
	}
}

// fill turns the holes into template actions. Braces that the objects have of their own are escaped first, since Helm
// would run them.
func fill(text string) string {
	text = strings.ReplaceAll(text, "{{", `{{ "{{" }}`)
	var out strings.Builder
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		pad := line[:indent]
		switch {
		case strings.HasPrefix(trimmed, labelsHole):
			fmt.Fprintf(&out, "%s{{- include \"cuzk.labels\" . | nindent %d }}\n", pad, indent)
		case strings.HasPrefix(trimmed, extraHole):
			fmt.Fprintf(&out, "%s{{- with .Values.metrics.alerts.labels }}\n%s{{- toYaml . | nindent %d }}\n%s{{- end }}\n", pad, pad, indent, pad)
		case strings.HasPrefix(trimmed, keepHole):
			fmt.Fprintf(&out, "%s{{- if .Values.crds.keep }}\n%shelm.sh/resource-policy: keep\n%s{{- end }}\n", pad, pad, pad)
		case strings.HasPrefix(trimmed, aggregateHole):
			fmt.Fprintf(&out, "%s{{- if .Values.rbac.aggregate }}\n%srbac.authorization.k8s.io/aggregate-to-%s%s{{- end }}\n",
				pad, pad, strings.TrimPrefix(trimmed, aggregateHole), pad)
		default:
			line = strings.ReplaceAll(line, prefixHole, `{{ include "cuzk.fullname" . }}`)
			line = strings.ReplaceAll(line, namespaceHole, `{{ .Release.Namespace }}`)
			line = strings.ReplaceAll(line, accountHole, `{{ include "cuzk.serviceAccountName" . }}`)
			out.WriteString(line)
		}
	}
	return out.String()
}
