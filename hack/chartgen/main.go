// Command chartgen writes what the Helm chart shares with other places, so that nothing can drift: the templates of CRDs,
// policies, roles and alerts from config/, and README.md and values.schema.json from values.yaml.
//
//	go run ./hack/chartgen            # write
//	go run ./hack/chartgen -check     # fail if something is not as it would be written
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	config := flag.String("config", "config", "folder of the kustomize configuration")
	chart := flag.String("chart", "charts/cuzk", "folder of the chart")
	check := flag.Bool("check", false, "change nothing; fail if a file is not up to date")
	flag.Parse()
	if err := run(*config, *chart, *check); err != nil {
		fmt.Fprintln(os.Stderr, "chartgen:", err)
		os.Exit(1)
	}
}

// run generates every file in memory, then writes or compares them.
func run(config, chart string, check bool) error {
	files, err := templates(config)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	values, err := parseValues(raw)
	if err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	if files["values.schema.json"], err = schemaFile(values); err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	header, err := os.ReadFile(filepath.Join(chart, "README.md.tmpl"))
	if err != nil {
		return err
	}
	if files["README.md"], err = readme(header, values); err != nil {
		return err
	}

	stale, err := leftovers(chart, files)
	if err != nil {
		return err
	}
	if check {
		return compare(chart, files, stale)
	}
	for _, name := range stale {
		if err := os.Remove(filepath.Join(chart, name)); err != nil {
			return err
		}
	}
	for name, content := range files {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// leftovers lists files of the chart that carry the mark of this program but would no longer be written.
func leftovers(chart string, files map[string][]byte) ([]string, error) {
	var stale []string
	root := filepath.Join(chart, "templates")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(chart, path)
		if err != nil {
			return err
		}
		if _, current := files[filepath.ToSlash(name)]; !current && bytes.HasPrefix(content, []byte(mark)) {
			stale = append(stale, filepath.ToSlash(name))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return stale, err
}

func compare(chart string, files map[string][]byte, stale []string) error {
	var wrong []string
	for name, want := range files {
		have, err := os.ReadFile(filepath.Join(chart, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(have, want) {
			wrong = append(wrong, name)
		}
	}
	wrong = append(wrong, stale...)
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("not up to date: %v; run make chart and commit the result", wrong)
}
