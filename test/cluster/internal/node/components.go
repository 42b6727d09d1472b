//go:build linux

package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/supervise"
)

const (
	etcdClientURL = "http://127.0.0.1:2379"
	etcdPeerURL   = "http://127.0.0.1:2380"
	// Clients of the control plane are not to be slowed by the default 20 to 50 requests a second.
	clientQPS, clientBurst = "--kube-api-qps=300", "--kube-api-burst=500"
)

func etcd(n layout.Node, s Settings) supervise.Program {
	return supervise.Program{Name: "etcd", Path: s.Program("etcd"), Args: []string{
		"--name=cuzk", "--data-dir=" + n.Disk("etcd"),
		"--listen-client-urls=" + etcdClientURL, "--advertise-client-urls=" + etcdClientURL,
		"--listen-peer-urls=" + etcdPeerURL, "--initial-advertise-peer-urls=" + etcdPeerURL, "--initial-cluster=cuzk=" + etcdPeerURL,
		"--unsafe-no-fsync", // the data does not outlive the cluster
		"--log-level=warn",
	}}
}

func apiServer(n layout.Node, s Settings) supervise.Program {
	pki := n.Cluster.PKI
	return supervise.Program{Name: "kube-apiserver", Path: s.Program("kube-apiserver"), Args: append([]string{
		"--etcd-servers=" + etcdClientURL, "--bind-address=0.0.0.0", "--advertise-address=" + n.IP(),
		fmt.Sprintf("--secure-port=%d", layout.APIServerPort),
		"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"), "--client-ca-file=" + pki("ca.crt"),
		"--kubelet-client-certificate=" + pki("kubelet-client.crt"), "--kubelet-client-key=" + pki("kubelet-client.key"),
		"--kubelet-certificate-authority=" + pki("ca.crt"), "--kubelet-preferred-address-types=InternalIP,Hostname",
		"--service-account-key-file=" + pki("service-account.pub"), "--service-account-signing-key-file=" + pki("service-account.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local", "--service-cluster-ip-range=" + layout.ServiceCIDR,
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--requestheader-client-ca-file=" + pki("front-proxy-ca.crt"), "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki("front-proxy-client.crt"), "--proxy-client-key-file=" + pki("front-proxy-client.key"),
		"--audit-policy-file=" + n.Etc("audit-policy.yaml"), "--audit-log-path=" + n.Cluster.AuditLog(), "--audit-log-maxsize=512", "--audit-log-maxbackup=1",
		"--profiling=false",
	}, s.APIServerFlags...)}
}

func controllerManager(n layout.Node, s Settings) supervise.Program {
	config := n.Etc("kube-controller-manager.kubeconfig")
	pki := n.Cluster.PKI
	return supervise.Program{Name: "kube-controller-manager", Path: s.Program("kube-controller-manager"), Args: append([]string{
		"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
		"--service-account-private-key-file=" + pki("service-account.key"), "--root-ca-file=" + pki("ca.crt"),
		"--cluster-signing-cert-file=" + pki("ca.crt"), "--cluster-signing-key-file=" + pki("ca.key"), "--use-service-account-credentials=true",
		"--bind-address=127.0.0.1", "--leader-elect=false", "--cluster-cidr=" + layout.PodCIDR, "--service-cluster-ip-range=" + layout.ServiceCIDR,
		"--allocate-node-cidrs=false", // each node's network configuration has its range
		"--node-monitor-period=1s", "--node-monitor-grace-period=" + s.NodeGrace.String(), clientQPS, clientBurst,
	}, s.ControllerManagerFlags...)}
}

func scheduler(n layout.Node, s Settings) supervise.Program {
	config := n.Etc("kube-scheduler.kubeconfig")
	return supervise.Program{Name: "kube-scheduler", Path: s.Program("kube-scheduler"), Args: append([]string{
		"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
		"--bind-address=127.0.0.1", "--leader-elect=false", clientQPS, clientBurst,
	}, s.SchedulerFlags...)}
}

func containerd(n layout.Node, s Settings) supervise.Program {
	return supervise.Program{Name: "containerd", Path: s.Program("containerd"), Args: []string{"--config=" + n.Etc("containerd.toml")}}
}

func kubelet(n layout.Node, s Settings) supervise.Program {
	return supervise.Program{Name: "kubelet", Path: s.Program("kubelet"), Args: append([]string{
		"--config=" + n.Etc("kubelet.yaml"), "--kubeconfig=" + n.Etc("kubelet.kubeconfig"), "--root-dir=" + kubeletDir,
		"--hostname-override=" + n.Name(), "--node-ip=" + n.IP(), "--cert-dir=" + kubeletDir + "/pki",
	}, s.KubeletFlags...)}
}

func kubeProxy(n layout.Node, s Settings) supervise.Program {
	return supervise.Program{Name: "kube-proxy", Path: s.Program("kube-proxy"), Args: []string{"--config=" + n.Etc("kube-proxy.yaml"), "--hostname-override=" + n.Name()}}
}

// Kubeconfigs lists the clients of the API server that a node has, with their users and groups.
func Kubeconfigs(n layout.Node) map[string][2]string {
	m := map[string][2]string{
		"kubelet":    {"system:node:" + n.Name(), "system:nodes"},
		"kube-proxy": {"system:kube-proxy", ""},
	}
	if n.IsControlPlane() {
		m["kube-controller-manager"] = [2]string{"system:kube-controller-manager", ""}
		m["kube-scheduler"] = [2]string{"system:kube-scheduler", ""}
	}
	return m
}

// environment is that of the components: containerd finds its shim, and the shim runc, in PATH.
func environment(s Settings, environ []string) []string {
	var dirs []string
	for _, program := range []string{"containerd", "runc", "kubelet"} {
		path := s.Program(program)
		dirs = append(dirs, path[:strings.LastIndexByte(path, '/')])
	}
	env := slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		// A proxy of the user's would be asked for addresses that only this network has.
		return name == "PATH" || name == "HOME" || strings.HasSuffix(strings.ToLower(name), "_proxy") || strings.HasPrefix(name, "CUZK_") || name == "KUBECONFIG"
	})
	return append(env, "PATH="+strings.Join(dirs, ":")+":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root")
}
