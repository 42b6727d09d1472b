//go:build linux

package docker

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// moduleServerAddress is fixed, since it goes into a build argument and other arguments would be other layers.
const moduleServerAddress = "127.0.0.1:8473"

// Build runs `docker build` on base images made from this machine's files. Steps are in the machine's network and get
// their Go modules from this machine's module cache, then from where the Go command here gets them. Arguments that the
// caller gives win.
func (d *Daemon) Build(ctx context.Context, args []string) error {
	if err := d.Up(ctx); err != nil {
		return err
	}
	goImage, err := d.LoadBases(ctx)
	if err != nil {
		return err
	}
	stop, err := serveModules(ctx)
	if err != nil {
		return err
	}
	defer stop()
	goArgs, err := goArguments(ctx)
	if err != nil {
		return err
	}
	build := []string{"build", "--network=host"}
	for _, a := range append(baseArguments(goImage), goArgs...) {
		build = append(build, "--build-arg", a[0]+"="+a[1])
	}
	return d.Run(ctx, append(build, args...)...)
}

// goArguments hands the Go command's settings for downloads on to the build.
func goArguments(ctx context.Context) ([][2]string, error) {
	var args [][2]string
	for _, name := range []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE"} {
		out, err := exec.CommandContext(ctx, "go", "env", name).Output()
		if err != nil {
			return nil, fmt.Errorf("go env %s: %w", name, err)
		}
		value := strings.TrimSpace(string(out))
		if name == "GOPROXY" {
			value = strings.TrimSuffix("http://"+moduleServerAddress+","+value, ",")
		}
		if value != "" {
			args = append(args, [2]string{name, value})
		}
	}
	return args, nil
}

// serveModules serves this machine's module cache as a module proxy, which its layout is, on the loopback address.
func serveModules(ctx context.Context) (stop func(), err error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOMODCACHE: %w", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", moduleServerAddress)
	if err != nil {
		return nil, fmt.Errorf("serve Go modules to the build: %w (another build may be running)", err)
	}
	server := &http.Server{Handler: http.FileServerFS(os.DirFS(folder))}
	go func() { _ = server.Serve(listener) }() // ends with an error when it is closed
	return func() { _ = server.Close() }, nil
}
