//go:build linux

package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Spec is a process to start as the first of new namespaces.
type Spec struct {
	Path  string
	Args  []string // without the program's name
	NetNS string   // network namespace to start in; empty: the caller's
	Log   string   // file for its output
}

// Start starts the process as the first one of new mount, process, host name and IPC namespaces. It outlives the
// caller; all processes in its namespaces die with it.
func Start(s Spec) (pid int, err error) {
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	start := func() error {
		cmd := exec.Command(s.Path, s.Args...)
		cmd.Stdout, cmd.Stderr = log, log
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Setsid:     true,
			Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("new namespaces: %w (root is needed)", err)
		}
		pid = cmd.Process.Pid
		go func() { _ = cmd.Wait() }() // reaped if it ends before the caller
		return nil
	}
	if s.NetNS == "" {
		return pid, start()
	}
	return pid, InNetNS(s.NetNS, start)
}

// Find returns the process that Start started with the given first arguments, or 0. It asks the kernel and no pid
// file, so a process that merely has the number of a dead one is never taken for it: the process must be the first of
// a process namespace directly below ours and have the arguments.
func Find(args ...string) int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && matches(pid, args) {
			return pid
		}
	}
	return 0
}

func matches(pid int, args []string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return false
	}
	words := strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00")
	if len(words) <= len(args) || !slices.Equal(words[1:1+len(args)], args) {
		return false
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if pids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			f := strings.Fields(pids)
			return len(f) == 2 && f[1] == "1"
		}
	}
	return false
}

// Kill ends the process that Find finds, and with it everything in its namespaces, and waits until the kernel has
// removed them. It reports whether there was one.
func Kill(ctx context.Context, args ...string) (bool, error) {
	pid := Find(args...)
	if pid == 0 {
		return false, nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(fd) }()
	// From here on the number cannot pass to another process unnoticed.
	if Find(args...) != pid {
		return false, nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && err != unix.ESRCH {
		return false, fmt.Errorf("kill process %d: %w", pid, err)
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 100)
		if n == 1 {
			return true, nil
		}
		if err != nil && err != unix.EINTR {
			return true, fmt.Errorf("wait for process %d: %w", pid, err)
		}
		if ctx.Err() != nil {
			return true, fmt.Errorf("process %d does not end: %w", pid, ctx.Err())
		}
	}
}

// Exec replaces the calling process by a program inside the network namespace, if one is given. The program is looked
// up in the PATH of env.
func Exec(netns string, argv, env []string) error {
	program, err := lookPath(argv[0], env)
	if err != nil {
		return err
	}
	return onThread(func() error {
		if netns != "" {
			if err := EnterNetNS(netns); err != nil {
				return err
			}
		}
		return fmt.Errorf("%s: %w", program, syscall.Exec(program, argv, env))
	})
}

func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, e := range env {
		path, ok := strings.CutPrefix(e, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			p := filepath.Join(dir, name)
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("%s: no such program in PATH", name)
}
