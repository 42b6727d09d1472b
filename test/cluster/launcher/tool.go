//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/part"
)

// commands is filled at start, for the commands' texts refer to it.
var commands map[string]command

func init() {
	commands = map[string]command{
		"tool": {"NAME", "print the path of a program (helm, kubectl, kwok, …) or, with envtest, of a folder for KUBEBUILDER_ASSETS", tool},
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
	return &part.Builder{Root: root, Cache: cache, Say: say}, nil
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
