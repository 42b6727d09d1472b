//go:build linux

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/docker"
)

const dockerUsage = "up | status | down | purge | env | bases | load ARCHIVE | build ARGS... | run DOCKER-ARGS..."

// dockerDaemon is the launcher's command for the private Docker daemon.
func dockerDaemon(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	b, err := builder()
	if err != nil {
		return err
	}
	d, err := docker.New(os.Getenv, b, say)
	if err != nil {
		return err
	}
	rest := args[1:]
	switch args[0] {
	case "up":
		return d.Up(ctx)
	case "down":
		return d.Down(ctx)
	case "purge":
		return d.Purge(ctx)
	case "status":
		return d.Run(ctx, "version", "--format", "server {{.Server.Version}} at "+d.Host())
	case "env":
		fmt.Printf("export DOCKER_HOST=%s DOCKER_BUILDKIT=0\n", d.Host())
		return nil
	case "bases":
		_, err := d.LoadBases(ctx)
		return err
	case "load":
		if len(rest) != 1 {
			return errUsage
		}
		return d.Load(ctx, rest[0])
	case "build":
		return d.Build(ctx, rest)
	case "run":
		return d.Run(ctx, rest...)
	default:
		return errUsage
	}
}

func dockerInit(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return errUsage
	}
	return docker.Init(ctx, args[0], args[1], args[2], args[3])
}
