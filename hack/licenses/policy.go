package main

import (
	"fmt"
	"slices"
	"strings"
)

// allowed are the licences under which anything may be linked in.
var allowed = []string{"Apache-2.0", "BSD", "MIT"}

// exception is a module with another licence, and why it may be linked in all the same.
type exception struct{ module, license, reason string }

var exceptions = []exception{
	{"github.com/davecgh/go-spew", "ISC", "asks for nothing but the notice, as MIT does; comes with k8s.io/apimachinery"},
}

// judge says what is wrong with a module's licence, or nothing.
func (m *module) judge() string {
	var found []string
	for _, f := range m.files {
		found = append(found, f.licenses...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 {
		return fmt.Sprintf("%s %s: no licence text that is known; look at it and teach classify, or replace the module", m.path, m.version)
	}
	for _, license := range found {
		if slices.Contains(allowed, license) {
			continue
		}
		if !slices.ContainsFunc(exceptions, func(e exception) bool { return e.module == m.path && e.license == license }) {
			return fmt.Sprintf("%s %s: %s; allowed are %s; replace the module, or add an exception with its reason",
				m.path, m.version, strings.Join(found, ", "), strings.Join(allowed, ", "))
		}
	}
	return ""
}

// phrases identify licences by words that stand in each of them and in no other. Several may stand in one file.
var phrases = []struct{ license, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
	{"BSD", "redistribution and use in source and binary forms, with or without modification, are permitted"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"CC0-1.0", "cc0 1.0 universal"},
	{"AGPL", "gnu affero general public license version"},
	{"LGPL", "gnu lesser general public license version"},
	{"GPL", "gnu general public license version"},
	{"EPL", "eclipse public license"},
	{"BUSL", "business source license"},
}

// classify finds the licences whose words stand in a text.
func classify(text string) []string {
	text = strings.NewReplacer(",  version", " version", ", version", " version").Replace(
		strings.Join(strings.Fields(strings.ToLower(text)), " "))
	var found []string
	for _, p := range phrases {
		if strings.Contains(text, p.phrase) && !slices.Contains(found, p.license) {
			found = append(found, p.license)
		}
	}
	return found
}
