package image

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// AddSharedLibraries adds the loader and the shared libraries that the image's programs need, from this machine and at
// the same paths. The programs are read, not run.
func (img *Image) AddSharedLibraries() error {
	search, err := librarySearchPath()
	if err != nil {
		return err
	}
	var queue []string
	for _, f := range img.files {
		if f.source != "" && f.executable {
			queue = append(queue, f.source)
		}
	}
	slices.Sort(queue)
	seen := map[string]bool{}
	for len(queue) > 0 {
		program := queue[0]
		queue = queue[1:]
		if seen[program] {
			continue
		}
		seen[program] = true
		needed, err := neededLibraries(program, search)
		if err != nil {
			return err
		}
		for _, lib := range needed {
			if _, ok := img.files[lib]; !ok {
				if err := img.put(lib, file{source: lib, executable: true}); err != nil {
					return err
				}
			}
			queue = append(queue, lib)
		}
	}
	return nil
}

// neededLibraries returns the paths of the loader and of the libraries that an ELF file names itself; none if it is
// no ELF file of this machine's kind.
func neededLibraries(program string, search []string) ([]string, error) {
	f, err := elf.Open(program)
	if err != nil {
		var notELF *elf.FormatError
		if errors.As(err, &notELF) || strings.Contains(err.Error(), "EOF") {
			return nil, nil
		}
		return nil, err
	}
	defer f.Close()
	class, machine, err := native()
	if err != nil {
		return nil, err
	}
	if f.Class != class || f.Machine != machine {
		return nil, nil
	}
	var paths []string
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			b := make([]byte, p.Filesz)
			if _, err := p.ReadAt(b, 0); err != nil {
				return nil, fmt.Errorf("%s: read the loader's name: %w", program, err)
			}
			paths = append(paths, strings.TrimRight(string(b), "\x00"))
		}
	}
	names, err := f.ImportedLibraries()
	if err != nil {
		return nil, nil // no dynamic section: a static program
	}
	var own []string
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		values, _ := f.DynString(tag)
		for _, v := range values {
			for dir := range strings.SplitSeq(v, ":") {
				dir = strings.NewReplacer("$ORIGIN", filepath.Dir(program), "${ORIGIN}", filepath.Dir(program)).Replace(dir)
				own = append(own, filepath.Clean(dir))
			}
		}
	}
	for _, name := range names {
		path, err := findLibrary(name, class, machine, append(own, search...))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", program, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func findLibrary(name string, class elf.Class, machine elf.Machine, dirs []string) (string, error) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		lib, err := elf.Open(path)
		if err != nil {
			continue
		}
		fits := lib.Class == class && lib.Machine == machine
		_ = lib.Close()
		if fits {
			return path, nil
		}
	}
	return "", fmt.Errorf("shared library %s not found in %s", name, strings.Join(dirs, ", "))
}

// librarySearchPath is the loader's list of folders: those of ld.so.conf, then the built-in ones.
func librarySearchPath() ([]string, error) {
	dirs, err := readLDConfig("/etc/ld.so.conf", 0)
	if err != nil {
		return nil, err
	}
	return append(dirs, "/lib64", "/usr/lib64", "/lib", "/usr/lib"), nil
}

func readLDConfig(name string, depth int) ([]string, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) || depth > 8 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var dirs []string
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		line = strings.TrimSpace(line)
		if pattern, ok := strings.CutPrefix(line, "include "); ok {
			pattern = strings.TrimSpace(pattern)
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(name), pattern)
			}
			files, err := filepath.Glob(pattern)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			for _, included := range files {
				more, err := readLDConfig(included, depth+1)
				if err != nil {
					return nil, err
				}
				dirs = append(dirs, more...)
			}
		} else if line != "" {
			dirs = append(dirs, line)
		}
	}
	return dirs, nil
}

// AddLibraries adds shared libraries of this machine by their names, and what they need.
func (img *Image) AddLibraries(names ...string) error {
	search, err := librarySearchPath()
	if err != nil {
		return err
	}
	class, machine, err := native()
	if err != nil {
		return err
	}
	for _, name := range names {
		path, err := findLibrary(name, class, machine, search)
		if err != nil {
			return err
		}
		if err := img.put(path, file{source: path, executable: true}); err != nil {
			return err
		}
	}
	return img.AddSharedLibraries()
}

// native returns the kind of this machine's programs, of which this one is an example.
func native() (elf.Class, elf.Machine, error) {
	self, err := elf.Open("/proc/self/exe")
	if err != nil {
		return 0, 0, fmt.Errorf("kind of this machine's programs: %w", err)
	}
	defer self.Close()
	return self.Class, self.Machine, nil
}
