// Command licenses checks what the shipped binaries are linked from, and what is checked in, against the licences that
// cuzk can be distributed with.
//
//	go run ./hack/licenses ./cmd/manager ./cmd/cuzk                     # check the modules linked into these
//	go run ./hack/licenses -notices THIRD_PARTY_NOTICES ./cmd/manager   # and write their licences to a file
//	go run ./hack/licenses -tree .                                      # check the files that git tracks
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	notices := flag.String("notices", "", "write the licence texts of everything linked to this file")
	tree := flag.String("tree", "", "check the files that git tracks below this folder")
	flag.Parse()
	if err := run(*notices, *tree, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(notices, tree string, packages []string) error {
	if tree == "" && len(packages) == 0 {
		return fmt.Errorf("nothing to check: name packages, or a folder with -tree")
	}
	var complaints []string
	if len(packages) > 0 {
		modules, err := linked(packages)
		if err != nil {
			return err
		}
		for _, m := range modules {
			if complaint := m.judge(); complaint != "" {
				complaints = append(complaints, complaint)
			}
		}
		if notices != "" && len(complaints) == 0 {
			if err := os.WriteFile(notices, notice(modules), 0o644); err != nil {
				return err
			}
		}
		fmt.Printf("%d modules linked into %s\n", len(modules), strings.Join(packages, " "))
	}
	if tree != "" {
		found, count, err := checkTree(tree)
		if err != nil {
			return err
		}
		complaints = append(complaints, found...)
		fmt.Printf("%d tracked files\n", count)
	}
	if len(complaints) > 0 {
		return fmt.Errorf("%d problems:\n  %s", len(complaints), strings.Join(complaints, "\n  "))
	}
	return nil
}
