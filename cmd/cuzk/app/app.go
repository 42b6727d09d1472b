// Package app is the command line of cuzk. It is a package of its own so that a program which links in further gnark
// hints can offer the same commands:
//
//	func main() {
//		hints.Register(mycircuit.Hint)
//		app.Main()
//	}
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// Build says what was built.
type Build struct {
	Version string
	Commit  string
}

// Main runs the command line of this process and ends it. The build, one at most, says what `cuzk version` prints.
func Main(builds ...Build) {
	var b Build
	if len(builds) > 0 {
		b = builds[0]
	}
	gnark.Main() // in a child that solves gnark circuits, it does not return
	os.Exit(run(b, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// app is what all commands share.
type app struct {
	build  Build
	stdin  io.Reader
	stdout io.Writer
	stderr *os.File

	flags globalFlags
	log   *slog.Logger
	// started says that the command line was understood: errors from then on are not about its form.
	started bool
	// inPod says that the command is that of a pod.
	inPod bool
}

// interrupted is the number of the signal that asked the process to end, or 0.
var interrupted atomic.Int32

func run(b Build, args []string, stdin io.Reader, stdout io.Writer, stderr *os.File) (code int) {
	a := &app{build: b, stdin: stdin, stdout: stdout, stderr: stderr, log: slog.New(slog.DiscardHandler)}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "cuzk: internal error: %v\n\nThis is a defect of cuzk; please report it with the following.\n%s", p, debug.Stack())
			code = failure.Internal.ExitCode()
		}
	}()
	ctx, stop := withSignals(context.Background())
	defer stop()
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	return a.fail(cmd, err)
}

// withSignals cancels on SIGINT and SIGTERM, once: a second signal ends the process at once, as without us.
func withSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			if n, ok := s.(syscall.Signal); ok {
				interrupted.Store(int32(n))
			}
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel() }
}

// fail tells the user of an error and returns the exit code of its class.
func (a *app) fail(cmd *cobra.Command, err error) int {
	class := failure.ClassOf(err)
	var known *failure.Error
	switch {
	case errors.As(err, &known):
	case !a.started:
		class = failure.Usage
	}
	if n := interrupted.Load(); n != 0 && (class == failure.Interrupted || errors.Is(err, context.Canceled)) {
		fmt.Fprintf(a.stderr, "cuzk: interrupted by %s; nothing was written\n", syscall.Signal(n))
		a.printError(failure.Interrupted, err)
		return 128 + int(n)
	}
	if !a.started && a.flags.output != outputJSON {
		fmt.Fprintf(a.stderr, "cuzk: %v\nSee '%s --help'.\n", err, cmd.CommandPath())
		return a.exitCode(class)
	}
	if a.flags.jsonLogs {
		attrs := []any{"class", string(class), "error", err.Error()}
		a.log.Error("Failed", attrs...)
	} else {
		fmt.Fprintf(a.stderr, "cuzk: %v\n", err)
	}
	a.printError(class, err)
	return a.exitCode(class)
}

// exitCode is the code of a class. In a pod an order that cannot be carried out ends like a bad key: 2 is also how Go ends
// a crash, and the operator must try again after one.
func (a *app) exitCode(class failure.Class) int {
	if a.inPod && class == failure.Usage {
		class = failure.Key
	}
	return class.ExitCode()
}

// errorJSON is what --output json prints in place of a result.
type errorJSON struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Class      failure.Class `json:"class"`
	Message    string        `json:"message"`
	File       string        `json:"file,omitempty"`
	Section    string        `json:"section,omitempty"`
	Offset     *int64        `json:"offset,omitempty"`
	Constraint *int64        `json:"constraint,omitempty"`
	Fix        string        `json:"fix,omitempty"`
}

func (a *app) printError(class failure.Class, err error) {
	if a.flags.output != outputJSON {
		return
	}
	body := errorBody{Class: class, Message: err.Error()}
	var e *failure.Error
	if errors.As(err, &e) {
		body.File, body.Section, body.Fix = e.File, e.Section, e.Fix
		if e.Offset >= 0 {
			body.Offset = &e.Offset
		}
		if e.Constraint >= 0 {
			body.Constraint = &e.Constraint
		}
	}
	_ = a.printJSON(errorJSON{body}) // there is no one left to tell
}
