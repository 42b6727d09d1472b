//go:build linux

package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Hierarchy is one mounted tree of cgroups.
type Hierarchy struct {
	Path    string
	Version int
}

// Hierarchies lists the mounted trees: one of version 2, or several of version 1 (and beside them, on "hybrid"
// machines, one of version 2 without controllers).
func Hierarchies() ([]Hierarchy, error) {
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var hs []Hierarchy
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) < 3 || !strings.HasPrefix(fields[1], "/sys/fs/cgroup") {
			continue
		}
		h := Hierarchy{Path: fields[1]}
		switch fields[2] {
		case "cgroup":
			h.Version = 1
		case "cgroup2":
			h.Version = 2
		default:
			continue
		}
		if !slices.Contains(hs, h) {
			hs = append(hs, h)
		}
	}
	if len(hs) == 0 {
		return nil, errors.New("no cgroups are mounted under /sys/fs/cgroup: the kubelet cannot work without")
	}
	return hs, nil
}

// controllers that the kubelet wants of version 2.
var controllers = []string{"cpu", "cpuset", "memory", "pids", "io", "hugetlb"}

// CreateCgroup makes the named cgroup in every hierarchy.
func CreateCgroup(name string) error {
	hs, err := Hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		dir := filepath.Join(h.Path, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("cgroup: %w (the machine must let root make cgroups)", err)
		}
		if h.Version == 2 {
			if err := delegate(h.Path); err != nil {
				return err
			}
			continue
		}
		// A version 1 cpuset takes no process before it has CPUs and memory nodes.
		for _, f := range []string{"cpuset.cpus", "cpuset.mems"} {
			b, err := os.ReadFile(filepath.Join(h.Path, f))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, f), b, 0)
			}
			if err != nil {
				return fmt.Errorf("cgroup: %w", err)
			}
		}
	}
	return nil
}

// delegate hands the controllers of a version 2 tree to the cgroups below its root. In a container that root is an
// ordinary cgroup, which may not hold processes then: they move to a cgroup of their own.
func delegate(root string) error {
	available, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	var want []string
	for c := range strings.FieldsSeq(string(available)) {
		if slices.Contains(controllers, c) {
			want = append(want, "+"+c)
		}
	}
	if len(want) == 0 {
		return nil // hybrid: the controllers are in version 1 trees
	}
	file := filepath.Join(root, "cgroup.subtree_control")
	err = os.WriteFile(file, []byte(strings.Join(want, " ")), 0)
	if errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EOPNOTSUPP) {
		if err := moveProcesses(root, filepath.Join(root, "init")); err != nil {
			return err
		}
		err = os.WriteFile(file, []byte(strings.Join(want, " ")), 0)
	}
	if err != nil {
		return fmt.Errorf("cgroup: delegate %s: %w", strings.Join(want, " "), err)
	}
	return nil
}

func moveProcesses(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	pids, err := os.ReadFile(filepath.Join(from, "cgroup.procs"))
	if err != nil {
		return err
	}
	for pid := range strings.FieldsSeq(string(pids)) {
		err := os.WriteFile(filepath.Join(to, "cgroup.procs"), []byte(pid), 0)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("cgroup: move process %s to %s: %w", pid, to, err)
		}
	}
	return nil
}

// DeleteCgroup removes the named cgroup with all below it. Their processes must be dead; the kernel needs a moment to
// notice.
func DeleteCgroup(name string) error {
	hs, err := Hierarchies()
	if err != nil {
		return err
	}
	deadline := time.Now().Add(10 * time.Second)
	for _, h := range hs {
		top := filepath.Join(h.Path, name)
		for {
			err := removeTree(top)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("remove cgroup %s: %w", top, err)
			}
			<-time.After(50 * time.Millisecond)
		}
	}
	return nil
}

func removeTree(top string) error {
	var dirs []string
	err := filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil && e.IsDir() {
			dirs = append(dirs, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range slices.Backward(dirs) { // a folder comes before those below it
		if err := unix.Rmdir(d); err != nil && !errors.Is(err, unix.ENOENT) {
			return &os.PathError{Op: "rmdir", Path: d, Err: err}
		}
	}
	return nil
}

// CgroupExists tells whether the named cgroup is in any hierarchy.
func CgroupExists(name string) bool {
	hs, err := Hierarchies()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(hs, func(h Hierarchy) bool {
		_, err := os.Stat(filepath.Join(h.Path, name))
		return err == nil
	})
}
