//go:build linux

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/node"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/pki"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
)

// startNode starts a node whose network namespace and links are there, and waits until it is Ready.
func (c *Cluster) startNode(ctx context.Context, n layout.Node, s node.Settings) error {
	if err := node.WriteFiles(n, s); err != nil {
		return err
	}
	if err := c.issueNodeCertificates(n); err != nil {
		return err
	}
	if err := c.enableForwarding(n); err != nil {
		return err
	}
	if err := sandbox.CreateCgroup(n.Cgroup()); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	log := n.Log("init")
	if _, err := sandbox.Start(sandbox.Spec{Path: exe, Args: initArgs(n), NetNS: n.NetNSPath(), Log: log}); err != nil {
		return err
	}
	return c.follow(ctx, n, log)
}

// follow prints the node's log of its start until it is ready or has failed.
func (c *Cluster) follow(ctx context.Context, n layout.Node, log string) error {
	printed := 0
	report := func() (last string) {
		b, err := os.ReadFile(log)
		if err != nil {
			return ""
		}
		whole := b[:bytes.LastIndexByte(b, '\n')+1]
		for line := range strings.Lines(string(whole[min(printed, len(whole)):])) {
			c.Say("%s", strings.TrimSpace(line))
		}
		printed = len(whole)
		lines := strings.Split(strings.TrimSpace(string(whole)), "\n")
		return lines[len(lines)-1]
	}
	var gone time.Time
	for {
		last := report()
		if ready(n) {
			return nil
		}
		// The process has its arguments a moment after it was started.
		if pid(n) != 0 {
			gone = time.Time{}
		} else if gone.IsZero() {
			gone = time.Now()
		} else if time.Since(gone) > time.Second {
			return fmt.Errorf("node %s did not start: %s (see %s)", n.Name(), last, log)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *Cluster) issueNodeCertificates(n layout.Node) error {
	ca, err := pki.Load(c.PKI("ca.crt"), c.PKI("ca.key"))
	if err != nil {
		return err
	}
	now := time.Now()
	for component, identity := range node.Kubeconfigs(n) {
		pair, err := ca.Issue(identity[0], identity[1], pki.Client, nil, now)
		if err != nil {
			return err
		}
		if err := pki.WriteKubeconfig(n.Etc(component+".kubeconfig"), "cuzk-"+c.Name, c.APIServer(), ca, pair); err != nil {
			return err
		}
	}
	serving, err := ca.Issue("system:node:"+n.Name(), "system:nodes", pki.Server, []string{n.Name(), n.IP(), "127.0.0.1"}, now)
	if err != nil {
		return err
	}
	return serving.WriteFiles(n.Etc("serving.crt"), n.Etc("serving.key"))
}

// enableForwarding lets the node route between its pods and the others', and lets kube-proxy's rules see what passes
// through the pods' bridge.
func (c *Cluster) enableForwarding(n layout.Node) error {
	if err := sandbox.SetSysctls(n.NetNSPath(), map[string]string{"net.ipv4.ip_forward": "1"}); err != nil {
		return err
	}
	bridge := map[string]string{"net.bridge.bridge-nf-call-iptables": "1"}
	err := sandbox.SetSysctls(n.NetNSPath(), bridge)
	if errors.Is(err, os.ErrNotExist) && exec.Command("modprobe", "br_netfilter").Run() == nil {
		err = sandbox.SetSysctls(n.NetNSPath(), bridge)
	}
	if errors.Is(err, os.ErrNotExist) {
		c.Say("the kernel has no br_netfilter: a pod cannot reach a Service whose pod is on the same node")
		return nil
	}
	return err
}
