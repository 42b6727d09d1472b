package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What somebody else could have put into the cache is not believed.
func TestPrivateFolder(t *testing.T) {
	folder := func(mode os.FileMode) string {
		dir := filepath.Join(t.TempDir(), "cuzk")
		for _, d := range []string{dir, filepath.Join(dir, "wasm")} {
			if err := os.Mkdir(d, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder(0o700), link); err != nil {
		t.Fatal(err)
	}
	inside := folder(0o700)
	if err := os.Chmod(filepath.Join(inside, "wasm"), 0o720); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		dir  string
		used bool
	}{
		"one's own":              {folder(0o700), true},
		"readable":               {folder(0o755), true},
		"made when it is needed": {filepath.Join(t.TempDir(), "new", "cuzk"), true},
		"writable for others":    {folder(0o777), false},
		"writable for a group":   {inside, false},
		"one's own link":         {link, true},
	}
	if os.Geteuid() == 0 {
		others := folder(0o700)
		if err := os.Chown(others, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		cases["somebody else's"] = struct {
			dir  string
			used bool
		}{others, false}
		planted := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(folder(0o700), planted); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(planted, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		cases["somebody else's link"] = struct {
			dir  string
			used bool
		}{planted, false}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			a := &app{log: slog.New(slog.NewTextHandler(&log, nil)), flags: globalFlags{cacheDir: c.dir}}
			got := a.privateFolder("wasm")
			if c.used && got != filepath.Join(c.dir, "wasm") || !c.used && got != "" {
				t.Errorf("got %q", got)
			}
			if told := strings.Contains(log.String(), "--cache-dir"); told == c.used {
				t.Errorf("the log says: %s", log.String())
			}
		})
	}
}

// Without a folder of the user's own there is none: neither one for all users nor one below the working folder.
func TestNoCacheFolder(t *testing.T) {
	for _, name := range []string{"CUZK_CACHE", "XDG_CACHE_HOME", "HOME"} {
		t.Setenv(name, "")
	}
	if dir := defaultCacheDir(); dir != "" {
		t.Errorf("the cache is in %s", dir)
	}
	t.Chdir(t.TempDir())
	a := &app{log: slog.New(slog.DiscardHandler)}
	if got := a.privateFolder("constraints"); got != "" {
		t.Errorf("got %q", got)
	}
	if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
		t.Errorf("the working folder holds %v (%v)", made, err)
	}
}
