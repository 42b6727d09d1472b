package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// notice is the file that goes with a binary: each text once, with the modules that it covers.
func notice(modules []*module) []byte {
	covers := map[string][]string{}
	var order []string
	for _, m := range modules {
		for _, f := range m.files {
			text := strings.TrimSpace(f.text)
			if covers[text] == nil {
				order = append(order, text)
			}
			covers[text] = append(covers[text], fmt.Sprintf("%s %s (%s)", m.path, m.version, f.name))
		}
	}
	var out bytes.Buffer
	out.WriteString("This program contains software of the modules below, each under the terms that follow its name.\n")
	for _, text := range order {
		out.WriteString("\n" + strings.Repeat("=", 80) + "\n")
		for _, name := range slices.Compact(covers[text]) {
			out.WriteString(name + "\n")
		}
		out.WriteString(strings.Repeat("-", 80) + "\n" + text + "\n")
	}
	return out.Bytes()
}
