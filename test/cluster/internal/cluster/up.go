//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/image"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/node"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/part"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/pki"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/prerequisite"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
)

// Up builds what is missing and starts the cluster. A cluster that is up stays as it is.
func (c *Cluster) Up(ctx context.Context, s node.Settings) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if ready(c.controlPlane()) {
		c.Say("cluster %s is up already", c.Name)
		return nil
	}
	err = prerequisite.Ensure(ctx, c.Say, prerequisite.NFT, prerequisite.IP, prerequisite.Mount, prerequisite.NSEnter)
	if err != nil {
		return err
	}
	s.Name, s.Parts = c.Name, map[string]string{}
	for _, name := range part.Node {
		if s.Parts[name], err = c.Parts.Ensure(ctx, name); err != nil {
			return err
		}
	}
	start := time.Now()
	if err := c.clear(ctx); err != nil { // what an earlier start may have left
		return fmt.Errorf("clear what an earlier cluster left: %w", err)
	}
	if err := c.start(ctx, s); err != nil {
		if ctx.Err() != nil { // told to stop: leave nothing half started
			cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
			defer cancel()
			return errors.Join(err, c.clear(cleanup))
		}
		return fmt.Errorf("%w (what was started is left to look at; make cluster-down removes it)", err)
	}
	c.Say("cluster %s is up after %.1f s; KUBECONFIG=%s, in its network: test/cluster/enter CMD", c.Name, time.Since(start).Seconds(), c.Kubeconfig())
	return nil
}

func (c *Cluster) start(ctx context.Context, s node.Settings) error {
	var err error
	if s.Snapshotter, err = snapshotter(c.Dir); err != nil {
		return err
	}
	for _, dir := range []string{filepath.Join(c.Dir, "pki"), c.Images(), filepath.Dir(c.AuditLog())} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := s.Save(c.Cluster); err != nil {
		return err
	}
	if err := c.issueCertificates(); err != nil {
		return err
	}
	if err := c.writeImages(s); err != nil {
		return err
	}
	n := c.controlPlane()
	if err := sandbox.CreateNetNS(n.NetNSPath()); err != nil {
		return err
	}
	err = sandbox.IP(ctx, n.NetNSPath(),
		"link set lo up",
		"link add "+layout.Bridge+" type bridge",
		fmt.Sprintf("addr add %s/%d dev %s", n.IP(), layout.NodeNetBits, layout.Bridge),
		"link set "+layout.Bridge+" up",
		"route add "+layout.ServiceCIDR+" dev "+layout.Bridge, // without a route the kernel refuses before kube-proxy's rules apply
	)
	if err != nil {
		return err
	}
	if err := c.startNode(ctx, n, s); err != nil {
		return err
	}
	return c.deployDevicePlugin(ctx, s)
}

// snapshotter picks how containerd stacks the layers of an image: overlays do not work on top of an overlay, which is
// what the root of a container often is.
func snapshotter(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	if st.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native", nil
	}
	return "overlayfs", nil
}

func (c *Cluster) issueCertificates() error {
	now := time.Now()
	ca, err := pki.NewAuthority("kubernetes-ca", now)
	if err != nil {
		return err
	}
	frontProxyCA, err := pki.NewAuthority("front-proxy-ca", now)
	if err != nil {
		return err
	}
	if err := pki.WriteSigningKey(c.PKI("service-account.key"), c.PKI("service-account.pub")); err != nil {
		return err
	}
	for _, p := range []struct {
		file string
		pair pki.Pair
	}{{"ca", ca}, {"front-proxy-ca", frontProxyCA}} {
		if err := p.pair.WriteFiles(c.PKI(p.file+".crt"), c.PKI(p.file+".key")); err != nil {
			return err
		}
	}
	names := []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost",
		"127.0.0.1", layout.ControlPlaneIP, layout.ServiceIP}
	for _, i := range []struct {
		ca                pki.Pair
		file, user, group string
		usage             pki.Usage
		names             []string
	}{
		{ca, "apiserver", "kube-apiserver", "", pki.Server, names},
		{ca, "kubelet-client", "kube-apiserver-kubelet-client", "system:masters", pki.Client, nil},
		{frontProxyCA, "front-proxy-client", "front-proxy-client", "", pki.Client, nil},
		{ca, "admin", "admin", "system:masters", pki.Client, nil},
	} {
		pair, err := i.ca.Issue(i.user, i.group, i.usage, i.names, now)
		if err != nil {
			return err
		}
		if err := pair.WriteFiles(c.PKI(i.file+".crt"), c.PKI(i.file+".key")); err != nil {
			return err
		}
		if i.file == "admin" {
			if err := pki.WriteKubeconfig(c.Kubeconfig(), "cuzk-"+c.Name, c.APIServer(), ca, pair); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeImages makes the images that every node has.
func (c *Cluster) writeImages(s node.Settings) error {
	for name, tag := range map[string]string{part.Pause: node.PauseImage, part.DevicePlugin: devicePluginImage} {
		img := image.Image{Tags: []string{tag}, Entrypoint: []string{"/" + name}}
		if err := img.Add(s.Program(name), "/"+name); err != nil {
			return err
		}
		// These come first in order, so that no other image waits for its sandbox.
		if err := img.WriteFile(filepath.Join(c.Images(), "00-"+name+".tar")); err != nil {
			return err
		}
	}
	return nil
}
