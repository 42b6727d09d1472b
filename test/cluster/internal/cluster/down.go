//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
)

// Down ends the cluster and removes all it had on the machine but its logs.
func (c *Cluster) Down(ctx context.Context) error {
	if _, err := os.Stat(c.Dir); errors.Is(err, os.ErrNotExist) {
		nodes, err := c.nodes()
		if err != nil {
			return err
		}
		if len(nodes) == 0 {
			c.Say("there is no cluster %s", c.Name)
			return nil
		}
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.clear(ctx); err != nil {
		return err
	}
	c.Say("cluster %s is down; its logs are in %s", c.Name, filepath.Join(c.Dir, "log"))
	return nil
}

// clear ends all nodes and removes the state but the logs.
func (c *Cluster) clear(ctx context.Context) error {
	nodes, err := c.nodes()
	if err != nil {
		return err
	}
	// All processes first: workers would only notice that the control plane is gone.
	for _, n := range nodes {
		if _, err := sandbox.Kill(ctx, initArgs(n)...); err != nil {
			return fmt.Errorf("node %s: %w", n.Name(), err)
		}
	}
	for _, n := range nodes {
		if err := c.stop(ctx, n); err != nil {
			return fmt.Errorf("node %s: %w", n.Name(), err)
		}
	}
	for _, name := range stateFiles {
		if err := os.RemoveAll(filepath.Join(c.Dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// stop ends a node at once and removes its namespaces, cgroups and files.
func (c *Cluster) stop(ctx context.Context, n layout.Node) error {
	if _, err := sandbox.Kill(ctx, initArgs(n)...); err != nil {
		return err
	}
	if err := sandbox.DeleteNetNS(n.NetNSPath()); err != nil {
		return err
	}
	if err := sandbox.DeleteCgroup(n.Cgroup()); err != nil {
		return err
	}
	return os.RemoveAll(n.Dir())
}
