//go:build linux

package docker

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// responds asks the daemon whether it is there.
func (d *Daemon) responds() bool {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.Socket())
		},
	}}
	resp, err := client.Get("http://docker/_ping")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Client returns docker's command line with its environment: the client of the daemon's package, since one of the
// machine's own may be too new for it. The legacy builder is chosen, for BuildKit wants a plugin.
func (d *Daemon) Client(ctx context.Context, args ...string) (*exec.Cmd, error) {
	if !d.responds() {
		return nil, errors.New("the Docker daemon is not running: start it with test/cluster/dockerd up")
	}
	programs, err := d.programs(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "docker"), args...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+d.Host(), "DOCKER_BUILDKIT=0", "DOCKER_CONTEXT=", "DOCKER_CONFIG="+filepath.Join(d.Dir, "client"))
	return cmd, nil
}

// Run runs docker with this process's input and output.
func (d *Daemon) Run(ctx context.Context, args ...string) error {
	cmd, err := d.Client(ctx, args...)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
