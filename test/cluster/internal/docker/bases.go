//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/image"
)

// Base images that are made from this machine's files. They stand in for the images that the Dockerfile names by
// default, none of which can be had without a registry.
const (
	goRepository = "localhost/base/golang" // tagged with the version of Go
	staticImage  = "localhost/base/static:local"
	glibcImage   = "localhost/base/glibc:local"
	cudaImage    = "localhost/base/cuda:local"
)

// baseArguments are the Dockerfile's build arguments that take base images.
func baseArguments(goImage string) [][2]string {
	return [][2]string{
		{"GO_IMAGE", goImage}, {"STATIC_IMAGE", staticImage}, {"GLIBC_IMAGE", glibcImage}, {"CUDA_IMAGE", cudaImage},
		// It has no compiler for CUDA, but the tools that are needed where the library is prebuilt.
		{"CUDA_BUILD_IMAGE", goImage}, {"LIBCUZK_FROM", "prebuilt"},
	}
}

// tools are the programs beside Go that build steps use.
var tools = []string{
	"sh", "bash", "mkdir", "cp", "mv", "rm", "ls", "ln", "cat", "chmod", "chown", "touch", "test", "true", "false", "env", "id",
	"uname", "head", "tail", "sort", "tr", "wc", "grep", "sed", "find", "xargs", "tar", "gzip", "sha256sum", "dirname", "basename", "git",
}

// LoadBases makes the base images and loads them into the daemon, unless it has them. It returns the name of the one
// with Go.
func (d *Daemon) LoadBases(ctx context.Context) (goImage string, err error) {
	version, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOVERSION: %w", err)
	}
	goImage = goRepository + ":" + strings.TrimSpace(string(version))
	for _, b := range []struct {
		tags []string
		make func(ctx context.Context, img *image.Image) error
	}{
		{[]string{goImage}, golang},
		{[]string{staticImage}, static},
		{[]string{glibcImage, cudaImage}, glibc},
	} {
		inspect, err := d.Client(ctx, "image", "inspect", b.tags[len(b.tags)-1])
		if err != nil {
			return "", err
		}
		if inspect.Run() == nil {
			continue
		}
		img := &image.Image{Tags: b.tags}
		if err := img.AddUsers(); err != nil {
			return "", err
		}
		if err := b.make(ctx, img); err != nil {
			return "", fmt.Errorf("base image %s: %w", b.tags[0], err)
		}
		archive := filepath.Join(d.Dir, "base.tar")
		if err := img.WriteFile(archive); err != nil {
			return "", fmt.Errorf("base image %s: %w", b.tags[0], err)
		}
		err = d.Load(ctx, archive)
		if err := errors.Join(err, os.Remove(archive)); err != nil {
			return "", err
		}
		d.Say("made base image %s", strings.Join(b.tags, ", "))
	}
	return goImage, nil
}

// Load imports an image archive (of mkimg or `docker save`).
func (d *Daemon) Load(ctx context.Context, archive string) error {
	cmd, err := d.Client(ctx, "load", "--quiet", "--input", archive)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("docker load: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// golang is this machine's Go installation with a shell and a few tools.
func golang(ctx context.Context, img *image.Image) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	root := strings.TrimSpace(string(out))
	// Not the tests and documents, but the licence, which goes with every program that is linked from it.
	for _, name := range []string{"bin", "pkg", "src", "lib", "go.env", "VERSION", "LICENSE", "PATENTS"} {
		if _, err := os.Stat(filepath.Join(root, name)); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := img.Add(filepath.Join(root, name), "/usr/local/go/"+name); err != nil {
			return err
		}
	}
	for _, t := range tools {
		path, err := exec.LookPath(t)
		if err != nil {
			continue // a step that needs it says so
		}
		if err := img.Add(path, "/bin/"+t); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/go", "/root"} {
		if err := img.AddDir(dir); err != nil {
			return err
		}
	}
	img.Env = []string{"PATH=/go/bin:/usr/local/go/bin:/usr/bin:/bin", "GOPATH=/go", "GOTOOLCHAIN=local"}
	if err := certificates(img); err != nil {
		return err
	}
	return img.AddSharedLibraries()
}

// static has what a program without libraries needs.
func static(_ context.Context, img *image.Image) error {
	img.User = "65532:65532"
	if err := img.AddDir("/home/nonroot"); err != nil {
		return err
	}
	return certificates(img)
}

// glibc is static with the C and C++ libraries.
func glibc(ctx context.Context, img *image.Image) error {
	if err := static(ctx, img); err != nil {
		return err
	}
	return img.AddLibraries("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6")
}

// certificates adds the authorities that this machine trusts.
func certificates(img *image.Image) error {
	for _, file := range []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"} {
		if _, err := os.Stat(file); err == nil {
			return img.Add(file, "/etc/ssl/certs/ca-certificates.crt")
		}
	}
	return nil
}
