//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// PrivateMounts is called by the first process of a new mount namespace: it cuts the ties to the machine's mounts and
// mounts a /proc, /run and /var of its own, the latter two empty.
func PrivateMounts() error {
	// What is mounted from here on is shared with the containers inside, for mount propagation.
	for _, flags := range []uintptr{unix.MS_REC | unix.MS_PRIVATE, unix.MS_REC | unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", flags, ""); err != nil {
			return fmt.Errorf("mount propagation: %w", err)
		}
	}
	// Copies of other nodes' network namespaces would keep those alive.
	names, err := filepath.Glob("/run/netns/*")
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := unix.Unmount(name, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("unmount %s: %w", name, err)
		}
	}
	for _, m := range []struct {
		fstype, target, data string
		flags                uintptr
	}{
		{"proc", "/proc", "", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{"tmpfs", "/run", "mode=755", unix.MS_NOSUID | unix.MS_NODEV},
		{"tmpfs", "/var", "mode=755", unix.MS_NOSUID | unix.MS_NODEV},
	} {
		if err := unix.Mount(m.fstype, m.target, m.fstype, m.flags, m.data); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	for _, dir := range []string{"/run/lock", "/run/netns", "/var/lib", "/var/tmp"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod("/var/tmp", 0o777|os.ModeSticky); err != nil {
		return err
	}
	return os.Symlink("/run", "/var/run")
}

// Bind shows the folder source at target, which is made if need be.
func Bind(source, target string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s at %s: %w", source, target, err)
	}
	return nil
}
