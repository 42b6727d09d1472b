package app

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

const (
	outputText = "text"
	outputJSON = "json"
)

// globalFlags are those that every command has.
type globalFlags struct {
	output      string
	logFormat   string
	quiet       bool
	threads     int
	memoryLimit byteSize
	cacheDir    string

	jsonLogs bool // logFormat, with auto decided
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "cuzk",
		Short: "Make, verify and inspect Groth16 proofs",
		Long: `cuzk computes Groth16 proofs for circom/snarkjs and gnark circuits on BN254 and BLS12-381, verifies them,
and tells what is in their files. Each proof is verified before it is written.

Exit codes: 0 done, 1 internal error, 2 usage, 3 bad input or witness, 4 bad key or configuration, 5 proof does not
verify, 6 backend unusable, 7 storage or network, 8 memory, 130 and 143 interrupted.`,
		Example: `  cuzk prove circuit.zkey witness.wtns proof.json public.json
  cuzk verify vk.json public.json proof.json
  cuzk inspect circuit.zkey`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return a.setUp()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return failure.New(failure.Usage, "%w", err)
	})
	f := root.PersistentFlags()
	f.StringVar(&a.flags.output, "output", outputText, "form of the result: text, or json on standard output")
	f.StringVar(&a.flags.logFormat, "log-format", "auto", "form of the log on standard error: text, json, or auto (text on a terminal)")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "no log but errors, and no progress bar")
	f.IntVar(&a.flags.threads, "threads", 0, "threads to compute with (default: all cores that the process may use)")
	f.Var(&a.flags.memoryLimit, "memory-limit", "memory that keys and proofs may take, for instance 8GiB (default: what the machine or the container has)")
	f.StringVar(&a.flags.cacheDir, "cache-dir", defaultCacheDir(), "folder for downloads, compiled programs and remembered checks, which nobody else may write to; empty keeps none (environment: CUZK_CACHE)")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.proveCommand(), a.verifyCommand(), a.inspectCommand(), a.exportCommand(), a.benchCommand(), a.devicesCommand(), a.versionCommand())
	for _, extra := range extraCommands {
		root.AddCommand(extra(a))
	}
	return root
}

// extraCommands are commands that live in files of their own and stand outside the list above.
var extraCommands []func(*app) *cobra.Command

// setUp makes the global flags true; from then on the command runs.
func (a *app) setUp() error {
	f := &a.flags
	if f.output != outputText && f.output != outputJSON {
		return failure.New(failure.Usage, "--output %s: use text or json", f.output)
	}
	switch f.logFormat {
	case "auto":
		f.jsonLogs = !term.IsTerminal(int(a.stderr.Fd()))
	case "text", "json":
		f.jsonLogs = f.logFormat == "json"
	default:
		return failure.New(failure.Usage, "--log-format %s: use auto, text or json", f.logFormat)
	}
	if f.threads < 0 {
		return failure.New(failure.Usage, "--threads %d: must be positive, or 0 for all cores", f.threads)
	}
	if f.threads > 0 {
		runtime.GOMAXPROCS(f.threads)
	}
	if f.memoryLimit > 0 {
		debug.SetMemoryLimit(int64(f.memoryLimit))
	}
	a.log = newLogger(a.stderr, f.jsonLogs, f.quiet)
	a.started = true
	return nil
}

// newLogger writes one line a record: JSON, or short text for people.
func newLogger(w io.Writer, asJSON, quiet bool) *slog.Logger {
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelError
	}
	if asJSON {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, at slog.Attr) slog.Attr {
		if len(groups) == 0 && (at.Key == slog.TimeKey || at.Key == slog.LevelKey && at.Value.String() == "INFO") {
			return slog.Attr{}
		}
		return at
	}}))
}

// printJSON prints a result on standard output.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return a.printed(enc.Encode(v))
}

// printed classes an error of writing a result.
func (a *app) printed(err error) error {
	if err != nil {
		return failure.New(failure.IO, "write the result: %w", err)
	}
	return nil
}

// print prints a result for people on standard output.
func (a *app) print(format string, args ...any) error {
	_, err := fmt.Fprintf(a.stdout, format, args...)
	return a.printed(err)
}
