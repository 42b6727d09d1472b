// Package part builds what a cluster consists of (etcd, Kubernetes, containerd, runc, network plugins, helm, …) from
// Go modules, and keeps what it built in a cache that all clones on the machine share.
//
// Each part is built in a Go module of its own under test/cluster/src, because their dependencies agree neither with
// each other nor with the operator's.
package part

import (
	"fmt"
	"sort"
	"strings"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/prerequisite"
)

// Part is one thing to build.
type Part struct {
	Name string
	// Module is the folder of the Go module, relative to the repository's root; empty is the root itself.
	Module string
	// Sources are folders, relative to the root, whose Go files and go.mod and go.sum the result depends on.
	Sources []string
	// Packages maps the program's name to its package.
	Packages map[string]string
	// Links are further names of programs.
	Links   map[string]string
	CGO     bool
	Tags    string
	LDFlags string
	Needs   []prerequisite.Need
	// Estimate tells a waiting person how long a cold build takes.
	Estimate string
}

const (
	kubernetesVersion = "1.37.2"
	containerdVersion = "2.4.2"
	helmVersion       = "4.3.2"
	kwokVersion       = "0.8.0"
)

// Names of the parts.
const (
	Hyper        = "hyper"
	Containerd   = "containerd"
	Runc         = "runc"
	CNI          = "cni"
	Helm         = "helm"
	Kwok         = "kwok"
	Pause        = "pause"
	DevicePlugin = "deviceplugin"
	Probe        = "probe"
)

// Node are the parts that every cluster needs.
var Node = []string{Hyper, Containerd, Runc, CNI, Pause, DevicePlugin}

var parts = map[string]Part{
	// One program for all of Kubernetes and etcd: 160 MB instead of 560, and the packages are compiled for one set of
	// dependency versions only.
	Hyper: {
		Module:   "test/cluster/src/hyper",
		Sources:  []string{"test/cluster/src/hyper"},
		Packages: map[string]string{"hyper": "."},
		Links: map[string]string{
			"etcd": "hyper", "kube-apiserver": "hyper", "kube-controller-manager": "hyper", "kube-scheduler": "hyper",
			"kube-proxy": "hyper", "kubelet": "hyper", "kubectl": "hyper",
		},
		LDFlags: "-s -w -X k8s.io/component-base/version.gitVersion=v" + kubernetesVersion +
			" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37",
		Estimate: "10 to 20 min on two cores",
	},
	Containerd: {
		Module:  "test/cluster/src/containerd",
		Sources: []string{"test/cluster/src/containerd"},
		Packages: map[string]string{
			"containerd":              ".",
			"containerd-shim-runc-v2": "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
		},
		Links:    map[string]string{"ctr": "containerd"},
		Tags:     "no_btrfs no_devmapper no_zfs no_aufs",
		LDFlags:  "-s -w -X github.com/containerd/containerd/v2/version.Version=" + containerdVersion,
		Estimate: "1 to 3 min on two cores",
	},
	// The kubelet gives every sandbox a seccomp profile, which runc refuses unless it was built with libseccomp.
	Runc: {
		Module:   "test/cluster/src/runc",
		Sources:  []string{"test/cluster/src/runc"},
		Packages: map[string]string{"runc": "github.com/opencontainers/runc"},
		CGO:      true,
		Tags:     "netgo osusergo seccomp",
		LDFlags:  "-s -w -extldflags -static",
		Needs:    []prerequisite.Need{prerequisite.CC, prerequisite.PkgConfig, prerequisite.Libseccomp},
		Estimate: "half a minute",
	},
	CNI: {
		Module:  "test/cluster/src/cni",
		Sources: []string{"test/cluster/src/cni"},
		Packages: map[string]string{
			"bridge":     "github.com/containernetworking/plugins/plugins/main/bridge",
			"loopback":   "github.com/containernetworking/plugins/plugins/main/loopback",
			"host-local": "github.com/containernetworking/plugins/plugins/ipam/host-local",
			"portmap":    "github.com/containernetworking/plugins/plugins/meta/portmap",
		},
		LDFlags:  "-s -w",
		Estimate: "a few seconds",
	},
	Helm: {
		Module:   "test/cluster/src/helm",
		Sources:  []string{"test/cluster/src/helm"},
		Packages: map[string]string{"helm": "helm.sh/helm/v4/cmd/helm"},
		LDFlags:  "-s -w -X helm.sh/helm/v4/internal/version.version=v" + helmVersion,
		Estimate: "2 to 5 min on two cores",
	},
	Kwok: {
		Module:   "test/cluster/src/kwok",
		Sources:  []string{"test/cluster/src/kwok"},
		Packages: map[string]string{"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
		LDFlags:  "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=v" + kwokVersion,
		Estimate: "2 to 4 min on two cores",
	},
	DevicePlugin: {
		Module:   "test/cluster/deviceplugin",
		Sources:  []string{"test/cluster/deviceplugin"},
		Packages: map[string]string{"deviceplugin": "."},
		LDFlags:  "-s -w",
		Estimate: "half a minute",
	},
	Pause: {
		Sources:  []string{"test/cluster/pause"},
		Packages: map[string]string{"pause": "./test/cluster/pause"},
		LDFlags:  "-s -w",
		Estimate: "a few seconds",
	},
	Probe: {
		Sources:  []string{"test/cluster/probe"},
		Packages: map[string]string{"probe": "./test/cluster/probe"},
		LDFlags:  "-s -w",
		Estimate: "a few seconds",
	},
}

// Get returns the part of that name.
func Get(name string) (Part, error) {
	p, ok := parts[name]
	if !ok {
		return Part{}, fmt.Errorf("no cluster part %q: there are %s", name, strings.Join(Names(), ", "))
	}
	p.Name = name
	return p, nil
}

// Names lists the parts.
func Names() []string {
	var names []string
	for n := range parts {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Owner returns the part that contains a program, by the program's name.
func Owner(program string) (Part, bool) {
	for _, name := range Names() {
		p := parts[name]
		if _, ok := p.Packages[program]; ok {
			p.Name = name
			return p, true
		}
		if _, ok := p.Links[program]; ok {
			p.Name = name
			return p, true
		}
	}
	return Part{}, false
}
