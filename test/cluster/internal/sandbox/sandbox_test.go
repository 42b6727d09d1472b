//go:build linux

package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// testContext ends long after any of these tests.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
}

// An ordinary process with a node's arguments is a stranger: it is neither found nor killed.
func TestKillSparesStrangers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	stranger := exec.Command("tail", "-f", file)
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
	if pid := Find("-f", file); pid != 0 {
		t.Fatalf("found process %d", pid)
	}
	killed, err := Kill(testContext(t), "-f", file)
	if killed || err != nil {
		t.Fatalf("killed %v, %v", killed, err)
	}
	if err := stranger.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("the stranger is gone: %v", err)
	}
}

func TestStartFindKill(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	netns := filepath.Join("/run/netns", fmt.Sprintf("cuzk-test-%d", os.Getpid()))
	if err := CreateNetNS(netns); err != nil {
		t.Skipf("this machine lets root make no network namespace: %v", err)
	}
	defer func() {
		if err := DeleteNetNS(netns); err != nil {
			t.Error(err)
		}
		if NetNSExists(netns) {
			t.Error("the network namespace is still there")
		}
	}()
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tail, err := exec.LookPath("tail")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := Start(Spec{Path: tail, Args: []string{"-f", file}, NetNS: netns, Log: filepath.Join(dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	if got := Find("-f", file); got != pid {
		t.Errorf("found process %d, want %d", got, pid)
	}
	if got := Find("-f", file+"x"); got != 0 {
		t.Errorf("found process %d by other arguments", got)
	}
	// Not /proc/self: that is the main thread, on which CreateNetNS may have run.
	own, err := os.Stat("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	its, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.Stat(netns)
	if err != nil {
		t.Fatal(err)
	}
	if os.SameFile(own, its) || !os.SameFile(kept, its) {
		t.Error("the process is not in its network namespace")
	}
	killed, err := Kill(testContext(t), "-f", file)
	if !killed || err != nil {
		t.Errorf("killed %v, %v", killed, err)
	}
	if got := Find("-f", file); got != 0 {
		t.Errorf("process %d still runs", got)
	}
}
