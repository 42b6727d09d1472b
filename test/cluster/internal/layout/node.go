package layout

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// Node is the naming of one node of a cluster. Index 1 is the control plane, which is a node too.
type Node struct {
	Cluster Cluster `json:"-"`
	Index   int
}

// Node returns the naming of node k: 1 is the control plane, 2 to 200 are workers.
func (c Cluster) Node(k int) (Node, error) {
	if k < 1 || k > MaxNode {
		return Node{}, fmt.Errorf("node %d: a node's number is 1 (the control plane) to %d", k, MaxNode)
	}
	return Node{Cluster: c, Index: k}, nil
}

// Worker parses a worker's number as given on a command line: "2", or the node's name "node-2".
func (c Cluster) Worker(arg string) (Node, error) {
	digits := arg
	if len(arg) > 5 && arg[:5] == "node-" {
		digits = arg[5:]
	}
	k, err := strconv.Atoi(digits)
	if err != nil || k < 2 || k > MaxNode {
		return Node{}, fmt.Errorf("%q is no worker node: give its number, 2 to %d (1 is the control plane)", arg, MaxNode)
	}
	return c.Node(k)
}

// IsControlPlane tells whether the node runs etcd and the control plane.
func (n Node) IsControlPlane() bool { return n.Index == 1 }

// Name is the Node object's name.
func (n Node) Name() string {
	if n.IsControlPlane() {
		return ControlPlane
	}
	return fmt.Sprintf("node-%d", n.Index)
}

// IP is the node's address on the bridge.
func (n Node) IP() string { return fmt.Sprintf("10.99.0.%d", n.Index) }

// PodCIDR is the range of the node's pods; the control plane has 10.244.1.0/24.
func (n Node) PodCIDR() string { return fmt.Sprintf("10.244.%d.0/24", n.Index) }

// NetNS is the name of the node's network namespace. A worker's has a dot, which no cluster name has.
func (n Node) NetNS() string {
	if n.IsControlPlane() {
		return "cuzk-" + n.Cluster.Name
	}
	return fmt.Sprintf("cuzk-%s.%d", n.Cluster.Name, n.Index)
}

// NetNSPath is the file that holds the network namespace.
func (n Node) NetNSPath() string { return filepath.Join("/run/netns", n.NetNS()) }

// Cgroup is the name of the node's cgroup, directly under the root of each hierarchy.
func (n Node) Cgroup() string { return n.NetNS() }

// Veth is the worker's end of its link at the bridge, inside the control plane's network namespace.
func (n Node) Veth() string { return fmt.Sprintf("node%d", n.Index) }

// Dir is the node's folder: its configuration and what would be its disk.
func (n Node) Dir() string { return filepath.Join(n.Cluster.Dir, "nodes", n.Name()) }

// Etc is the folder of the node's configuration files.
func (n Node) Etc(elem ...string) string {
	return filepath.Join(append([]string{n.Dir(), "etc"}, elem...)...)
}

// Disk is the node's own storage: what a machine would have under /var.
func (n Node) Disk(elem ...string) string {
	return filepath.Join(append([]string{n.Dir(), "disk"}, elem...)...)
}

// Log is the log file of one component of the node.
func (n Node) Log(component string) string {
	return filepath.Join(n.Cluster.Dir, "log", n.Name(), component+".log")
}

// ProcessFile records the node's first process.
func (n Node) ProcessFile() string { return filepath.Join(n.Dir(), "process.json") }

// ReadyFile appears when the node is Ready.
func (n Node) ReadyFile() string { return filepath.Join(n.Dir(), "ready") }

// Files of the cluster as a whole.

// SettingsFile marks a folder as a cluster's and holds what the cluster was started with.
func (c Cluster) SettingsFile() string { return filepath.Join(c.Dir, "cluster.json") }

// LockFile serialises the commands that change the cluster.
func (c Cluster) LockFile() string { return filepath.Join(c.Dir, "lock") }

// Kubeconfig is the administrator's; its server is reachable inside the cluster's network namespace only.
func (c Cluster) Kubeconfig() string { return filepath.Join(c.Dir, "kubeconfig") }

// AuditLog is the API server's audit log, one JSON object a line.
func (c Cluster) AuditLog() string { return filepath.Join(c.Dir, "log", "audit.log") }

// PKI is a file of the cluster's certificates and keys.
func (c Cluster) PKI(name string) string { return filepath.Join(c.Dir, "pki", name) }

// Images is the folder of image archives that every node gets.
func (c Cluster) Images() string { return filepath.Join(c.Dir, "images") }

// APIServer is the server's URL inside the cluster's network.
func (c Cluster) APIServer() string {
	return fmt.Sprintf("https://%s:%d", ControlPlaneIP, APIServerPort)
}
