package libcuzk

import (
	"os"
	"path/filepath"
)

const (
	// Env names the library's file.
	Env = "CUZK_LIBRARY"
	// FileName is what the library is called.
	FileName = "libcuzk.so"
)

// candidate is a place where the library may be.
type candidate struct {
	path string
	// required says that nothing else will do, because the user named it.
	required bool
}

// candidates lists the places in order: what the user names, else beside the binary and in the lib folder next to the
// binary's, else where the loader looks.
func candidates(named, binary string, exists func(string) bool) []candidate {
	if named != "" {
		return []candidate{{named, true}}
	}
	var found []candidate
	folder := filepath.Dir(binary)
	for _, path := range []string{filepath.Join(folder, FileName), filepath.Join(folder, "..", "lib", FileName)} {
		if binary != "" && exists(path) {
			found = append(found, candidate{filepath.Clean(path), false})
		}
	}
	return append(found, candidate{FileName, false})
}

// places is candidates of this process.
func places() []candidate {
	binary, err := os.Executable()
	if err == nil {
		if real, err := filepath.EvalSymlinks(binary); err == nil {
			binary = real
		}
	}
	return candidates(os.Getenv(Env), binary, func(path string) bool { _, err := os.Stat(path); return err == nil })
}
