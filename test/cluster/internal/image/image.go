// Package image makes container images out of files, without a container engine or a registry. What it writes is a
// docker-archive, which `docker load`, `ctr images import` and `kind load image-archive` read. Equal input gives equal
// bytes: times are zero, owners are root, permissions are 0755 or 0644.
package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Image is what a container image is made of.
type Image struct {
	Tags       []string // name:tag, with the registry's host as in "example.org/name:tag"
	Entrypoint []string
	Cmd        []string
	Env        []string // KEY=value
	User       string   // user or user:group, by number where the kubelet must prove it is not root
	WorkingDir string

	files map[string]file // by path in the image
}

type file struct {
	source     string // on this machine
	content    []byte // where source is empty
	link       string // target of a symbolic link
	executable bool
	dir        bool
	sticky     bool // a folder that all may write
}

func (img *Image) put(name string, f file) error {
	if !path.IsAbs(name) {
		return fmt.Errorf("%q: a path in an image is absolute", name)
	}
	name = path.Clean(name)
	if name == "/" {
		return errors.New("/: the root folder is there already")
	}
	if img.files == nil {
		img.files = map[string]file{}
	}
	if old, ok := img.files[name]; ok && (old.dir != f.dir) {
		return fmt.Errorf("%s is both a folder and a file", name)
	}
	img.files[name] = f
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		switch old, ok := img.files[dir]; {
		case ok && old.link != "":
			return fmt.Errorf("%s lies below %s, which is a symbolic link", name, dir)
		case ok && !old.dir:
			return fmt.Errorf("%s lies below %s, which is a file", name, dir)
		case !ok:
			img.files[dir] = file{dir: true}
		}
	}
	return nil
}

// Add copies a file, or a folder with all that is in it, to the path dst of the image. Symbolic links inside a folder
// stay links; source itself may be a link.
func (img *Image) Add(source, dst string) error {
	st, err := os.Stat(source)
	if err != nil {
		return err
	}
	if st.Mode().IsRegular() {
		return img.put(dst, file{source: source, executable: st.Mode()&0o111 != 0})
	}
	if !st.IsDir() {
		return fmt.Errorf("%s is neither a file nor a folder", source)
	}
	if source, err = filepath.EvalSymlinks(source); err != nil {
		return err
	}
	return filepath.WalkDir(source, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, p)
		if err != nil {
			return err
		}
		name := path.Join(dst, filepath.ToSlash(rel))
		switch {
		case e.IsDir():
			if name == "/" {
				return nil
			}
			return img.AddDir(name)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return img.AddLink(name, target)
		case e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				return err
			}
			return img.put(name, file{source: p, executable: info.Mode()&0o111 != 0})
		default:
			return fmt.Errorf("%s is neither a file, a folder nor a link", p)
		}
	})
}

// AddContent puts a file with the given content at the path dst.
func (img *Image) AddContent(dst string, content []byte) error {
	return img.put(dst, file{content: content})
}

// AddDir makes an empty folder.
func (img *Image) AddDir(dst string) error {
	if old, ok := img.files[path.Clean(dst)]; ok && old.dir {
		return nil
	}
	return img.put(dst, file{dir: true})
}

// AddLink makes a symbolic link at dst.
func (img *Image) AddLink(dst, target string) error {
	return img.put(dst, file{link: target})
}

// AddUsers adds what programs expect of a minimal system: /tmp, and /etc/passwd and /etc/group with root and nonroot
// (65532).
func (img *Image) AddUsers() error {
	if err := img.put("/tmp", file{dir: true, sticky: true}); err != nil {
		return err
	}
	if err := img.AddContent("/etc/passwd", []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")); err != nil {
		return err
	}
	return img.AddContent("/etc/group", []byte("root:x:0:\nnonroot:x:65532:\n"))
}

func (img *Image) validate() error {
	if len(img.Tags) == 0 {
		return errors.New("an image needs a tag (name:tag)")
	}
	for _, t := range img.Tags {
		name, tag, ok := strings.Cut(t[strings.LastIndexByte(t, '/')+1:], ":")
		if !ok || name == "" || tag == "" || strings.ContainsAny(t, " @") || strings.ToLower(name) != name {
			return fmt.Errorf("%q is no image tag: want name:tag in lower case", t)
		}
	}
	for _, e := range img.Env {
		if k, _, ok := strings.Cut(e, "="); !ok || k == "" {
			return fmt.Errorf("environment %q: want KEY=value", e)
		}
	}
	return nil
}
