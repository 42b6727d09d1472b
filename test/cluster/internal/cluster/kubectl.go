//go:build linux

package cluster

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/node"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
)

// kubectl runs kubectl as the administrator and returns what it printed.
func (c *Cluster) kubectl(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	s, err := node.Load(c.Cluster)
	if err != nil {
		return "", err
	}
	var out []byte
	err = sandbox.InNetNS(c.controlPlane().NetNSPath(), func() error {
		cmd := exec.CommandContext(ctx, s.Program("kubectl"), append([]string{"--kubeconfig=" + c.Kubeconfig()}, args...)...)
		cmd.Stdin = stdin
		cmd.Env = append(os.Environ(), "HTTPS_PROXY=", "https_proxy=")
		out, err = cmd.CombinedOutput()
		return err
	})
	return strings.TrimSpace(string(out)), err
}
