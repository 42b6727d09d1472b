package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClassify(t *testing.T) {
	// The opening words of each licence, as their authors publish them.
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"Apache":        {"                                 Apache License\n                           Version 2.0, January 2004", []string{"Apache-2.0"}},
		"MIT":           {"Permission is hereby granted, free of charge, to any person obtaining a copy\nof this software and associated", []string{"MIT"}},
		"BSD":           {"Redistribution and use in source and binary forms, with or without\nmodification, are permitted provided that", []string{"BSD"}},
		"ISC":           {"Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee", []string{"ISC"}},
		"MPL":           {"Mozilla Public License Version 2.0", []string{"MPL-2.0"}},
		"GPL":           {"                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007", []string{"GPL"}},
		"AGPL":          {"GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3, 19 November 2007", []string{"AGPL"}},
		"two in one":    {"Apache License, Version 2.0\n...\nPermission is hereby granted, free of charge, to any person obtaining a copy of this software", []string{"Apache-2.0", "MIT"}},
		"nothing known": {"All rights reserved.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, classify(tc.text)); diff != "" {
				t.Errorf("classify (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	file := func(licenses ...string) []licenseFile { return []licenseFile{{licenses: licenses}} }
	for name, tc := range map[string]struct {
		module module
		want   string // a part of the complaint; empty for none
	}{
		"allowed":                 {module{path: "m", files: file("MIT", "Apache-2.0")}, ""},
		"one of two not allowed":  {module{path: "m", files: file("MIT", "GPL")}, "GPL"},
		"no licence":              {module{path: "m"}, "no licence"},
		"exception":               {module{path: "github.com/davecgh/go-spew", files: file("ISC")}, ""},
		"not what is excepted":    {module{path: "github.com/davecgh/go-spew", files: file("MPL-2.0")}, "MPL-2.0"},
		"exception for one only":  {module{path: "m", files: file("ISC")}, "ISC"},
		"notice without licences": {module{path: "m", files: []licenseFile{{name: "NOTICE"}}}, "no licence"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.module.judge()
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("judge() = %q, want something with %q", got, tc.want)
			}
		})
	}
}

func TestCheckTree(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("good/README.md", "# Circuits\n\n## Provenance\n\nOur own.\n")
	write("good/a.zkey", "zkey")
	write("bad/a.r1cs", "r1cs")
	write("bad/image.dat", "a\x00b")
	write("wasm/hidden.dat", "\x00asm\x01\x00\x00\x00")
	write("wasm/a.wasm", "")
	write("text/a.go", "// SPDX-License-Identifier: "+"GPL-3.0\n")
	write("text/b.go", "package b\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	complaints, count, err := checkTree(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range complaints {
		name, _, _ := strings.Cut(c, ":")
		names = append(names, name)
	}
	// One complaint for a folder of unexplained binaries is enough.
	if diff := cmp.Diff([]string{"bad/a.r1cs", "text/a.go", "wasm/a.wasm", "wasm/hidden.dat"}, names); diff != "" {
		t.Errorf("complaints (-want +got):\n%s", diff)
	}
	if count != 8 {
		t.Errorf("%d files looked at, want 8", count)
	}
}
