package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/prover/pipeline"
)

// crash is the child of TestCrashIsNoUsageError: it uses the pipeline and then panics.
func crash() {
	var limit unix.Rlimit
	_, err := pipeline.Open(context.Background(), pipeline.Files{}, pipeline.Config{}, nil)
	fmt.Println(err != nil, unix.Getrlimit(unix.RLIMIT_CORE, &limit), limit.Cur)
	panic("crashed on purpose")
}

// A crash must not look like a wrong command line (Go's exit code for it is 2), and must leave no core.
func TestCrashIsNoUsageError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("core dumps are turned off on Linux only")
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "CUZK_TEST_CRASH=1")
	child.Dir = t.TempDir()
	out, err := child.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the child ended with %v", err)
	}
	if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGABRT || status.CoreDump() {
		t.Errorf("the child ended with %v, want SIGABRT without a core", err)
	}
	if got := strings.TrimSpace(string(out)); got != "true <nil> 0" {
		t.Errorf("in the child: %q, want an error of Open and a core limit of 0", got)
	}
}
