// Package prerequisite checks for programs and libraries of the operating system that a cluster needs, and installs
// them from Debian's packages where it may.
package prerequisite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Need is one thing that must be there.
type Need struct {
	Name     string
	Packages []string // of Debian and its descendants
	Found    func() bool
}

// What clusters and their builds need.
var (
	NFT        = program("nft", "nftables")
	IP         = program("ip", "iproute2")
	Mount      = program("mount", "mount") // the kubelet calls it
	NSEnter    = program("nsenter", "util-linux")
	CC         = Need{"a C compiler", []string{"gcc", "libc6-dev"}, func() bool { return inPath("gcc") || inPath("cc") }}
	PkgConfig  = program("pkg-config", "pkg-config")
	Libseccomp = Need{"libseccomp with its static library", []string{"libseccomp-dev"}, func() bool {
		return exec.Command("pkg-config", "--exists", "libseccomp").Run() == nil
	}}
)

func program(name, pkg string) Need {
	return Need{name, []string{pkg}, func() bool { return inPath(name) }}
}

func inPath(name string) bool {
	if _, err := exec.LookPath(name); err == nil {
		return true
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} { // often not in an ordinary user's PATH
		if st, err := os.Stat(dir + "/" + name); err == nil && st.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// Ensure installs what is missing, or says what to install.
func Ensure(ctx context.Context, say func(string, ...any), needs ...Need) error {
	names, packages := missing(needs)
	if len(names) == 0 {
		return nil
	}
	if !inPath("apt-get") {
		return fmt.Errorf("missing: %s: install it (Debian's packages: %s) and try again", strings.Join(names, ", "), strings.Join(packages, " "))
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("missing: %s: install it with: sudo apt-get install %s", strings.Join(names, ", "), strings.Join(packages, " "))
	}
	say("installing %s", strings.Join(packages, " "))
	if err := install(ctx, say, packages); err != nil {
		return err
	}
	if names, packages = missing(needs); len(names) > 0 {
		return fmt.Errorf("still missing after apt-get install %s: %s", strings.Join(packages, " "), strings.Join(names, ", "))
	}
	return nil
}

func missing(needs []Need) (names, packages []string) {
	for _, n := range needs {
		if !n.Found() {
			names = append(names, n.Name)
			packages = append(packages, n.Packages...)
		}
	}
	slices.Sort(packages)
	return names, slices.Compact(packages)
}

// install retries, for mirrors fail now and then, and another apt-get may hold the lock.
func install(ctx context.Context, say func(string, ...any), packages []string) error {
	const tries = 4
	var err error
	for try := 1; try <= tries; try++ {
		if err = apt(ctx, "update"); err == nil {
			if err = apt(ctx, append([]string{"install", "--yes", "--no-install-recommends"}, packages...)...); err == nil {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if try < tries {
			say("apt-get failed, try %d of %d: %v", try, tries, err)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * 3 * time.Second):
			}
		}
	}
	return fmt.Errorf("install %s: %w", strings.Join(packages, " "), err)
}

func apt(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q", "-o", "DPkg::Lock::Timeout=120"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	if err != nil {
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		return errors.Join(fmt.Errorf("apt-get %s: %w", args[0], err), errors.New(string(lines[len(lines)-1])))
	}
	return nil
}
