//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/cluster"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/docker"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/node"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/part"
)

// commands is filled at start, for usage refers to it.
var commands map[string]command

func init() {
	commands = map[string]command{
		"build":            {"[PART...]", "build what a cluster is made of into the cache", build},
		"tool":             {"NAME", "print the path of a program (helm, kubectl, kwok, …); envtest: a folder for KUBEBUILDER_ASSETS", tool},
		"up":               {"", "start the cluster", up},
		"down":             {"", "end the cluster and remove what it had on the machine", down},
		"status":           {"", "print how the cluster is", status},
		"node-add":         {"[-gpus N] K", "start another node, node-K (K from 2)", nodeAdd},
		"node-remove":      {"K", "drain node-K and take it out of the cluster", nodeRemove},
		"node-kill":        {"K", "make node-K vanish, as if its power had failed", nodeKill},
		"gpus":             {"K N", "let node K (1: the control plane) offer N GPUs from now on", gpus},
		"load-image":       {"NAME ARCHIVE", "import an image archive into every node", loadImage},
		"enter":            {"CMD...", "run a command in the cluster's network, with KUBECONFIG and PATH set", enter},
		"kubectl":          {"ARGS...", "run kubectl", kubectl},
		"in":               {"K CMD...", "run a command inside all namespaces of node K (ctr, nft, ps, …)", in},
		"docker":           {dockerUsage, "a private Docker daemon for trying the Dockerfile", dockerDaemon},
		node.InitCommand:   {"NAME FOLDER K", "", nodeInit},
		docker.InitCommand: {"FOLDER CONTAINERD RUNC DOCKER", "", dockerInit},
	}
}

// external is the value of CUZK_CLUSTER with which the commands work on the cluster of KUBECONFIG instead.
const external = "external"

func open() (*cluster.Cluster, error) {
	c, err := layout.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	b, err := builder()
	if err != nil {
		return nil, err
	}
	return &cluster.Cluster{Cluster: c, Parts: b, Say: say}, nil
}

func isExternal() (bool, error) {
	switch v := os.Getenv("CUZK_CLUSTER"); v {
	case "", "local":
		return false, nil
	case external:
		if os.Getenv("KUBECONFIG") == "" {
			return false, fmt.Errorf("CUZK_CLUSTER=%s: set KUBECONFIG to the cluster to use", external)
		}
		return true, nil
	default:
		return false, fmt.Errorf("CUZK_CLUSTER: %q: want local or %s", v, external)
	}
}

func builder() (*part.Builder, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	root, err := layout.RepoRoot(filepath.Dir(exe))
	if err != nil {
		return nil, err
	}
	cache, err := layout.CacheDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	prebuilt := os.Getenv(layout.EnvParts)
	if prebuilt != "" {
		if err := layout.Visible(layout.EnvParts, prebuilt); err != nil {
			return nil, err
		}
	}
	return &part.Builder{Root: root, Cache: cache, Prebuilt: prebuilt, Say: say}, nil
}

func build(ctx context.Context, args []string) error {
	b, err := builder()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = part.Node
	}
	for _, name := range args {
		dir, err := b.Ensure(ctx, name)
		if err != nil {
			return err
		}
		fmt.Println(dir)
	}
	return nil
}

// tool prints where a program is, building it first if need be.
func tool(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	b, err := builder()
	if err != nil {
		return err
	}
	var path string
	if args[0] == "envtest" {
		// The folder with etcd, kube-apiserver and kubectl, which is what envtest looks for.
		path, err = b.Ensure(ctx, part.Hyper)
	} else {
		path, err = b.Program(ctx, args[0])
	}
	if err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}

func up(ctx context.Context, args []string) error {
	if len(args) != 0 {
		return errUsage
	}
	s, err := node.SettingsFromEnv(os.Getenv)
	if err != nil {
		return err
	}
	c, err := open()
	if err != nil {
		return err
	}
	return c.Up(ctx, s)
}

func down(ctx context.Context, args []string) error {
	if len(args) != 0 {
		return errUsage
	}
	c, err := open()
	if err != nil {
		return err
	}
	return c.Down(ctx)
}

func status(ctx context.Context, args []string) error {
	c, err := open()
	if err != nil {
		return err
	}
	return c.Status(ctx, os.Stdout)
}

func nodeAdd(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("node-add", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	gpus := flags.Int("gpus", -1, "")
	if err := flags.Parse(args); err != nil || *gpus < -1 || *gpus > 64 {
		return errUsage
	}
	return withWorker(flags.Args(), func(c *cluster.Cluster, n layout.Node) error { return c.AddNode(ctx, n, *gpus) })
}

func nodeRemove(ctx context.Context, args []string) error {
	return withWorker(args, func(c *cluster.Cluster, n layout.Node) error { return c.RemoveNode(ctx, n) })
}

func nodeKill(ctx context.Context, args []string) error {
	return withWorker(args, func(c *cluster.Cluster, n layout.Node) error { return c.KillNode(ctx, n) })
}

func withWorker(args []string, f func(*cluster.Cluster, layout.Node) error) error {
	if len(args) != 1 {
		return errUsage
	}
	c, err := open()
	if err != nil {
		return err
	}
	n, err := c.Worker(args[0])
	if err != nil {
		return err
	}
	return f(c, n)
}

// anyNode parses the number of a node, which may be the control plane.
func anyNode(c *cluster.Cluster, arg string) (layout.Node, error) {
	if arg == "1" || arg == layout.ControlPlane {
		return c.Node(1)
	}
	return c.Worker(arg)
}

func gpus(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	c, err := open()
	if err != nil {
		return err
	}
	n, err := anyNode(c, args[0])
	if err != nil {
		return err
	}
	count, err := node.ParseGPUs(args[1])
	if err != nil {
		return err
	}
	return c.SetGPUs(ctx, n, count)
}

func nodeInit(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errUsage
	}
	k, err := strconv.Atoi(args[2])
	if err != nil {
		return errUsage
	}
	n, err := layout.Cluster{Name: args[0], Dir: args[1]}.Node(k)
	if err != nil {
		return err
	}
	return node.Init(ctx, n)
}
