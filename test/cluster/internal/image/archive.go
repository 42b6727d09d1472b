package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

var epoch = time.Unix(0, 0).UTC()

// ociConfig is the part of an OCI image configuration that we set.
type ociConfig struct {
	Architecture string    `json:"architecture"`
	OS           string    `json:"os"`
	Created      string    `json:"created"`
	Config       runConfig `json:"config"`
	RootFS       rootFS    `json:"rootfs"`
	History      []history `json:"history"`
}

type runConfig struct {
	User       string   `json:"User,omitempty"`
	Env        []string `json:"Env,omitempty"`
	Entrypoint []string `json:"Entrypoint,omitempty"`
	Cmd        []string `json:"Cmd,omitempty"`
	WorkingDir string   `json:"WorkingDir,omitempty"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

// manifest is one entry of a docker-archive's manifest.json.
type manifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// Write writes the image as a docker-archive with one layer. The layer goes through a temporary file, for its digest
// comes before its bytes.
func (img *Image) Write(w io.Writer) error {
	if err := img.validate(); err != nil {
		return err
	}
	layer, err := os.CreateTemp("", "image-layer-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(layer.Name()) }()
	defer layer.Close()
	sum := sha256.New()
	if err := img.writeLayer(io.MultiWriter(layer, sum)); err != nil {
		return err
	}
	size, err := layer.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := layer.Seek(0, io.SeekStart); err != nil {
		return err
	}
	layerID := hexSum(sum)
	created := epoch.Format(time.RFC3339)
	env := img.Env
	if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "PATH=") }) {
		env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, env...)
	}
	config, err := json.Marshal(ociConfig{
		Architecture: runtime.GOARCH,
		OS:           "linux",
		Created:      created,
		Config:       runConfig{User: img.User, Env: env, Entrypoint: img.Entrypoint, Cmd: img.Cmd, WorkingDir: img.WorkingDir},
		RootFS:       rootFS{Type: "layers", DiffIDs: []string{"sha256:" + layerID}},
		History:      []history{{Created: created, CreatedBy: "mkimg"}},
	})
	if err != nil {
		return err
	}
	configSum := sha256.Sum256(config)
	m := manifest{Config: hex.EncodeToString(configSum[:]) + ".json", RepoTags: img.Tags, Layers: []string{layerID + ".tar"}}
	manifestJSON, err := json.Marshal([]manifest{m})
	if err != nil {
		return err
	}
	tw := tar.NewWriter(w)
	for _, e := range []struct {
		name string
		size int64
		from io.Reader
	}{
		{m.Layers[0], size, layer},
		{m.Config, int64(len(config)), bytes.NewReader(config)},
		{"manifest.json", int64(len(manifestJSON)), bytes.NewReader(manifestJSON)},
	} {
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: 0o644, Size: e.size, ModTime: epoch}); err != nil {
			return err
		}
		if _, err := io.Copy(tw, e.from); err != nil {
			return err
		}
	}
	return tw.Close()
}

// WriteFile writes the image to a file, whole or not at all.
func (img *Image) WriteFile(name string) error {
	out, err := os.CreateTemp(dirOf(name), ".image-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(out.Name()) }() // no longer there after success
	defer out.Close()
	if err := img.Write(out); err != nil {
		return err
	}
	if err := out.Chmod(0o644); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), name)
}

func dirOf(name string) string {
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		return name[:i]
	}
	if strings.HasPrefix(name, "/") {
		return "/"
	}
	return "."
}

func (img *Image) writeLayer(w io.Writer) error {
	names := make([]string, 0, len(img.files))
	for n := range img.files {
		names = append(names, n)
	}
	slices.Sort(names) // a folder sorts before what it holds
	tw := tar.NewWriter(w)
	for _, n := range names {
		if err := writeEntry(tw, strings.TrimPrefix(n, "/"), img.files[n]); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	return tw.Close()
}

func writeEntry(tw *tar.Writer, name string, f file) error {
	h := &tar.Header{Name: name, Mode: 0o644, ModTime: epoch}
	if f.executable {
		h.Mode = 0o755
	}
	switch {
	case f.dir:
		h.Typeflag, h.Name, h.Mode = tar.TypeDir, name+"/", 0o755
		if f.sticky {
			h.Mode = 0o1777
		}
		return tw.WriteHeader(h)
	case f.link != "":
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, f.link, 0o777
		return tw.WriteHeader(h)
	case f.source == "":
		h.Typeflag, h.Size = tar.TypeReg, int64(len(f.content))
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		_, err := tw.Write(f.content)
		return err
	}
	in, err := os.Open(f.source)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	h.Typeflag, h.Size = tar.TypeReg, st.Size()
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(tw, in)
	return err
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// RepoTags reads the tags out of a docker-archive.
func RepoTags(r io.Reader) ([]string, error) {
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return nil, fmt.Errorf("no manifest.json: this is no archive of `docker save` or mkimg")
		}
		if err != nil {
			return nil, fmt.Errorf("read image archive: %w", err)
		}
		if h.Name != "manifest.json" {
			continue
		}
		var ms []manifest
		if err := json.NewDecoder(io.LimitReader(tr, 1<<20)).Decode(&ms); err != nil {
			return nil, fmt.Errorf("manifest.json: %w", err)
		}
		var tags []string
		for _, m := range ms {
			tags = append(tags, m.RepoTags...)
		}
		return tags, nil
	}
}
