package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// forbidden are kinds of file that may not be checked in at all, with the reason.
var forbidden = map[string]string{
	".wasm": "a witness generator that circom writes may carry code of circom itself, which is GPL-3.0; make it when it is needed",
	".ptau": "powers of tau are large and can be made or fetched when they are needed",
}

// circuitFiles are binary by nature, whatever their first bytes look like.
var circuitFiles = []string{".zkey", ".r1cs", ".wtns", ".params", ".ccs", ".pk", ".vk"}

// provenance is the heading that a folder's README must have for binary files to be in it.
const provenance = "# provenance"

// copyleft are words that no tracked file may have in its licence header. They are put together here so that this file
// does not contain them.
var copyleft = []string{
	"spdx-license-identifier: " + "gpl", "spdx-license-identifier: " + "agpl", "spdx-license-identifier: " + "lgpl",
}

// checkTree looks at the files that git tracks below a folder.
func checkTree(root string) (complaints []string, count int, err error) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		return nil, 0, fmt.Errorf("git ls-files: %w", err)
	}
	told := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			return nil, 0, err
		}
		count++
		dir := path.Dir(name)
		if reason, ok := forbidden[path.Ext(name)]; ok || bytes.HasPrefix(content, []byte("\x00asm")) {
			if !ok {
				reason = forbidden[".wasm"]
			}
			complaints = append(complaints, name+": "+reason)
			continue
		}
		if binary(name, content) {
			if !told[dir] && !explained(root, dir) {
				told[dir] = true
				complaints = append(complaints, fmt.Sprintf("%s: a binary file, and no README.md in %s or above it with a heading \"Provenance\" that says what made it and under which licence its source is", name, dir))
			}
			continue
		}
		head := strings.ToLower(string(content[:min(len(content), 2048)]))
		for _, words := range copyleft {
			if strings.Contains(head, words) {
				complaints = append(complaints, name+": says "+words+"; cuzk is Apache-2.0 and ships nothing under it")
			}
		}
	}
	return complaints, count, nil
}

// binary says whether a file is not text. Git's own test is a NUL in the first 8,000 bytes.
func binary(name string, content []byte) bool {
	return slices.Contains(circuitFiles, path.Ext(name)) || bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}

// explained says whether the folder, or one above it below the root, tells where its binary files come from.
func explained(root, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		readme, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(dir), "README.md"))
		if err == nil && strings.Contains(strings.ToLower(string(readme)), provenance) {
			return true
		}
	}
	return false
}
