//go:build linux

package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/part"
)

// PauseImage is the image of the pods' sandboxes.
const PauseImage = "cuzk.dev/cluster/pause:1"

const (
	// ContainerdSocket and the folders below are the same on every node: each has its own /run and /var.
	ContainerdSocket = "/run/containerd/containerd.sock"
	kubeletDir       = "/var/lib/kubelet"
	// GPUCountFile tells the device plugin how many GPUs the node has.
	GPUCountFile = "gpus/count"
)

var containerdConfig = template.Must(template.New("containerd.toml").Parse(`version = 3
root = "{{.Root}}"
state = "/run/containerd"

[grpc]
  address = "{{.Socket}}"

[plugins.'io.containerd.cri.v1.images']
  snapshotter = "{{.Snapshotter}}"

  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "{{.Pause}}"

[plugins.'io.containerd.cri.v1.runtime']
  # Root without CAP_SYS_RESOURCE cannot give a sandbox the out-of-memory score -998 that the kubelet asks for.
  restrict_oom_score_adj = true

  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"

    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
        BinaryName = "{{.Runc}}"

  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["{{.CNI}}"]
    conf_dir = "{{.CNIConfig}}"
`))

// object is a piece of a configuration file; JSON is YAML.
type object map[string]any

// WriteFiles writes the node's configuration files.
func WriteFiles(n layout.Node, s Settings) error {
	for _, dir := range []string{n.Etc("cni"), n.Disk("kubelet", "gpus"), n.Disk("cni"), n.Disk("etcd"), n.Disk("log"), filepath.Dir(n.Log("x"))} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(n.Disk("etcd"), 0o700); err != nil {
		return err
	}
	var toml strings.Builder
	err := containerdConfig.Execute(&toml, map[string]string{
		"Root":        n.Disk("containerd"),
		"Socket":      ContainerdSocket,
		"Snapshotter": s.Snapshotter,
		"Pause":       PauseImage,
		"Runc":        s.Program("runc"),
		"CNI":         s.Parts[part.CNI],
		"CNIConfig":   n.Etc("cni"),
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(n.Etc("containerd.toml"), []byte(toml.String()), 0o644); err != nil {
		return err
	}
	if err := WriteGPUCount(n, s.GPUs); err != nil {
		return err
	}
	files := map[string]object{
		"kubelet.yaml":         kubeletConfig(n),
		"kube-proxy.yaml":      proxyConfig(n),
		"cni/10-cuzk.conflist": networkConfig(n),
	}
	if n.IsControlPlane() {
		files["audit-policy.yaml"] = auditPolicy()
	}
	for name, content := range files {
		b, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(n.Etc(name), append(b, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// WriteGPUCount sets how many GPUs the node's device plugin announces; it may change while the node runs.
func WriteGPUCount(n layout.Node, gpus int) error {
	file := n.Disk("kubelet", GPUCountFile)
	if err := os.WriteFile(file+".new", fmt.Appendln(nil, gpus), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func kubeletConfig(n layout.Node) object {
	return object{
		"apiVersion":               "kubelet.config.k8s.io/v1beta1",
		"kind":                     "KubeletConfiguration",
		"failCgroupV1":             false, // the default refuses a machine with version 1 cgroups
		"cgroupDriver":             "cgroupfs",
		"cgroupRoot":               "/" + n.Cgroup(),
		"containerRuntimeEndpoint": "unix://" + ContainerdSocket,
		"address":                  n.IP(),
		"authentication": object{
			"anonymous": object{"enabled": false},
			"webhook":   object{"enabled": true},
			"x509":      object{"clientCAFile": n.Cluster.PKI("ca.crt")},
		},
		"authorization":     object{"mode": "Webhook"},
		"tlsCertFile":       n.Etc("serving.crt"),
		"tlsPrivateKeyFile": n.Etc("serving.key"),
		"clusterDomain":     "cluster.local",
		"clusterDNS":        []string{layout.DNSIP}, // without it every pod raises a warning event
		"resolvConf":        "",                     // there is no name server outside
		"failSwapOn":        false,
		// Images cannot be pulled again, and the machine's disk is shared: delete and evict nothing for its sake.
		"imageGCHighThresholdPercent": 100,
		"evictionHard": object{
			"imagefs.available": "0%",
			"nodefs.available":  "0%",
			"nodefs.inodesFree": "0%",
			"memory.available":  "50Mi",
		},
		"nodeStatusUpdateFrequency": "4s",
		"nodeLeaseDurationSeconds":  int(leaseDuration.Seconds()),
		"syncFrequency":             "10s",
		"fileCheckFrequency":        "5s",
		"maxPods":                   250,
	}
}

func proxyConfig(n layout.Node) object {
	return object{
		"apiVersion":        "kubeproxy.config.k8s.io/v1alpha1",
		"kind":              "KubeProxyConfiguration",
		"clientConnection":  object{"kubeconfig": n.Etc("kube-proxy.kubeconfig")},
		"mode":              "nftables", // needs neither iptables nor conntrack
		"clusterCIDR":       layout.PodCIDR,
		"bindAddress":       n.IP(),
		"nodePortAddresses": []string{n.IP() + "/32"},
		// These limits can be set in the machine's first network namespace only.
		"conntrack": object{"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
	}
}

func networkConfig(n layout.Node) object {
	return object{
		"cniVersion": "1.0.0",
		"name":       "cuzk",
		"plugins": []object{{
			"type":        "bridge",
			"bridge":      "cni0",
			"isGateway":   true,
			"hairpinMode": true,
			"ipMasq":      false,
			"ipam": object{
				"type":    "host-local",
				"dataDir": "/var/lib/cni/networks",
				"ranges":  [][]object{{{"subnet": n.PodCIDR()}}},
				"routes":  []object{{"dst": "0.0.0.0/0"}},
			},
		}},
	}
}

// auditPolicy records who did what, without bodies. The leases by which nodes and components show that they live are
// left out: they would be most of the log.
func auditPolicy() object {
	return object{
		"apiVersion": "audit.k8s.io/v1",
		"kind":       "Policy",
		"omitStages": []string{"RequestReceived"},
		"rules": []object{
			{"level": "None", "userGroups": []string{"system:nodes"}, "resources": []object{{"group": "coordination.k8s.io", "resources": []string{"leases"}}}},
			{"level": "None", "nonResourceURLs": []string{"/healthz*", "/livez*", "/readyz*", "/openapi/*", "/version"}},
			{"level": "Metadata"},
		},
	}
}
