package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// referencePath is the page that is written from the commands.
var referencePath = filepath.Join("..", "..", "..", "docs", "reference", "cli.md")

// The page is what the commands say of themselves; CUZK_WRITE_DOCS=1 writes it.
func TestReferenceIsFresh(t *testing.T) {
	t.Setenv("CUZK_CACHE", "~/.cache/cuzk")
	a := &app{stderr: os.Stderr}
	want := reference(a.root())
	if os.Getenv("CUZK_WRITE_DOCS") != "" {
		if err := os.WriteFile(referencePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("docs/reference/cli.md is old, run `make docs-cli` (-commands +page):\n%s", d)
	}
}

// Every command that does something shows how.
func TestEveryCommandHasAnExample(t *testing.T) {
	a := &app{stderr: os.Stderr}
	walk(a.root(), func(c *cobra.Command) {
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s: no example or no short description", c.CommandPath())
		}
	})
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			walk(sub, visit)
		}
	}
}

func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Command line\n\nWritten from the commands by `make docs-cli`; `cuzk COMMAND --help` prints the same.\n")
	walk(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", c.CommandPath(), orShort(c))
		if c.HasParent() && (!c.HasSubCommands() || strings.Contains(c.Use, " ")) {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", c.UseLine())
		}
		fmt.Fprintf(&b, "\n```sh\n%s\n```\n", dedent(c.Example))
		flags := c.LocalNonPersistentFlags()
		title := "Flags"
		if !c.HasParent() {
			flags, title = c.PersistentFlags(), "Flags of every command"
		}
		table(&b, title, flags)
	})
	return b.String()
}

func orShort(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return c.Short + "."
}

func dedent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

func table(b *strings.Builder, title string, flags *pflag.FlagSet) {
	rows := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if rows == 0 {
			fmt.Fprintf(b, "\n%s:\n\n| flag | what |\n|---|---|\n", title)
		}
		rows++
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			name += " " + kind
		}
		if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "[]" {
			usage += fmt.Sprintf(" (default %s)", d)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(usage, "|", `\|`))
	})
}
