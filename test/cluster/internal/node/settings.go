//go:build linux

// Package node is one machine of a cluster: its configuration files, the command lines of its components, and the
// process that runs them as the first of the node's namespaces.
package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/part"
)

// Environment variables that a cluster is started with.
const (
	EnvGPUs                   = "CUZK_CLUSTER_GPUS"
	EnvNodeGrace              = "CUZK_CLUSTER_NODE_GRACE"
	EnvAPIServerFlags         = "CUZK_CLUSTER_APISERVER_FLAGS"
	EnvControllerManagerFlags = "CUZK_CLUSTER_CONTROLLER_MANAGER_FLAGS"
	EnvSchedulerFlags         = "CUZK_CLUSTER_SCHEDULER_FLAGS"
	EnvKubeletFlags           = "CUZK_CLUSTER_KUBELET_FLAGS"
)

const (
	defaultGPUs = 2
	// The kubelet renews its lease every quarter of leaseDuration; the grace time must allow for a few that fail.
	leaseDuration    = 8 * time.Second
	defaultNodeGrace = 40 * time.Second
	minNodeGrace     = 6 * time.Second
)

// Settings is what a cluster was started with. They hold for its life and for nodes that join later.
type Settings struct {
	Name string
	// Parts are the folders of the cluster's programs.
	Parts map[string]string
	// GPUs is the number of nvidia.com/gpu that each node announces.
	GPUs int
	// NodeGrace is the time after which a silent node is NotReady.
	NodeGrace time.Duration
	// Snapshotter is containerd's: overlayfs, or native where overlays cannot be stacked.
	Snapshotter string
	// Extra flags of the components.
	APIServerFlags, ControllerManagerFlags, SchedulerFlags, KubeletFlags []string
}

// SettingsFromEnv reads the settings that a user may choose.
func SettingsFromEnv(getenv func(string) string) (Settings, error) {
	s := Settings{
		GPUs:                   defaultGPUs,
		NodeGrace:              defaultNodeGrace,
		APIServerFlags:         strings.Fields(getenv(EnvAPIServerFlags)),
		ControllerManagerFlags: strings.Fields(getenv(EnvControllerManagerFlags)),
		SchedulerFlags:         strings.Fields(getenv(EnvSchedulerFlags)),
		KubeletFlags:           strings.Fields(getenv(EnvKubeletFlags)),
	}
	if v := getenv(EnvGPUs); v != "" {
		n, err := ParseGPUs(v)
		if err != nil {
			return s, fmt.Errorf("%s: %w", EnvGPUs, err)
		}
		s.GPUs = n
	}
	if v := getenv(EnvNodeGrace); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d < minNodeGrace {
			return s, fmt.Errorf("%s: %q: want a time of at least %s, such as 12s, since a node reports every %s", EnvNodeGrace, v, minNodeGrace, leaseDuration/4)
		}
		s.NodeGrace = d
	}
	return s, nil
}

// ParseGPUs parses a number of GPUs of a node.
func ParseGPUs(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 64 {
		return 0, fmt.Errorf("%q: want a number of GPUs, 0 to 64", v)
	}
	return n, nil
}

// Save writes the settings; the file also marks the folder as a cluster's.
func (s Settings) Save(c layout.Cluster) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(c.SettingsFile(), append(b, '\n'), 0o644)
}

// Load reads the settings of a cluster.
func Load(c layout.Cluster) (Settings, error) {
	var s Settings
	b, err := os.ReadFile(c.SettingsFile())
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("%s: %w", c.SettingsFile(), err)
	}
	return s, nil
}

// Program is the path of a program of the cluster.
func (s Settings) Program(name string) string {
	p, ok := part.Owner(name)
	if !ok {
		panic("no part has the program " + name)
	}
	return filepath.Join(s.Parts[p.Name], name)
}
