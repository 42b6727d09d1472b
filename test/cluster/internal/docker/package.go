//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// programs returns the folder with dockerd and docker, out of Debian's package. The package is unpacked into the cache
// and not installed: installing it would start a daemon and add a user group.
func (d *Daemon) programs(ctx context.Context) (string, error) {
	dir := filepath.Join(d.Parts.Cache, "docker")
	done := filepath.Join(dir, "bin")
	if _, err := os.Stat(done); err == nil {
		return done, nil
	}
	if err := os.MkdirAll(d.Parts.Cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(done); err == nil {
		return done, nil
	}
	for _, tool := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("%s is needed to get Debian's Docker; elsewhere set DOCKER_HOST to a daemon of your own", tool)
		}
	}
	d.Say("downloading Debian's docker.io")
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(partial) }() // no longer there after success
	if err := os.MkdirAll(filepath.Join(partial, "bin"), 0o755); err != nil {
		return "", err
	}
	// Later releases have the client in a package of its own.
	for _, p := range []struct{ name, program string }{{"docker.io", "dockerd"}, {"docker.io", "docker"}, {"docker-cli", "docker"}} {
		link := filepath.Join(partial, "bin", p.program)
		if _, err := os.Stat(link); err == nil {
			continue
		}
		if err := unpack(ctx, partial, p.name); err != nil {
			return "", err
		}
		for _, bin := range []string{"usr/sbin", "usr/bin"} {
			if _, err := os.Stat(filepath.Join(partial, p.name, bin, p.program)); err == nil {
				if err := os.Symlink(filepath.Join("..", p.name, bin, p.program), link); err != nil {
					return "", err
				}
			}
		}
	}
	for _, program := range []string{"dockerd", "docker"} {
		path := filepath.Join(partial, "bin", program)
		if out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s of Debian's package does not run here: %w: %s", program, err, strings.TrimSpace(string(out)))
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return done, os.Rename(partial, dir)
}

// unpack downloads a package and unpacks it into a folder of its name, unless that is there.
func unpack(ctx context.Context, dir, name string) error {
	target := filepath.Join(dir, name)
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	const tries = 3
	var err error
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(3 * time.Second):
			}
		}
		// The lists may be missing or old, which is what most failures come from.
		if try > 0 || !haveLists() {
			if err = command(ctx, dir, "apt-get", "-q", "update"); err != nil {
				continue
			}
		}
		if err = command(ctx, dir, "apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", name); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("download Debian's %s: %w", name, err)
	}
	debs, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err != nil || len(debs) != 1 {
		return errors.Join(fmt.Errorf("apt-get download %s left %d packages", name, len(debs)), err)
	}
	if err := command(ctx, dir, "dpkg-deb", "--extract", debs[0], target); err != nil {
		return err
	}
	return os.Remove(debs[0])
}

func haveLists() bool {
	lists, err := filepath.Glob("/var/lib/apt/lists/*Packages*")
	return err == nil && len(lists) > 0
}

func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%s: %w: %s", name, err, lines[len(lines)-1])
	}
	return nil
}
