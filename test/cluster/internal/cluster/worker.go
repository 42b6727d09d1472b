//go:build linux

package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
)

// AddNode starts another real node, with namespaces, a kubelet and a container runtime of its own.
func (c *Cluster) AddNode(ctx context.Context, n layout.Node, gpus int) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := c.running()
	if err != nil {
		return err
	}
	if ready(n) {
		c.Say("node %s is up already", n.Name())
		return nil
	}
	if gpus >= 0 {
		s.GPUs = gpus
	}
	start := time.Now()
	if err := c.stop(ctx, n); err != nil {
		return fmt.Errorf("clear what an earlier node left: %w", err)
	}
	if err := os.MkdirAll(n.Dir(), 0o755); err != nil {
		return err
	}
	if err := c.connect(ctx, n); err != nil {
		return err
	}
	if err := c.startNode(ctx, n, s); err != nil {
		return err
	}
	c.Say("node %s is Ready after %.1f s", n.Name(), time.Since(start).Seconds())
	return c.awaitGPUs(ctx, n, s.GPUs)
}

// connect gives the node a network namespace and a link to the bridge in the control plane's.
func (c *Cluster) connect(ctx context.Context, n layout.Node) error {
	cp := c.controlPlane()
	if err := sandbox.CreateNetNS(n.NetNSPath()); err != nil {
		return err
	}
	err := sandbox.IP(ctx, cp.NetNSPath(), fmt.Sprintf("link add %s type veth peer name eth0 netns %s", n.Veth(), n.NetNS()))
	if err != nil {
		return err
	}
	err = sandbox.IP(ctx, n.NetNSPath(),
		"link set lo up",
		fmt.Sprintf("addr add %s/%d dev eth0", n.IP(), layout.NodeNetBits),
		"link set eth0 up",
		"route add "+layout.ServiceCIDR+" dev eth0",
		fmt.Sprintf("route add %s via %s", layout.PodCIDR, cp.IP()),
	)
	if err != nil {
		return err
	}
	return sandbox.IP(ctx, cp.NetNSPath(),
		fmt.Sprintf("link set %s master %s up", n.Veth(), layout.Bridge),
		fmt.Sprintf("route replace %s via %s", n.PodCIDR(), n.IP()),
	)
}

// RemoveNode takes a node out of service as an administrator would: its pods are drained, its Node object deleted.
func (c *Cluster) RemoveNode(ctx context.Context, n layout.Node) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := c.running(); err != nil {
		return err
	}
	if ready(n) {
		drain := []string{"drain", n.Name(), "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--grace-period=10", "--timeout=60s"}
		if out, err := c.kubectl(ctx, nil, drain...); err != nil {
			return fmt.Errorf("drain node %s: %w: %s", n.Name(), err, out)
		}
	}
	if out, err := c.kubectl(ctx, nil, "delete", "node", n.Name(), "--ignore-not-found"); err != nil {
		return fmt.Errorf("delete node %s: %w: %s", n.Name(), err, out)
	}
	if err := c.stop(ctx, n); err != nil {
		return err
	}
	c.Say("node %s is removed", n.Name())
	return c.unroute(ctx, n)
}

// KillNode makes a node vanish as if its power had failed: no process of it says goodbye, its address is silent, and
// its objects stay in the API.
func (c *Cluster) KillNode(ctx context.Context, n layout.Node) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := c.running(); err != nil {
		return err
	}
	if pid(n) == 0 {
		return fmt.Errorf("node %s is not running", n.Name())
	}
	if err := c.stop(ctx, n); err != nil {
		return err
	}
	c.Say("node %s has vanished", n.Name())
	return c.unroute(ctx, n)
}

// unroute removes the route to a stopped node's pods; its link went with its network namespace.
func (c *Cluster) unroute(ctx context.Context, n layout.Node) error {
	return sandbox.InNetNS(c.controlPlane().NetNSPath(), func() error {
		// It is no error if the route went with the link.
		_ = exec.CommandContext(ctx, "ip", "route", "del", n.PodCIDR()).Run()
		return nil
	})
}
