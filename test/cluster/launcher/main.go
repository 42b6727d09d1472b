//go:build linux

// Command launcher builds, starts and stops a real Kubernetes cluster on one machine. See test/cluster/README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sort"
	"strings"
	"syscall"
)

// command is one thing the launcher does.
type command struct {
	args, text string
	run        func(ctx context.Context, args []string) error
}

var errUsage = errors.New("wrong arguments")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage()
		return nil
	}
	cmd, ok := commands[args[0]]
	if !ok {
		usage()
		return fmt.Errorf("no command %q", args[0])
	}
	err := cmd.run(ctx, args[1:])
	if errors.Is(err, errUsage) {
		return fmt.Errorf("%w: use %s", err, strings.TrimSpace(args[0]+" "+cmd.args))
	}
	return err
}

func usage() {
	var names []string
	for n, c := range commands {
		if c.text != "" {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	fmt.Fprintln(os.Stderr, "A real Kubernetes cluster on one machine.")
	for _, n := range names {
		fmt.Fprintf(os.Stderr, "  %-28s %s\n", strings.TrimSpace(n+" "+commands[n].args), commands[n].text)
	}
}

// say prints a line of progress; standard output is kept for results.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...)
}
