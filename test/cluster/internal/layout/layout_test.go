package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func env(kv map[string]string) func(string) string { return func(k string) string { return kv[k] } }

func TestFromEnv(t *testing.T) {
	for name, tc := range map[string]struct {
		env     map[string]string
		want    Cluster
		wantErr string
	}{
		"default":        {nil, Cluster{Name: "local", Dir: "/opt/cuzk-cluster"}, ""},
		"named":          {map[string]string{EnvName: "e2e"}, Cluster{Name: "e2e", Dir: "/opt/cuzk-cluster-e2e"}, ""},
		"folder":         {map[string]string{EnvDir: "/srv/lab/"}, Cluster{Name: "local", Dir: "/srv/lab"}, ""},
		"under var":      {map[string]string{EnvDir: "/var/lib/lab"}, Cluster{}, "lies under /var"},
		"dotted to var":  {map[string]string{EnvDir: "/opt/../var/lab"}, Cluster{}, "lies under /var"},
		"relative":       {map[string]string{EnvDir: "lab"}, Cluster{}, "not an absolute path"},
		"root":           {map[string]string{EnvDir: "/"}, Cluster{}, "root folder"},
		"bad name":       {map[string]string{EnvName: "a.2"}, Cluster{}, EnvName},
		"name with dash": {map[string]string{EnvName: "a-"}, Cluster{}, EnvName},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := FromEnv(env(tc.env))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Fatalf("got %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
}

// A folder that is reached through a link into /var is as useless as one written so.
func TestVisibleFollowsLinks(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/var", link); err != nil {
		t.Fatal(err)
	}
	if err := Visible("dir", filepath.Join(link, "new")); err == nil || !strings.Contains(err.Error(), "lies under /var") {
		t.Fatalf("error %v, want a refusal", err)
	}
}

func TestCacheDir(t *testing.T) {
	for name, tc := range map[string]struct {
		env        map[string]string
		want, fail string
	}{
		"own":       {map[string]string{EnvCache: "/data/c", "HOME": "/h"}, "/data/c/cluster", ""},
		"xdg":       {map[string]string{"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/cuzk/cluster", ""},
		"home":      {map[string]string{"HOME": "/h"}, "/h/.cache/cuzk/cluster", ""},
		"none":      {nil, "", EnvCache},
		"under var": {map[string]string{EnvCache: "/var/cache"}, "", EnvCache},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := CacheDir(env(tc.env))
			if tc.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fail) {
					t.Fatalf("error %v, want one with %q", err, tc.fail)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Fatalf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

// No two nodes of any two clusters may share a namespace or a cgroup.
func TestNamesNeverMeet(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a", "a-2", "a-22", "a2", "local", "local-2"} {
		c, err := FromEnv(env(map[string]string{EnvName: name}))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{1, 2, 22, 200} {
			n, err := c.Node(k)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []string{n.NetNSPath(), n.Dir()} {
				owner := name + "/" + n.Name()
				if other, ok := seen[v]; ok {
					t.Errorf("%s and %s share %s", other, owner, v)
				}
				seen[v] = owner
			}
		}
	}
}

func TestWorker(t *testing.T) {
	c := Cluster{Name: "local", Dir: "/opt/cuzk-cluster"}
	for arg, want := range map[string]int{"2": 2, "node-17": 17, "200": 200} {
		if n, err := c.Worker(arg); err != nil || n.Index != want {
			t.Errorf("Worker(%q) = %d, %v, want %d", arg, n.Index, err, want)
		}
	}
	for _, arg := range []string{"1", "0", "-3", "201", "control-plane", "", "node-", "2x"} {
		if _, err := c.Worker(arg); err == nil {
			t.Errorf("Worker(%q) was accepted", arg)
		}
	}
}
