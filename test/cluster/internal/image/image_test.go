package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type entry struct {
	Mode     int64
	Type     byte
	Link     string
	Content  string
	UID, GID int
}

func readTar(t *testing.T, r io.Reader) map[string]entry {
	t.Helper()
	got := map[string]entry{}
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = entry{h.Mode, h.Typeflag, h.Linkname, string(b), h.Uid, h.Gid}
	}
}

func write(t *testing.T, img *Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := img.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sample makes the same image out of files with permissions, times and a folder that differ from call to call.
func sample(t *testing.T, perm os.FileMode, mtime time.Time) *Image {
	t.Helper()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"prog": perm | 0o100, "data/a.txt": perm, "data/sub/b.txt": perm} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("content of "+name), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, mtime, mtime); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.txt", filepath.Join(dir, "data/link")); err != nil {
		t.Fatal(err)
	}
	img := &Image{Tags: []string{"cuzk.dev/sample:1"}, Entrypoint: []string{"/bin/prog", "work"}, User: "65532:65532", Env: []string{"A=b"}}
	for _, err := range []error{img.AddUsers(), img.Add(filepath.Join(dir, "prog"), "/bin/prog"), img.Add(filepath.Join(dir, "data"), "/share/data")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return img
}

func TestWriteIsReproducible(t *testing.T) {
	a := write(t, sample(t, 0o600, time.Unix(1e9, 0)))
	b := write(t, sample(t, 0o644, time.Unix(1.5e9, 0)))
	if !bytes.Equal(a, b) {
		t.Fatal("equal files with other times and permissions gave other bytes")
	}
}

func TestWrite(t *testing.T) {
	archive := readTar(t, bytes.NewReader(write(t, sample(t, 0o600, time.Unix(1e9, 0)))))
	var manifests []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal([]byte(archive["manifest.json"].Content), &manifests); err != nil {
		t.Fatal(err)
	}
	if len(manifests) != 1 || len(manifests[0].Layers) != 1 {
		t.Fatalf("manifest %+v, want one image of one layer", manifests)
	}
	m := manifests[0]
	if d := cmp.Diff([]string{"cuzk.dev/sample:1"}, m.RepoTags); d != "" {
		t.Error(d)
	}
	var config struct {
		OS     string
		Config struct {
			User       string
			Env        []string
			Entrypoint []string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal([]byte(archive[m.Config].Content), &config); err != nil {
		t.Fatal(err)
	}
	// A runtime refuses a layer whose digest is not the configuration's.
	layer := archive[m.Layers[0]].Content
	sum := sha256.Sum256([]byte(layer))
	if d := cmp.Diff([]string{"sha256:" + hex.EncodeToString(sum[:])}, config.RootFS.DiffIDs); d != "" {
		t.Error(d)
	}
	if config.OS != "linux" || config.Config.User != "65532:65532" || strings.Join(config.Config.Entrypoint, " ") != "/bin/prog work" {
		t.Errorf("configuration %+v", config)
	}
	want := map[string]entry{
		"bin/":                 {Mode: 0o755, Type: tar.TypeDir},
		"bin/prog":             {Mode: 0o755, Type: tar.TypeReg, Content: "content of prog"},
		"share/":               {Mode: 0o755, Type: tar.TypeDir},
		"share/data/":          {Mode: 0o755, Type: tar.TypeDir},
		"share/data/a.txt":     {Mode: 0o644, Type: tar.TypeReg, Content: "content of data/a.txt"},
		"share/data/link":      {Mode: 0o777, Type: tar.TypeSymlink, Link: "a.txt"},
		"share/data/sub/":      {Mode: 0o755, Type: tar.TypeDir},
		"share/data/sub/b.txt": {Mode: 0o644, Type: tar.TypeReg, Content: "content of data/sub/b.txt"},
		"tmp/":                 {Mode: 0o1777, Type: tar.TypeDir},
		"etc/":                 {Mode: 0o755, Type: tar.TypeDir},
		"etc/passwd":           {Mode: 0o644, Type: tar.TypeReg, Content: "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"},
		"etc/group":            {Mode: 0o644, Type: tar.TypeReg, Content: "root:x:0:\nnonroot:x:65532:\n"},
	}
	if d := cmp.Diff(want, readTar(t, strings.NewReader(layer))); d != "" {
		t.Error(d)
	}
}

func TestAddRefuses(t *testing.T) {
	var img Image
	if err := img.AddContent("/a", nil); err != nil {
		t.Fatal(err)
	}
	if err := img.AddContent("relative", nil); err == nil {
		t.Error("a relative path was accepted")
	}
	if err := img.AddContent("/a/b", nil); err == nil {
		t.Error("a file below a file was accepted")
	}
	if err := img.AddDir("/a"); err == nil {
		t.Error("a folder in the place of a file was accepted")
	}
	if err := img.Write(io.Discard); err == nil || !strings.Contains(err.Error(), "tag") {
		t.Errorf("error %v, want one that asks for a tag", err)
	}
}

func TestRepoTags(t *testing.T) {
	tags, err := RepoTags(bytes.NewReader(write(t, sample(t, 0o600, time.Unix(0, 0)))))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"cuzk.dev/sample:1"}, tags); d != "" {
		t.Error(d)
	}
	if _, err := RepoTags(strings.NewReader("")); err == nil {
		t.Error("an empty archive was accepted")
	}
}

// The cases are those of the reference grammar of github.com/distribution/reference.
func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"app":                  "docker.io/library/app:latest",
		"app:1":                "docker.io/library/app:1",
		"cuzk/app:1":           "docker.io/cuzk/app:1",
		"example.org/app":      "example.org/app:latest",
		"localhost/app:1":      "localhost/app:1",
		"localhost:5000/app":   "localhost:5000/app:latest",
		"example.org/a/b:v1.2": "example.org/a/b:v1.2",
	} {
		if got := Normalize(in); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", in, got, want)
		}
	}
}

// /bin/sh of any Linux with a C library is dynamic; its loader and libraries must come along.
func TestAddSharedLibraries(t *testing.T) {
	needed, err := neededLibraries("/bin/sh", mustSearchPath(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(needed) == 0 {
		t.Skip("/bin/sh of this machine is static")
	}
	img := Image{Tags: []string{"cuzk.dev/sh:1"}}
	if err := img.Add("/bin/sh", "/bin/sh"); err != nil {
		t.Fatal(err)
	}
	if err := img.AddSharedLibraries(); err != nil {
		t.Fatal(err)
	}
	for _, lib := range needed {
		if _, ok := img.files[lib]; !ok {
			t.Errorf("%s is missing", lib)
		}
	}
}

func mustSearchPath(t *testing.T) []string {
	t.Helper()
	dirs, err := librarySearchPath()
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}
