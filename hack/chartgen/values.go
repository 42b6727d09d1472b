package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is one entry of values.yaml: its documentation, what the comment adds to its schema, and its default.
type value struct {
	name     string
	path     string // dotted, from the root
	doc      string
	schema   map[string]any // of the @schema lines
	node     *yaml.Node     // the default
	children []*value       // of an object whose keys the chart knows
}

// object says whether the chart knows this value's keys; an object without documented keys is handed to Kubernetes as it
// is, so its keys are not the chart's to check.
func (v *value) object() bool { return len(v.children) > 0 }

func parseValues(raw []byte) (*value, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("want one mapping")
	}
	root := &value{node: doc.Content[0]}
	return root, root.descend()
}

// descend reads the keys of a mapping. Either all of them are documented or none is.
func (v *value) descend() error {
	var bare []string
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key, node := v.node.Content[i], v.node.Content[i+1]
		child := &value{name: key.Value, path: strings.TrimPrefix(v.path+"."+key.Value, "."), node: node}
		if err := child.comment(key.HeadComment); err != nil {
			return fmt.Errorf("line %d: %s: %w", key.Line, child.path, err)
		}
		if child.doc == "" {
			bare = append(bare, child.path)
			continue
		}
		if node.Kind == yaml.MappingNode {
			if err := child.descend(); err != nil {
				return err
			}
		}
		v.children = append(v.children, child)
	}
	if len(bare) > 0 && (len(v.children) > 0 || v.path == "") {
		return fmt.Errorf("no comment above %s", strings.Join(bare, ", "))
	}
	return nil
}

// comment splits a comment into prose and schema. Of several blocks, the last belongs to the key.
func (v *value) comment(text string) error {
	blocks := strings.Split(text, "\n\n")
	var prose []string
	for line := range strings.SplitSeq(blocks[len(blocks)-1], "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#"))
		if rest, ok := strings.CutPrefix(line, "@schema "); ok {
			if err := json.Unmarshal([]byte(rest), &v.schema); err != nil {
				return fmt.Errorf("@schema is not a JSON object: %w", err)
			}
			continue
		}
		if line != "" {
			prose = append(prose, line)
		}
	}
	v.doc = strings.Join(prose, " ")
	return nil
}

// defaultJSON is the default in one line.
func (v *value) defaultJSON() (string, error) {
	var decoded any
	if err := v.node.Decode(&decoded); err != nil {
		return "", err
	}
	out, err := json.Marshal(decoded)
	return string(out), err
}
