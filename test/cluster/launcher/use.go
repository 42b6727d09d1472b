//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
)

func enter(_ context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	ext, err := isExternal()
	if err != nil {
		return err
	}
	if ext {
		return sandbox.Exec("", args, os.Environ())
	}
	c, err := open()
	if err != nil {
		return err
	}
	return c.Exec(args)
}

func kubectl(ctx context.Context, args []string) error {
	return enter(ctx, append([]string{"kubectl"}, args...))
}

func in(_ context.Context, args []string) error {
	if len(args) < 2 {
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
	return c.ExecIn(n, args[1:])
}

func loadImage(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	ext, err := isExternal()
	if err != nil {
		return err
	}
	if ext {
		return loadIntoKind(ctx, args[1])
	}
	c, err := open()
	if err != nil {
		return err
	}
	return c.LoadImage(ctx, args[0], args[1])
}

// loadIntoKind imports an image into a kind cluster; any other external cluster pulls from a registry.
func loadIntoKind(ctx context.Context, archive string) error {
	out, err := exec.CommandContext(ctx, "kubectl", "config", "current-context").Output()
	if err != nil {
		return fmt.Errorf("kubectl config current-context: %w", err)
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "kind-")
	if !ok {
		return fmt.Errorf("the cluster of KUBECONFIG is not kind's: push the image to a registry that it can pull from")
	}
	cmd := exec.CommandContext(ctx, "kind", "load", "image-archive", archive, "--name", name)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
