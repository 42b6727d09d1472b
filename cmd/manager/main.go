// Command manager is the operator: it runs ProofJobs and makes ProvingKeys ready.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
)

// Set by the linker for releases.
var (
	version = "dev"
	commit  = "unknown"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "check" {
		os.Exit(check(os.Args[2:]))
	}
	var o options
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	o.bind(flags)
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2) // the flag set has said what is wrong
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "manager takes no arguments, got %q: see --help\n", flags.Args())
		os.Exit(2)
	}
	if o.version {
		fmt.Printf("cuzk manager %s (%s)\n", version, commit)
		return
	}
	if err := o.validate(); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(2)
	}
	if err := run(ctrl.SetupSignalHandler(), &o); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}
