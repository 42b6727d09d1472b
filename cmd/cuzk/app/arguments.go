package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// exactArgs wants exactly the named arguments and says which are missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(args) < len(names) {
			return failure.New(failure.Usage, "missing %s", strings.Join(names[len(args):], " "))
		}
		return failure.New(failure.Usage, "unexpected argument %q", args[len(names)])
	}
}

// named is an argument that can be given by position or by flag.
type named struct {
	name  string // as in the usage line
	flag  string
	value *string
}

// bind takes arguments by position for those that no flag has given, in order: all of them or none.
func bind(cmd *cobra.Command, args []string, positions []named) error {
	if len(args) == 0 {
		return nil
	}
	var open []named
	for _, p := range positions {
		if !cmd.Flags().Changed(p.flag) {
			open = append(open, p)
		}
	}
	if len(args) != len(open) {
		names := make([]string, len(open))
		for i, p := range open {
			names[i] = p.name
		}
		return failure.New(failure.Usage, "%d arguments are given, not %d", len(args), len(open)).
			WithFix("give %s, or name the files by flags", strings.Join(names, " "))
	}
	for i, p := range open {
		*p.value = args[i]
	}
	return nil
}

// required refuses a command line on which one of the named files is missing.
func required(positions []named) error {
	for _, p := range positions {
		if *p.value == "" {
			return failure.New(failure.Usage, "%s is missing", p.name).WithFix("give it by position, or as --%s", p.flag)
		}
	}
	return nil
}
