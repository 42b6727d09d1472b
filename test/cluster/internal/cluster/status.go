//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
)

// Status prints how the cluster is.
func (c *Cluster) Status(ctx context.Context, w io.Writer) error {
	nodes, err := c.nodes()
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		_, err := fmt.Fprintf(w, "cluster %s: down\n", c.Name)
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "cluster %s: folder %s, network namespace %s, KUBECONFIG=%s\n", c.Name, c.Dir, c.controlPlane().NetNSPath(), c.Kubeconfig())
	for _, n := range nodes {
		fmt.Fprintf(&text, "  %-14s %-12s %s\n", n.Name(), n.IP(), state(n))
	}
	var failed error
	if ready(c.controlPlane()) {
		var out string
		out, failed = c.kubectl(ctx, nil, "get", "nodes,pods", "--all-namespaces", "-o", "wide")
		fmt.Fprintln(&text, out)
	}
	_, err = io.WriteString(w, text.String())
	return errors.Join(failed, err)
}

func state(n layout.Node) string {
	p := pid(n)
	switch {
	case p == 0:
		return "not running, leftovers are there: make cluster-down removes them"
	case ready(n):
		return fmt.Sprintf("running, process %d", p)
	default:
		return fmt.Sprintf("starting, process %d", p)
	}
}
