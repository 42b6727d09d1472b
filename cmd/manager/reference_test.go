package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page is what the flags say of themselves; CUZK_WRITE_DOCS=1 writes it.
func TestReferenceIsFresh(t *testing.T) {
	var o options
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	o.bind(flags)
	var want strings.Builder
	want.WriteString("# Flags of the manager\n\nWritten from the flags by `make docs-manager`; `manager --help` prints the same. " +
		"The chart sets them from its values; `extraArgs` takes any of them.\n\n| flag | default | |\n|---|---|---|\n")
	flags.VisitAll(func(f *flag.Flag) {
		_, usage := flag.UnquoteUsage(f)
		value := ""
		if f.DefValue != "" {
			value = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(&want, "| `--%s` | %s | %s |\n", f.Name, value, strings.ReplaceAll(strings.ReplaceAll(usage, "|", `\|`), "\n", " "))
	})
	want.WriteString("\n`manager check [--namespace NAMESPACE] [--timeout DURATION]` sees whether the cluster serves the API and keeps its rules; " +
		"`helm test` runs it.\n")
	path := filepath.Join("..", "..", "docs", "reference", "manager.md")
	if os.Getenv("CUZK_WRITE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.String(), string(got)); d != "" {
		t.Errorf("docs/reference/manager.md is old, run `make docs-manager` (-flags +page):\n%s", d)
	}
}

func TestValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want []string // flags that the message names; none if the options are good
	}{
		"the chart's defaults": {args: []string{
			"--leader-elect", "--leader-election-lease-duration=60s", "--leader-election-renew-deadline=40s", "--leader-election-retry-period=5s",
			"--health-probe-bind-address=:8081", "--metrics-bind-address=:8443", "--prover-image=p", "--prover-cuda-image=c",
		}},
		"no image": {want: []string{"--prover-image"}},
		"several mistakes at once": {
			args: []string{"--proofjob-workers=0", "--kube-api-qps=0", "--node-dead-after=0s"},
			want: []string{"--prover-image", "--proofjob-workers", "--kube-api-qps", "--node-dead-after"},
		},
		"a lease shorter than its renewal": {
			args: []string{"--prover-image=p", "--leader-election-lease-duration=30s"},
			want: []string{"--leader-election-lease-duration", "--leader-election-renew-deadline"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var o options
			flags := flag.NewFlagSet("manager", flag.ContinueOnError)
			o.bind(flags)
			if err := flags.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			err := o.validate()
			if (err == nil) != (len(tc.want) == 0) {
				t.Fatalf("validate() = %v, want an error: %v", err, len(tc.want) > 0)
			}
			for _, flag := range tc.want {
				if !strings.Contains(err.Error(), flag) {
					t.Errorf("message %q does not name %s", err, flag)
				}
			}
		})
	}
}
