//go:build linux

package docker

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/sandbox"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/supervise"
)

// Init runs the daemon as the first process of its namespaces and does not return while it lives. containerd, runc and
// docker are folders of programs.
func Init(ctx context.Context, dir, containerd, runc, docker string) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("%s is started by the launcher as the first process of its namespaces, not by hand", InitCommand)
	}
	log.SetFlags(log.Ltime)
	d := &Daemon{Dir: dir}
	if err := unix.Sethostname([]byte("docker")); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	// Containers get the machine's name servers, whose file may be a link into /run.
	resolv, err := os.ReadFile("/etc/resolv.conf")
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := sandbox.PrivateMounts(); err != nil {
		return err
	}
	if target, err := os.Readlink("/etc/resolv.conf"); err == nil && len(resolv) > 0 {
		if !filepath.IsAbs(target) {
			target = filepath.Join("/etc", target)
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, resolv, 0o644); err != nil {
			return err
		}
	}
	const socket = "/run/containerd/containerd.sock"
	config := "version = 3\nroot = \"" + d.data("containerd") + "\"\nstate = \"/run/containerd\"\n" +
		"disabled_plugins = [\"io.containerd.cri.v1.images\", \"io.containerd.cri.v1.runtime\", \"io.containerd.grpc.v1.cri\"]\n" +
		"[grpc]\n  address = \"" + socket + "\"\n"
	if err := os.WriteFile("/run/containerd.toml", []byte(config), 0o644); err != nil {
		return err
	}
	env := []string{"HOME=/root", fmt.Sprintf("PATH=%s:%s:%s:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", docker, containerd, runc)}
	sup := supervise.New(env, d.log)
	err = sup.Keep(supervise.Program{Name: "containerd", Path: filepath.Join(containerd, "containerd"), Args: []string{"--config=/run/containerd.toml"}})
	if err != nil {
		return err
	}
	err = supervise.Await(ctx, "containerd up", time.Minute, func(context.Context) error {
		return sup.Run(supervise.Program{Name: "ctr", Path: filepath.Join(containerd, "ctr"), Args: []string{"--address", socket, "version"}})
	})
	if err != nil {
		return err
	}
	err = sup.Keep(supervise.Program{Name: "dockerd", Path: filepath.Join(docker, "dockerd"), Args: []string{
		"--host=" + d.Host(), "--data-root=" + d.data("docker"), "--exec-root=/run/docker", "--pidfile=/run/docker.pid",
		"--containerd=" + socket, "--cgroup-parent=/" + cgroup(), "--exec-opt=native.cgroupdriver=cgroupfs",
		"--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false",
	}})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
