package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is one Go module that is linked in, with the licence files that cover the packages taken from it.
type module struct {
	path, version string
	files         []licenseFile
}

type licenseFile struct {
	name     string // relative to the module
	text     string
	licenses []string // empty for a NOTICE or an unknown text
}

// licenseName matches what licence files are called. Notices are collected because Apache-2.0 asks to pass them on.
var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// linked asks the go command what the packages are linked from. Both module mode and a vendor folder work: the root of a
// module is the folder of a package less the package's path in it.
func linked(packages []string) ([]*module, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,Standard,Module"}, packages...)...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	byPath := map[string]*module{}
	dirs := map[string]map[string]bool{} // folders read, by module
	for dec := json.NewDecoder(out); ; {
		var p struct {
			ImportPath, Dir string
			Standard        bool
			Module          *struct {
				Path, Version string
				Main          bool
				Replace       *struct{ Path, Version string }
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		m := byPath[p.Module.Path]
		if m == nil {
			m = &module{path: p.Module.Path, version: p.Module.Version}
			byPath[m.path], dirs[m.path] = m, map[string]bool{}
		}
		inside := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, m.path), "/")
		root := strings.TrimSuffix(p.Dir, filepath.FromSlash(inside))
		if err := m.collect(filepath.Clean(root), inside, dirs[m.path]); err != nil {
			return nil, err
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	std, err := standardLibrary()
	if err != nil {
		return nil, err
	}
	modules := []*module{std}
	for _, m := range byPath {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

// collect reads the licence files of a package's folder and of those above it, up to the module's root.
func (m *module) collect(root, inside string, seen map[string]bool) error {
	for {
		if !seen[inside] {
			seen[inside] = true
			entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(inside)))
			if err != nil {
				return err
			}
			for _, e := range entries {
				if e.IsDir() || !licenseName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
					continue
				}
				text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(inside), e.Name()))
				if err != nil {
					return err
				}
				m.files = append(m.files, licenseFile{
					name: strings.TrimPrefix(inside+"/"+e.Name(), "/"), text: string(text), licenses: classify(string(text)),
				})
			}
		}
		if inside == "" {
			return nil
		}
		inside = inside[:max(strings.LastIndexByte(inside, '/'), 0)]
	}
}

// standardLibrary is linked into every Go program, under Go's own licence.
func standardLibrary() (*module, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	m := &module{path: "go.dev (standard library)", version: version}
	if err := m.collect(root, "", map[string]bool{}); err != nil {
		return nil, err
	}
	if len(m.files) == 0 {
		// Distributions put Go's licence elsewhere; it is the one that golang.org/x carries, so nothing is lost in what
		// is distributed as long as one of those is linked. An official toolchain always has it.
		return nil, fmt.Errorf("no LICENSE in %s: use a toolchain that carries its licence", root)
	}
	return m, nil
}
