package part

import (
	"os"
	"path/filepath"
	"testing"
)

// tree writes files under a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// What changes the program must change the digest, and nothing else may: a needless change is twenty minutes of work.
func TestDigest(t *testing.T) {
	base := map[string]string{"m/go.mod": "module m", "m/go.sum": "sum", "m/main.go": "package main", "m/x_test.go": "package main", "m/README.md": "text"}
	p := Part{Name: "m", Module: "m", Sources: []string{"m"}, Packages: map[string]string{"m": "."}, LDFlags: "-s"}
	tc := Toolchain{"go1.26.8", "linux", "amd64"}
	digest := func(files map[string]string, p Part, tc Toolchain) string {
		t.Helper()
		d, err := p.Digest(tree(t, files), tc)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	with := func(name, content string) map[string]string {
		m := map[string]string{name: content}
		for k, v := range base {
			if k != name {
				m[k] = v
			}
		}
		return m
	}
	first := digest(base, p, tc)
	flags, tags, cgo := p, p, p
	flags.LDFlags, tags.Tags, cgo.CGO = "-s -w", "seccomp", true
	newer := tc
	newer.Version = "go1.26.9"
	for name, got := range map[string]string{
		"equal":   digest(base, p, tc),
		"test":    digest(with("m/x_test.go", "package other"), p, tc),
		"text":    digest(with("m/README.md", "other"), p, tc),
		"outside": digest(with("n/main.go", "package main"), p, tc),
	} {
		if got != first {
			t.Errorf("%s: the digest changed", name)
		}
	}
	for name, got := range map[string]string{
		"main.go":   digest(with("m/main.go", "package main // x"), p, tc),
		"new file":  digest(with("m/new.go", "package main"), p, tc),
		"go.mod":    digest(with("m/go.mod", "module n"), p, tc),
		"go.sum":    digest(with("m/go.sum", "other"), p, tc),
		"flags":     digest(base, flags, tc),
		"tags":      digest(base, tags, tc),
		"cgo":       digest(base, cgo, tc),
		"toolchain": digest(base, p, newer),
	} {
		if got == first {
			t.Errorf("%s: the digest is the same", name)
		}
	}
}

// Every part's sources are in the repository, and every program has one part.
func TestPartsAreComplete(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	owners := map[string]string{}
	for _, name := range Names() {
		p, err := Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Digest(root, Toolchain{}); err != nil {
			t.Error(err)
		}
		if p.Module != "" {
			if _, err := os.Stat(filepath.Join(root, p.Module, "go.sum")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, programs := range []map[string]string{p.Packages, p.Links} {
			for program := range programs {
				if other, ok := owners[program]; ok {
					t.Errorf("%s is in %s and %s", program, other, name)
				}
				owners[program] = name
			}
		}
		for link, target := range p.Links {
			if _, ok := p.Packages[target]; !ok {
				t.Errorf("%s: link %s leads to %s, which is not built", name, link, target)
			}
		}
	}
	for _, name := range Node {
		if _, err := Get(name); err != nil {
			t.Error(err)
		}
	}
	for _, program := range []string{"helm", "kubectl", "kwok", "etcd", "kube-apiserver", "ctr", "probe"} {
		if _, ok := owners[program]; !ok {
			t.Errorf("no part has %s", program)
		}
	}
}
