//go:build linux

// Package docker runs Debian's Docker daemon privately, so that a Dockerfile can be tried on a machine that has no
// daemon and reaches no registry. The daemon has mount, process, host name and IPC namespaces of its own, no bridge and
// no firewall rules; it shares the machine's network, so that a build with --network host reaches a module proxy.
package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/part"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/prerequisite"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
)

const (
	// EnvDir chooses the daemon's folder.
	EnvDir     = "CUZK_DOCKER_DIR"
	defaultDir = "/opt/cuzk-docker"
	// InitCommand is the launcher's command that calls Init; its arguments are the daemon's folder, and the folders of
	// containerd, runc and Docker.
	InitCommand = "docker-init"
	startLimit  = time.Minute
)

// Daemon is the private daemon of this machine, running or not.
type Daemon struct {
	Dir   string
	Parts *part.Builder
	Say   func(format string, args ...any)
}

// New returns the daemon that the environment chooses.
func New(getenv func(string) string, parts *part.Builder, say func(string, ...any)) (*Daemon, error) {
	dir := getenv(EnvDir)
	if dir == "" {
		dir = defaultDir
	}
	if err := layout.Visible(EnvDir, dir); err != nil {
		return nil, err
	}
	return &Daemon{Dir: filepath.Clean(dir), Parts: parts, Say: say}, nil
}

// Socket is where the daemon listens.
func (d *Daemon) Socket() string { return filepath.Join(d.Dir, "docker.sock") }

// Host is the value of DOCKER_HOST.
func (d *Daemon) Host() string { return "unix://" + d.Socket() }

func (d *Daemon) data(elem ...string) string {
	return filepath.Join(append([]string{d.Dir, "data"}, elem...)...)
}

func (d *Daemon) log(name string) string { return filepath.Join(d.Dir, "log", name+".log") }

func cgroup() string { return "cuzk-docker" }

func (d *Daemon) running() bool { return sandbox.Find(InitCommand, d.Dir) != 0 }

// Up starts the daemon. One that is up stays as it is.
func (d *Daemon) Up(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return errors.New("the Docker daemon needs root")
	}
	if d.running() {
		if d.responds() {
			return nil
		}
		if err := d.Down(ctx); err != nil {
			return err
		}
	}
	if err := prerequisite.Ensure(ctx, d.Say, prerequisite.Mount); err != nil {
		return err
	}
	var parts []string
	for _, name := range []string{part.Containerd, part.Runc} {
		dir, err := d.Parts.Ensure(ctx, name)
		if err != nil {
			return err
		}
		parts = append(parts, dir)
	}
	programs, err := d.programs(ctx)
	if err != nil {
		return err
	}
	for _, dir := range []string{d.data("docker"), d.data("containerd"), filepath.Join(d.Dir, "log")} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return err
		}
	}
	if err := os.Remove(d.Socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := sandbox.CreateCgroup(cgroup()); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{InitCommand, d.Dir, parts[0], parts[1], programs}
	if _, err := sandbox.Start(sandbox.Spec{Path: exe, Args: args, Log: d.log("init")}); err != nil {
		return err
	}
	start := time.Now()
	for !d.responds() {
		if time.Since(start) > startLimit || ctx.Err() != nil || time.Since(start) > time.Second && !d.running() {
			return errors.Join(fmt.Errorf("the Docker daemon does not answer: see %s", filepath.Join(d.Dir, "log")), ctx.Err())
		}
		<-time.After(100 * time.Millisecond)
	}
	d.Say("the Docker daemon is up after %.1f s; DOCKER_HOST=%s", time.Since(start).Seconds(), d.Host())
	return nil
}

// Purge ends the daemon and removes its images.
func (d *Daemon) Purge(ctx context.Context) error {
	if err := d.Down(ctx); err != nil {
		return err
	}
	return os.RemoveAll(d.data())
}

// Down ends the daemon and its containers. The images stay, so that the next build finds its layers.
func (d *Daemon) Down(ctx context.Context) error {
	killed, err := sandbox.Kill(ctx, InitCommand, d.Dir)
	if err != nil {
		return err
	}
	if err := sandbox.DeleteCgroup(cgroup()); err != nil {
		return err
	}
	if err := os.Remove(d.Socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if killed {
		d.Say("the Docker daemon is down; its logs are in %s", filepath.Join(d.Dir, "log"))
	}
	return nil
}
