//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/supervise"
)

// InitCommand is the launcher's command that calls Init; its arguments are the cluster's name and folder and the
// node's number.
const InitCommand = "node-init"

// Limits are generous: the machine may be busy building something.
const (
	startLimit = 2 * time.Minute
	readyLimit = 3 * time.Minute
)

// Init runs the node as the first process of its namespaces: it mounts the node's own folders, starts the components
// in order, and does not return while the node lives. Progress goes to the log.
func Init(ctx context.Context, n layout.Node) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("%s is started by the launcher as the first process of a node, not by hand", InitCommand)
	}
	start := time.Now()
	log.SetFlags(log.Ltime)
	log.SetPrefix(n.Name() + " ")
	s, err := Load(n.Cluster)
	if err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(n.Name())); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	if err := mountAll(n); err != nil {
		return err
	}
	client, err := newAPIClient(n)
	if err != nil {
		return err
	}
	sup := supervise.New(environment(s, os.Environ()), n.Log)

	// The container runtime needs nothing of the control plane, so both start at once.
	runtime := make(chan error, 1)
	go func() { runtime <- startRuntime(ctx, sup, n, s) }()
	if n.IsControlPlane() {
		if err := startControlPlane(ctx, sup, client, n, s); err != nil {
			return err
		}
	}
	if err := <-runtime; err != nil {
		return err
	}
	for _, c := range []supervise.Program{kubelet(n, s), kubeProxy(n, s)} {
		if err := sup.Keep(c); err != nil {
			return err
		}
	}
	if err := supervise.Await(ctx, "node Ready", readyLimit, func(ctx context.Context) error { return client.nodeReady(ctx, n.Name(), start) }); err != nil {
		return fmt.Errorf("%w: see %s", err, n.Log("kubelet"))
	}
	if n.IsControlPlane() {
		// Pods are refused before this.
		err := supervise.Await(ctx, "default ServiceAccount there", startLimit, func(ctx context.Context) error {
			_, err := client.get(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := os.WriteFile(n.ReadyFile(), nil, 0o644); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func startControlPlane(ctx context.Context, sup *supervise.Supervisor, client *apiClient, n layout.Node, s Settings) error {
	if err := sup.Keep(etcd(n, s)); err != nil {
		return err
	}
	err := supervise.Await(ctx, "etcd healthy", startLimit, func(ctx context.Context) error {
		_, err := get(ctx, http.DefaultClient, etcdClientURL+"/health")
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: see %s", err, n.Log("etcd"))
	}
	if err := sup.Keep(apiServer(n, s)); err != nil {
		return err
	}
	err = supervise.Await(ctx, "API server ready", startLimit, func(ctx context.Context) error {
		_, err := client.get(ctx, "/readyz")
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: see %s", err, n.Log("kube-apiserver"))
	}
	for _, c := range []supervise.Program{controllerManager(n, s), scheduler(n, s)} {
		if err := sup.Keep(c); err != nil {
			return err
		}
	}
	return nil
}

// startRuntime starts containerd and gives it the cluster's images.
func startRuntime(ctx context.Context, sup *supervise.Supervisor, n layout.Node, s Settings) error {
	if err := sup.Keep(containerd(n, s)); err != nil {
		return err
	}
	err := supervise.Await(ctx, "containerd up", startLimit, func(context.Context) error {
		return sup.Run(supervise.Program{Name: "ctr", Path: s.Program("ctr"), Args: []string{"--address", ContainerdSocket, "version"}})
	})
	if err != nil {
		return fmt.Errorf("%w: see %s", err, n.Log("containerd"))
	}
	archives, err := filepath.Glob(filepath.Join(n.Cluster.Images(), "*.tar"))
	if err != nil {
		return err
	}
	sort.Strings(archives)
	for _, a := range archives {
		if err := sup.Run(supervise.Program{Name: "ctr", Path: s.Program("ctr"), Args: ImportArgs(ContainerdSocket, a)}); err != nil {
			return fmt.Errorf("import %s: %w", a, err)
		}
	}
	log.Printf("imported %d images", len(archives))
	return nil
}

// ImportArgs are ctr's arguments that import an image archive for the kubelet.
func ImportArgs(socket, archive string) []string {
	return []string{"--address", socket, "--namespace", "k8s.io", "images", "import", archive}
}

// globalSysctls are settings of the whole machine that the kubelet insists on. It is shown files with the wanted
// values in their place, so that it leaves the machine's alone.
var globalSysctls = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// mountAll gives the node a /proc, /run and /var of its own. Paths such as /var/lib/kubelet are constants of
// Kubernetes' interfaces; here they are the node's disk.
func mountAll(n layout.Node) error {
	if err := sandbox.PrivateMounts(); err != nil {
		return err
	}
	for target, disk := range map[string]string{kubeletDir: "kubelet", "/var/lib/cni": "cni", "/var/log": "log"} {
		if err := sandbox.Bind(n.Disk(disk), target); err != nil {
			return err
		}
	}
	if err := os.Mkdir("/run/sysctl", 0o755); err != nil {
		return err
	}
	for name, value := range globalSysctls {
		file := filepath.Join("/run/sysctl", filepath.Base(name))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		target := filepath.Join("/proc/sys", name)
		if _, err := os.Stat(target); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := unix.Mount(file, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount over %s: %w", target, err)
		}
	}
	return nil
}

func get(ctx context.Context, c *http.Client, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", req.URL.Path, resp.Status)
	}
	return body, nil
}
