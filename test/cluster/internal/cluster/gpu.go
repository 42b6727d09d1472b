//go:build linux

package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/node"
)

const (
	devicePluginImage = "cuzk.dev/cluster/deviceplugin:1"
	gpuLimit          = time.Minute
)

// devicePlugin announces the GPUs of every node, whatever its taints.
const devicePlugin = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: gpu-device-plugin
  namespace: kube-system
spec:
  selector:
    matchLabels: {app: gpu-device-plugin}
  template:
    metadata:
      labels: {app: gpu-device-plugin}
    spec:
      priorityClassName: system-node-critical
      tolerations: [{operator: Exists}]
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 1
      containers:
      - name: plugin
        image: ` + devicePluginImage + `
        imagePullPolicy: Never
        args: ["-count-file=/gpus/count"]
        securityContext: {privileged: true}
        volumeMounts:
        - {name: sockets, mountPath: /var/lib/kubelet/device-plugins}
        - {name: gpus, mountPath: /gpus, readOnly: true}
      volumes:
      - name: sockets
        hostPath: {path: /var/lib/kubelet/device-plugins, type: DirectoryOrCreate}
      - name: gpus
        hostPath: {path: /var/lib/kubelet/gpus, type: Directory}
`

// deployDevicePlugin installs the device plugin and waits until the control plane's node offers its GPUs.
func (c *Cluster) deployDevicePlugin(ctx context.Context, s node.Settings) error {
	if out, err := c.kubectl(ctx, strings.NewReader(devicePlugin), "apply", "-f", "-"); err != nil {
		return fmt.Errorf("install the device plugin: %w: %s", err, out)
	}
	return c.awaitGPUs(ctx, c.controlPlane(), s.GPUs)
}

// awaitGPUs waits until the node offers that many GPUs.
func (c *Cluster) awaitGPUs(ctx context.Context, n layout.Node, want int) error {
	out, err := c.kubectl(ctx, nil, "wait", "node/"+n.Name(), "--timeout="+gpuLimit.String(),
		fmt.Sprintf(`--for=jsonpath={.status.allocatable.nvidia\.com/gpu}=%d`, want))
	if err != nil {
		return fmt.Errorf("node %s does not offer %d GPUs after %s: %w: %s (see kubectl -n kube-system get pods)", n.Name(), want, gpuLimit, err, out)
	}
	c.Say("node %s offers %d nvidia.com/gpu", n.Name(), want)
	return nil
}

// SetGPUs changes how many GPUs a running node offers, as when one fails or is repaired.
func (c *Cluster) SetGPUs(ctx context.Context, n layout.Node, gpus int) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if !ready(n) {
		return fmt.Errorf("node %s is not running", n.Name())
	}
	if err := node.WriteGPUCount(n, gpus); err != nil {
		return err
	}
	return c.awaitGPUs(ctx, n, gpus)
}
