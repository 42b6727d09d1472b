package outfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/outfile"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// tree is a folder's files with their content, links included.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			data = []byte("(folder)")
		}
		got[e.Name()] = string(data)
	}
	return got
}

func put(t *testing.T, path, data string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestWriteReplacesAll(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "old"), "old", 0o640)
	if err := os.Symlink("old", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	err := outfile.Write([]outfile.File{{Path: filepath.Join(dir, "link"), Data: []byte("new")}, {Path: filepath.Join(dir, "other"), Data: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"old": "new", "link": "new", "other": "x"}, tree(t, dir)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if target, err := os.Readlink(filepath.Join(dir, "link")); err != nil || target != "old" {
		t.Errorf("the link is gone: %v", err)
	}
	if st, err := os.Stat(filepath.Join(dir, "old")); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

func TestFailedWriteChangesNothing(t *testing.T) {
	for name, second := range map[string]string{
		"folder missing":   "absent/public.json", // found when it is staged
		"a folder instead": "folder",             // found when it is put in place
	} {
		for _, existing := range []bool{true, false} {
			dir := t.TempDir()
			want := map[string]string{"folder": "(folder)"}
			if err := os.MkdirAll(filepath.Join(dir, "folder", "full"), 0o755); err != nil {
				t.Fatal(err)
			}
			if existing {
				put(t, filepath.Join(dir, "proof.json"), "precious", 0o644)
				want["proof.json"] = "precious"
			}
			err := outfile.Write([]outfile.File{
				{Path: filepath.Join(dir, "proof.json"), Data: []byte("new")}, {Path: filepath.Join(dir, second), Data: []byte("x")},
			})
			if failure.ClassOf(err) != failure.IO {
				t.Errorf("%s: %v", name, err)
			}
			if d := cmp.Diff(want, tree(t, dir)); d != "" {
				t.Errorf("%s, existing %v (-want +got):\n%s", name, existing, d)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	put(t, key, "key", 0o644)
	if err := os.Symlink("key", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(dir, n))
		}
		return paths
	}
	for name, tc := range map[string]struct {
		paths []string
		good  bool
	}{
		"new files":              {in("proof", "public"), true},
		"an input":               {in("key", "public"), false},
		"a link to an input":     {in("proof", "link"), false},
		"twice the same":         {in("proof", "proof"), false},
		"the same in other ways": {in("proof", "../"+filepath.Base(dir)+"/proof"), false},
		"no folder":              {in("absent/proof"), false},
		"a folder":               {[]string{dir}, false},
		"below a file":           {in("key/proof"), false},
		"a device":               {[]string{"/dev/null", "/dev/null"}, true},
	} {
		err := outfile.Check(tc.paths, key)
		if (err == nil) != tc.good || err != nil && failure.ClassOf(err) != failure.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
