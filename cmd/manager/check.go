package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cuzk-dev/cuzk/controllers/installcheck"
)

// check is `manager check`: what helm test runs in a pod of its own. It returns the exit code.
func check(args []string) int {
	flags := flag.NewFlagSet("manager check", flag.ContinueOnError)
	namespace := flags.String("namespace", "default", "namespace in which the caller may create proofjobs; nothing is created in it")
	timeout := flags.Duration("timeout", time.Minute, "how long to wait until the API is served")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), `See whether the cluster serves the API of cuzk and keeps its rules. Every request is a dry run.

Usage:
  manager check [flags]

Flags:
`)
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2 // the flag set has said what is wrong
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "manager check takes no arguments, got %q: see --help\n", flags.Args())
		return 2
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, "manager check: find the cluster:", err)
		return 1
	}
	ctx, cancel := context.WithTimeout(ctrl.SetupSignalHandler(), *timeout)
	defer cancel()
	if err := installcheck.Run(ctx, cfg, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "manager check:", err)
		return 1
	}
	fmt.Println("the API is served, and its rules are in force")
	return 0
}
