//go:build linux

// Package sandbox makes and removes the kernel's namespaces and cgroups that a node lives in.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// CreateNetNS makes a network namespace and keeps it under a name, as `ip netns add` does, but without turning its
// folder into a mount that nobody removes.
func CreateNetNS(path string) error {
	if NetNSExists(path) {
		return fmt.Errorf("network namespace %s exists already", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o444)
	if err != nil {
		return err
	}
	_ = f.Close()
	return onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("new network namespace: %w (root is needed)", err)
		}
		own := fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
		if err := unix.Mount(own, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("name network namespace %s: %w", path, err)
		}
		return nil
	})
}

// DeleteNetNS removes the name. The namespace, its links and rules go with the last process in it. It is no error if
// there is none.
func DeleteNetNS(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("remove network namespace %s: %w", path, err)
	}
	return os.Remove(path)
}

// NetNSExists tells whether a namespace is kept under the path; a leftover plain file is none.
func NetNSExists(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Type == unix.NSFS_MAGIC
}

// EnterNetNS moves the calling thread, which must be locked, into the namespace.
func EnterNetNS(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	defer f.Close()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace %s: %w (root is needed)", path, err)
	}
	return nil
}

// InNetNS calls f on a thread inside the namespace; the processes that f starts are in it too.
func InNetNS(path string, f func() error) error {
	return onThread(func() error {
		if err := EnterNetNS(path); err != nil {
			return err
		}
		return f()
	})
}

// onThread calls f on a thread of its own that ends with it, since its namespaces are no longer the process's.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the runtime ends the thread
		done <- f()
	}()
	return <-done
}

// IP runs the ip program inside the namespace, one command a line.
func IP(ctx context.Context, netns string, commands ...string) error {
	return InNetNS(netns, func() error {
		for _, c := range commands {
			out, err := exec.CommandContext(ctx, "ip", strings.Fields(c)...).CombinedOutput()
			if err != nil {
				return fmt.Errorf("ip %s: %w: %s", c, err, strings.TrimSpace(string(out)))
			}
		}
		return nil
	})
}

// SetSysctls writes sysctls of the network namespace.
func SetSysctls(netns string, values map[string]string) error {
	return InNetNS(netns, func() error {
		for name, v := range values {
			file := filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/"))
			if err := os.WriteFile(file, []byte(v), 0); err != nil {
				return fmt.Errorf("sysctl %s: %w", name, err)
			}
		}
		return nil
	})
}
