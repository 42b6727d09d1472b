// Package layout names everything that a local cluster puts on the machine: folders, namespaces, cgroups and
// addresses. Nothing else in test/cluster makes up a name, so clusters of different names cannot meet.
package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Environment variables that choose the cluster.
const (
	EnvName  = "CUZK_CLUSTER_NAME"
	EnvDir   = "CUZK_CLUSTER_DIR"
	EnvCache = "CUZK_CACHE"
	EnvParts = "CUZK_CLUSTER_PARTS" // a folder of parts built on another machine
)

// DefaultName is the cluster that the make targets use.
const DefaultName = "local"

// Every cluster lives in network namespaces of its own, so all of them use the same addresses.
const (
	ControlPlane    = "control-plane" // name of the first node
	ControlPlaneIP  = "10.99.0.1"
	NodeNetBits     = 24
	ServiceCIDR     = "10.96.0.0/16"
	ServiceIP       = "10.96.0.1"  // of the Service "kubernetes"
	DNSIP           = "10.96.0.10" // where a DNS add-on would answer
	PodCIDR         = "10.244.0.0/16"
	APIServerPort   = 6443
	Bridge          = "cuzk0" // joins the nodes; its name is inside the cluster's own namespace
	MaxNode         = 200
	defaultStateDir = "/opt/cuzk-cluster"
)

var validName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$`)

// Cluster is the naming of one cluster.
type Cluster struct {
	Name string
	Dir  string
}

// FromEnv reads the cluster's name and state folder from the environment and refuses what cannot work.
func FromEnv(getenv func(string) string) (Cluster, error) {
	c := Cluster{Name: getenv(EnvName), Dir: getenv(EnvDir)}
	if c.Name == "" {
		c.Name = DefaultName
	}
	if !validName.MatchString(c.Name) {
		return c, fmt.Errorf("%s: %q is no cluster name: use 1 to 20 of a-z, 0-9 and '-', beginning with a letter and not ending in '-'", EnvName, c.Name)
	}
	if c.Dir == "" {
		c.Dir = defaultStateDir
		if c.Name != DefaultName {
			c.Dir += "-" + c.Name
		}
	}
	if err := Visible(EnvDir, c.Dir); err != nil {
		return c, err
	}
	c.Dir = filepath.Clean(c.Dir)
	return c, nil
}

// Visible refuses a folder that a node cannot see: a node puts file systems of its own over /var and /run.
func Visible(what, dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%s: %q is not an absolute path", what, dir)
	}
	resolved := resolve(dir)
	for _, p := range []string{dir, resolved} {
		p = filepath.Clean(p)
		if p == "/" {
			return fmt.Errorf("%s: the root folder cannot be used", what)
		}
		for _, hidden := range []string{"/var", "/run", "/proc", "/sys", "/dev"} {
			if p == hidden || strings.HasPrefix(p, hidden+"/") {
				return fmt.Errorf("%s: %s lies under %s, which a node covers with a file system of its own, so no container would start: choose another folder", what, dir, hidden)
			}
		}
	}
	return nil
}

// resolve follows the links in the part of the path that exists.
func resolve(path string) string {
	path = filepath.Clean(path)
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolve(parent), filepath.Base(path))
}

// CacheDir is where built cluster parts are kept, shared by all clones on the machine.
func CacheDir(getenv func(string) string) (string, error) {
	base, what := getenv(EnvCache), EnvCache
	if base == "" {
		if x := getenv("XDG_CACHE_HOME"); x != "" {
			base, what = filepath.Join(x, "cuzk"), "XDG_CACHE_HOME"
		} else if h := getenv("HOME"); h != "" {
			base, what = filepath.Join(h, ".cache", "cuzk"), "HOME"
		} else {
			return "", fmt.Errorf("no folder for built cluster parts: set %s", EnvCache)
		}
	}
	if err := Visible(what, base); err != nil {
		return "", fmt.Errorf("%w (%s names the cache)", err, EnvCache)
	}
	return filepath.Join(base, "cluster"), nil
}

// RepoRoot finds the repository's root above dir by this folder's own module list.
func RepoRoot(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "test", "cluster", "src", "hyper", "go.mod")); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", errors.New("test/cluster not found above " + dir + ": run this inside a clone of the repository")
		}
	}
}
