// Command clireference writes the reference of a program's command line out of its own help texts.
//
//	go run ./hack/clireference -program bin/cuzk > docs/reference/cli.md
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	program := flag.String("program", "", "the program, built with cobra")
	flag.Parse()
	out := new(bytes.Buffer)
	name := filepath.Base(*program)
	fmt.Fprintf(out, "# Command line: `%s`\n\n<!-- Made of the program's help by `make cli-reference`. -->\n", name)
	if err := write(out, *program, nil); err != nil {
		fmt.Fprintln(os.Stderr, "clireference:", err)
		os.Exit(1)
	}
	os.Stdout.Write(out.Bytes())
}

// command is a line of the list of commands in a help text.
var command = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +\S`)

// write appends the help of one command, and of those below it.
func write(out *bytes.Buffer, program string, path []string) error {
	cmd := exec.Command(program, append(append([]string{}, path...), "--help")...)
	// Defaults that depend on the user are shown as a user's.
	cmd.Env = []string{"HOME=/home/you", "PATH=" + os.Getenv("PATH")}
	help, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s --help: %w", strings.Join(cmd.Args, " "), err)
	}
	text := strings.TrimSpace(string(help))
	fmt.Fprintf(out, "\n## `%s`\n\n```text\n%s\n```\n", strings.Join(append([]string{filepath.Base(program)}, path...), " "), text)
	_, list, found := strings.Cut(text, "Available Commands:\n")
	if !found {
		return nil
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for _, m := range command.FindAllStringSubmatch(list, -1) {
		if m[1] == "help" || m[1] == "completion" {
			continue
		}
		if err := write(out, program, append(append([]string{}, path...), m[1])); err != nil {
			return err
		}
	}
	return nil
}
