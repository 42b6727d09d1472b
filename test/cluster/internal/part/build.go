package part

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/prerequisite"
)

// Builder builds parts into a cache.
type Builder struct {
	Root  string // of the repository
	Cache string // folder of results, one folder a part and digest
	// Prebuilt, if set, is a folder with a folder for each part, built elsewhere; then nothing is built.
	Prebuilt string
	// Say prints a line for a waiting person.
	Say func(format string, args ...any)
}

const (
	// A module download that stalls is cut off and tried again; what was downloaded stays.
	downloadTries   = 5
	downloadTimeout = 4 * time.Minute
	progressEvery   = 20 * time.Second
)

// Ensure returns the folder of the part's programs and builds them first unless the cache has them.
func (b *Builder) Ensure(ctx context.Context, name string) (string, error) {
	p, err := Get(name)
	if err != nil {
		return "", err
	}
	if b.Prebuilt != "" {
		dir := filepath.Join(b.Prebuilt, name)
		if !exists(dir) {
			return "", fmt.Errorf("%s: no folder %s in %s", layout.EnvParts, name, b.Prebuilt)
		}
		return dir, nil
	}
	tc, err := toolchain(ctx, b.Root)
	if err != nil {
		return "", err
	}
	digest, err := p.Digest(b.Root, tc)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.Cache, p.Name+"-"+digest)
	if exists(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	unlock, err := b.lock(ctx, p)
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(dir) { // built by the process that held the lock
		return dir, nil
	}
	if err := prerequisite.Ensure(ctx, b.Say, p.Needs...); err != nil {
		return "", fmt.Errorf("build %s: %w", p.Name, err)
	}
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return "", err
	}
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(partial) }() // no longer there after success
	start := time.Now()
	b.Say("building %s from source, once for this machine (cold: %s)", p.Name, p.Estimate)
	if err := b.download(ctx, p); err != nil {
		return "", err
	}
	if err := b.compile(ctx, p, partial); err != nil {
		return "", err
	}
	for _, link := range sortedKeys(p.Links) {
		if err := os.Symlink(p.Links[link], filepath.Join(partial, link)); err != nil {
			return "", err
		}
	}
	if err := os.Rename(partial, dir); err != nil {
		return "", err
	}
	b.Say("built %s in %s", p.Name, time.Since(start).Round(time.Second))
	return dir, nil
}

// Program returns the path of a program, by its name, and builds its part unless the cache has it.
func (b *Builder) Program(ctx context.Context, program string) (string, error) {
	p, ok := Owner(program)
	if !ok {
		return "", fmt.Errorf("no part of the cluster has a program %q", program)
	}
	dir, err := b.Ensure(ctx, p.Name)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, program), nil
}

// lock keeps two processes from building the same part at once: the second waits and finds it built.
func (b *Builder) lock(ctx context.Context, p Part) (func(), error) {
	f, err := os.OpenFile(filepath.Join(b.Cache, p.Name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	waiting := time.Time{}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		if time.Since(waiting) > progressEvery {
			waiting = time.Now()
			b.Say("waiting for another process that builds %s", p.Name)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// download fetches the part's modules with the Go environment as it is (GOPROXY and all).
func (b *Builder) download(ctx context.Context, p Part) error {
	if p.Module == "" {
		return nil // standard library only
	}
	var last error
	for try := 1; try <= downloadTries; try++ {
		tctx, cancel := context.WithTimeout(ctx, downloadTimeout)
		cmd := b.goCommand(tctx, p, "mod", "download")
		out, err := cmd.CombinedOutput()
		timedOut := tctx.Err() != nil
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		last = fmt.Errorf("%w: %s", err, lastLines(out, 5))
		if timedOut {
			last = fmt.Errorf("no end after %s", downloadTimeout)
		}
		b.Say("downloading the modules of %s: try %d of %d failed: %v", p.Name, try, downloadTries, last)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try) * 2 * time.Second):
		}
	}
	return fmt.Errorf("download modules of %s: %w (the Go command's GOPROXY must reach a module proxy)", p.Name, last)
}

func (b *Builder) compile(ctx context.Context, p Part, out string) error {
	for _, program := range sortedKeys(p.Packages) {
		// Flags that a user's GOFLAGS might set are given here, for they would change the result or the build cache.
		args := []string{"build", "-v", "-mod=readonly", "-buildvcs=false", "-trimpath=false", "-ldflags", p.LDFlags}
		if p.Tags != "" {
			args = append(args, "-tags", p.Tags)
		}
		args = append(args, "-o", filepath.Join(out, program), p.Packages[program])
		cmd := b.goCommand(ctx, p, args...)
		log := &progress{what: program, say: b.Say, start: time.Now(), next: time.Now().Add(progressEvery)}
		cmd.Stdout, cmd.Stderr = log, log
		stop := log.tick()
		err := cmd.Run()
		stop()
		if err != nil {
			return fmt.Errorf("build %s: %w\n%s", program, err, lastLines(log.text.Bytes(), 30))
		}
	}
	return nil
}

func (b *Builder) goCommand(ctx context.Context, p Part, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(b.Root, p.Module)
	cgo := "CGO_ENABLED=0"
	if p.CGO {
		cgo = "CGO_ENABLED=1"
	}
	cmd.Env = append(os.Environ(), cgo, "GOWORK=off", "GO111MODULE=on")
	// The Go command starts children; all of them end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

func toolchain(ctx context.Context, root string) (Toolchain, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return Toolchain{}, fmt.Errorf("go env: %w (Go 1.26 is needed to build the cluster)", err)
	}
	f := strings.Fields(string(out))
	if len(f) != 3 {
		return Toolchain{}, fmt.Errorf("go env: unexpected answer %q", out)
	}
	return Toolchain{Version: f[0], OS: f[1], Arch: f[2]}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func lastLines(b []byte, n int) string {
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return string(bytes.Join(lines, []byte("\n")))
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
