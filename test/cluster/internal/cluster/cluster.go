//go:build linux

// Package cluster starts and stops clusters and their nodes, and loads images into them.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/node"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/part"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
)

// Cluster is one cluster of this machine, running or not.
type Cluster struct {
	layout.Cluster
	Parts *part.Builder
	// Say prints a line of progress.
	Say func(format string, args ...any)
}

// ErrNotRunning tells that there is no cluster to work on.
var ErrNotRunning = errors.New("the cluster is not running: start it with make cluster-up")

// lock serialises what changes the cluster.
func (c *Cluster) lock(ctx context.Context) (unlock func(), err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("the cluster needs root: it makes network, mount and process namespaces and cgroups")
	}
	if err := c.claim(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(c.LockFile(), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	said := false
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || ctx.Err() != nil {
			_ = f.Close()
			return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), ctx.Err())
		}
		if !said {
			c.Say("waiting for another command on cluster %s", c.Name)
			said = true
		}
		_ = unix.Nanosleep(&unix.Timespec{Nsec: 100e6}, nil)
	}
}

// claim makes sure that the state folder is ours: new, empty, or a cluster's. All in it is deleted some day.
func (c *Cluster) claim() error {
	entries, err := os.ReadDir(c.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(c.Dir, 0o755)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", layout.EnvDir, err)
	}
	for _, e := range entries {
		if !slices.Contains(ownFiles, e.Name()) {
			return fmt.Errorf("%s: %s has files that are not a cluster's, such as %s: choose an empty or a new folder", layout.EnvDir, c.Dir, e.Name())
		}
	}
	return nil
}

// stateFiles are what a running cluster has in its folder; ownFiles are all that one may find there.
var (
	stateFiles = []string{"nodes", "pki", "images", "kubeconfig", "cluster.json"}
	ownFiles   = append([]string{"lock", "log"}, stateFiles...)
)

// initArgs are the arguments of a node's first process, by which it is found again.
func initArgs(n layout.Node) []string {
	return []string{node.InitCommand, n.Cluster.Name, n.Cluster.Dir, strconv.Itoa(n.Index)}
}

// pid is the first process of the node as seen from the machine, or 0 if it does not run.
func pid(n layout.Node) int { return sandbox.Find(initArgs(n)...) }

// ready tells whether the node runs and has finished its start.
func ready(n layout.Node) bool {
	_, err := os.Stat(n.ReadyFile())
	return err == nil && pid(n) != 0
}

func (c *Cluster) controlPlane() layout.Node {
	n, err := c.Node(1)
	if err != nil {
		panic(err) // the number is right
	}
	return n
}

// nodes lists the nodes that have left any trace on the machine.
func (c *Cluster) nodes() ([]layout.Node, error) {
	var nodes []layout.Node
	entries, err := os.ReadDir(filepath.Join(c.Dir, "nodes"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	traces := map[string]bool{}
	for _, e := range entries {
		traces[e.Name()] = true
	}
	for k := 1; k <= layout.MaxNode; k++ {
		n, err := c.Node(k)
		if err != nil {
			return nil, err
		}
		if traces[n.Name()] || sandbox.NetNSExists(n.NetNSPath()) || sandbox.CgroupExists(n.Cgroup()) {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// running loads the settings of the running cluster.
func (c *Cluster) running() (node.Settings, error) {
	if !ready(c.controlPlane()) {
		return node.Settings{}, ErrNotRunning
	}
	return node.Load(c.Cluster)
}

// Environment is the environment for programs that talk to the cluster: its kubeconfig, its kubectl first in PATH,
// and no HTTP proxy, which could not reach it.
func (c *Cluster) Environment(environ []string) ([]string, error) {
	s, err := c.running()
	if err != nil {
		return nil, err
	}
	path := os.Getenv("PATH")
	var env []string
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case name == "KUBECONFIG", name == "PATH", strings.HasSuffix(strings.ToLower(name), "_proxy"):
		default:
			env = append(env, e)
		}
	}
	return append(env,
		"KUBECONFIG="+c.Kubeconfig(),
		"PATH="+s.Parts[part.Hyper]+":"+path,
		"CUZK_CLUSTER_AUDIT_LOG="+c.AuditLog(),
	), nil
}

// Exec replaces this process by a program on the machine's file system and in the cluster's network.
func (c *Cluster) Exec(argv []string) error {
	env, err := c.Environment(os.Environ())
	if err != nil {
		return err
	}
	return sandbox.Exec(c.controlPlane().NetNSPath(), argv, env)
}

// ExecIn replaces this process by a program inside all namespaces of a node.
func (c *Cluster) ExecIn(n layout.Node, argv []string) error {
	p := pid(n)
	if p == 0 {
		return fmt.Errorf("node %s is not running", n.Name())
	}
	s, err := c.running()
	if err != nil {
		return err
	}
	env := append(os.Environ(), "PATH="+s.Parts[part.Containerd]+":"+s.Parts[part.Runc]+":"+s.Parts[part.Hyper]+":"+os.Getenv("PATH"),
		"CONTAINERD_ADDRESS="+node.ContainerdSocket, "CONTAINERD_NAMESPACE=k8s.io")
	return sandbox.Exec("", append([]string{"nsenter", "--target", strconv.Itoa(p), "--mount", "--pid", "--net", "--uts", "--ipc", "--"}, argv...), dedupe(env))
}

// dedupe keeps the last value of each variable.
func dedupe(env []string) []string {
	last := map[string]int{}
	for i, e := range env {
		name, _, _ := strings.Cut(e, "=")
		last[name] = i
	}
	var out []string
	for i, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if last[name] == i {
			out = append(out, e)
		}
	}
	return out
}
