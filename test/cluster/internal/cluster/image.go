//go:build linux

package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/image"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/node"
)

// LoadImage imports an image archive (of mkimg or `docker save`) into every node, under the given name, and keeps it
// for nodes that join later.
func (c *Cluster) LoadImage(ctx context.Context, name, archive string) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := c.running()
	if err != nil {
		return err
	}
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer in.Close()
	tags, err := image.RepoTags(in)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	for i, t := range tags {
		tags[i] = image.Normalize(t)
	}
	want := image.Normalize(name)
	if !slices.Contains(tags, want) && len(tags) != 1 {
		return fmt.Errorf("%s holds the images %s: none of them is %s, nor is it the only one", archive, strings.Join(tags, ", "), want)
	}
	kept := filepath.Join(c.Images(), fileName(want)+".tar")
	if err := copyFile(kept, archive); err != nil {
		return err
	}
	nodes, err := c.nodes()
	if err != nil {
		return err
	}
	loaded := 0
	for _, n := range nodes {
		p := pid(n)
		if p == 0 {
			continue
		}
		// The node's socket, seen through its first process.
		socket := fmt.Sprintf("/proc/%d/root%s", p, node.ContainerdSocket)
		if err := ctr(ctx, s, node.ImportArgs(socket, kept)...); err != nil {
			return fmt.Errorf("node %s: %w", n.Name(), err)
		}
		if !slices.Contains(tags, want) {
			err := ctr(ctx, s, "--address", socket, "--namespace", "k8s.io", "images", "tag", "--force", tags[0], want)
			if err != nil {
				return fmt.Errorf("node %s: %w", n.Name(), err)
			}
		}
		loaded++
	}
	c.Say("image %s is in %d node(s)", want, loaded)
	return nil
}

func ctr(ctx context.Context, s node.Settings, args ...string) error {
	out, err := exec.CommandContext(ctx, s.Program("ctr"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ctr %s: %w: %s", strings.Join(args[4:6], " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// fileName is a name for an image's archive; the digest keeps names apart that differ in odd characters only.
func fileName(image string) string {
	sum := sha256.Sum256([]byte(image))
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/:@", r) {
			return '_'
		}
		return r
	}, image) + "-" + hex.EncodeToString(sum[:4])
}

// copyFile replaces dst by a copy of src, whole or not at all.
func copyFile(dst, src string) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(dst + ".new")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(out.Name()) }() // no longer there after success
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), dst)
}
