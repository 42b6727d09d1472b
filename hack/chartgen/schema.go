package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"go.yaml.in/yaml/v3"
)

// schemaFile is values.schema.json: every key that the chart knows, and no other.
func schemaFile(root *value) ([]byte, error) {
	schema, err := schemaOf(root)
	if err != nil {
		return nil, err
	}
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = "Values of the chart cuzk"
	// Helm puts a parent chart's globals here.
	schema["properties"].(map[string]any)["global"] = map[string]any{
		"type": "object", "description": "Values shared by the charts of a parent; this chart reads none.",
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schema); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func schemaOf(v *value) (map[string]any, error) {
	s := map[string]any{}
	if v.doc != "" {
		s["description"] = v.doc
	}
	switch {
	case v.object() || v.path == "":
		properties := map[string]any{}
		for _, child := range v.children {
			cs, err := schemaOf(child)
			if err != nil {
				return nil, err
			}
			properties[child.name] = cs
		}
		s["type"], s["properties"], s["additionalProperties"] = "object", properties, false
	case v.node.Kind == yaml.MappingNode:
		s["type"] = "object"
	case v.node.Kind == yaml.SequenceNode:
		s["type"] = "array"
	default:
		t, ok := map[string]string{"!!str": "string", "!!int": "integer", "!!bool": "boolean"}[v.node.Tag]
		if !ok {
			return nil, fmt.Errorf("line %d: %s: a default of type %s; use a string, an integer, a boolean, a list or an object", v.node.Line, v.path, v.node.Tag)
		}
		s["type"] = t
	}
	maps.Copy(s, v.schema)
	return s, nil
}
