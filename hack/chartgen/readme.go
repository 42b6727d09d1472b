package main

import (
	"bytes"
	"fmt"
	"strings"
)

// here is where the table of values goes in README.md.tmpl.
const here = "<!-- values -->\n"

// readme fills the table of values into the chart's README.
func readme(header []byte, root *value) ([]byte, error) {
	if bytes.Count(header, []byte(here)) != 1 {
		return nil, fmt.Errorf("README.md.tmpl: want one line %q", strings.TrimSpace(here))
	}
	var table strings.Builder
	table.WriteString("| value | default | |\n|---|---|---|\n")
	if err := rows(&table, root); err != nil {
		return nil, err
	}
	note := "<!-- Generated from README.md.tmpl and values.yaml by make chart. -->\n\n"
	return append([]byte(note), bytes.Replace(header, []byte(here), []byte(table.String()), 1)...), nil
}

func rows(table *strings.Builder, v *value) error {
	for _, child := range v.children {
		cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
		if child.object() {
			fmt.Fprintf(table, "| **`%s`** | | **%s** |\n", child.path, cell(child.doc))
			if err := rows(table, child); err != nil {
				return err
			}
			continue
		}
		def, err := child.defaultJSON()
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "| `%s` | `%s` | %s |\n", child.path, cell(def), cell(child.doc))
	}
	return nil
}
