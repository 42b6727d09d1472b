package app

import (
	"os"
	"path/filepath"
	"syscall"
)

// defaultCacheDir is the user's own folder; empty if there is none. A folder for all users would not do: whoever makes it
// first could put into it what others believe.
func defaultCacheDir() string {
	if d := os.Getenv("CUZK_CACHE"); d != "" {
		return d
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "cuzk")
}

// privateFolder is a folder of the cache that nobody else can write to: what lies in it is believed, and compiled programs
// and kernels are run. It is empty if there is none to be had.
func (a *app) privateFolder(name string) string {
	root := a.flags.cacheDir
	if root == "" {
		return ""
	}
	dir := filepath.Join(root, name)
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	for _, d := range []string{root, dir} {
		if !ownAlone(d) {
			a.log.Warn("The cache is not used: it must be a folder of this user, to which nobody else can write", "folder", d,
				"fix", "name another with --cache-dir")
			return ""
		}
	}
	return dir
}

// ownAlone tells whether a path is a folder that belongs to this user and that nobody else can write to, or this user's own
// link to one.
func ownAlone(path string) bool {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSymlink != 0 && own(info) {
		info, err = os.Stat(path)
	}
	return err == nil && info.IsDir() && info.Mode().Perm()&0o022 == 0 && own(info)
}

func own(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
