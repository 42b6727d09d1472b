//go:build linux

package node

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
	"github.com/cuzk-dev/cuzk/test/cluster/internal/part"
)

func TestSettingsFromEnv(t *testing.T) {
	for name, tc := range map[string]struct {
		env     map[string]string
		want    Settings
		wantErr string
	}{
		"default": {nil, Settings{GPUs: 2, NodeGrace: 40 * time.Second}, ""},
		"chosen": {map[string]string{EnvGPUs: "0", EnvNodeGrace: "12s", EnvAPIServerFlags: " --v=2  --event-ttl=1m "},
			Settings{NodeGrace: 12 * time.Second, APIServerFlags: []string{"--v=2", "--event-ttl=1m"}}, ""},
		"GPUs no number": {map[string]string{EnvGPUs: "two"}, Settings{}, EnvGPUs},
		"GPUs negative":  {map[string]string{EnvGPUs: "-1"}, Settings{}, EnvGPUs},
		"grace unitless": {map[string]string{EnvNodeGrace: "12"}, Settings{}, EnvNodeGrace},
		"grace short":    {map[string]string{EnvNodeGrace: "2s"}, Settings{}, "at least"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SettingsFromEnv(func(k string) string { return tc.env[k] })
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			// No flags are no flags, whether nil or empty.
			norm := func(s []string) string { return strings.Join(s, " ") }
			if d := cmp.Diff(tc.want, got, cmp.Transformer("flags", norm)); d != "" {
				t.Error(d)
			}
		})
	}
}

// The configuration of a node is complete, valid JSON or TOML that names only its own paths and addresses.
func TestWriteFiles(t *testing.T) {
	c := layout.Cluster{Name: "local", Dir: t.TempDir()}
	s := Settings{Name: c.Name, Parts: map[string]string{}, GPUs: 3, NodeGrace: time.Minute, Snapshotter: "overlayfs"}
	for _, p := range part.Node {
		s.Parts[p] = "/cache/" + p
	}
	if err := s.Save(c); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, loaded); d != "" {
		t.Errorf("saved and loaded differ: %s", d)
	}
	n, err := c.Node(7)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(n, s); err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var kubelet struct {
		FailCgroupV1 *bool
		CgroupRoot   string
		Address      string
	}
	if err := json.Unmarshal([]byte(read(n.Etc("kubelet.yaml"))), &kubelet); err != nil {
		t.Fatal(err)
	}
	if kubelet.FailCgroupV1 == nil || *kubelet.FailCgroupV1 || kubelet.CgroupRoot != "/cuzk-local.7" || kubelet.Address != "10.99.0.7" {
		t.Errorf("kubelet configuration %+v", kubelet)
	}
	if got := read(n.Etc("cni", "10-cuzk.conflist")); !json.Valid([]byte(got)) || !strings.Contains(got, "10.244.7.0/24") {
		t.Errorf("network configuration %s", got)
	}
	for _, want := range []string{`"/cache/runc/runc"`, `"/cache/cni"`, n.Etc("cni"), n.Disk("containerd"), PauseImage, `"overlayfs"`} {
		if !strings.Contains(read(n.Etc("containerd.toml")), want) {
			t.Errorf("containerd's configuration lacks %s", want)
		}
	}
	if got := strings.TrimSpace(read(n.Disk("kubelet", GPUCountFile))); got != "3" {
		t.Errorf("GPU count %q, want 3", got)
	}
	if _, err := os.Stat(n.Etc("audit-policy.yaml")); err == nil {
		t.Error("a worker has an audit policy")
	}
}

// A proxy that the user has set must not be asked for the cluster's own addresses.
func TestEnvironment(t *testing.T) {
	s := Settings{Parts: map[string]string{part.Containerd: "/c", part.Runc: "/r", part.Hyper: "/h"}}
	got := environment(s, []string{"LANG=C", "PATH=/mine", "HTTPS_PROXY=http://proxy", "no_proxy=x", "KUBECONFIG=/k", "HOME=/h"})
	want := []string{"LANG=C", "PATH=/c:/r:/h:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
