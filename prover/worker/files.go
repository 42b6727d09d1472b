package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/source"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// files opens what an order names: mounted files below their root, and what is to be fetched.
type files struct {
	scratch  string
	progress progress.Func // of the bytes of each file
	opened   []*os.File
	fetched  []string
}

// keyFiles opens the files of a key; class Key is that of an error in them.
func (f *files) keyFiles(ctx context.Context, k order.Key) (KeyFiles, error) {
	var out KeyFiles
	var err error
	if out.ProvingKey, err = f.open(ctx, "proving key", k.ProvingKey, failure.Key); err != nil {
		return out, err
	}
	for _, o := range []struct {
		role string
		file *order.File
		to   **NamedFile
	}{
		{"verifying key", k.VerifyingKey, &out.VerifyingKey},
		{"constraint system", k.ConstraintSystem, &out.ConstraintSystem},
		{"witness generator", k.WitnessGenerator, &out.WitnessGenerator},
	} {
		if o.file == nil {
			continue
		}
		if *o.to, err = f.open(ctx, o.role, *o.file, failure.Key); err != nil {
			return out, err
		}
	}
	return out, nil
}

// open opens one file and checks it against what pins it.
func (f *files) open(ctx context.Context, role string, file order.File, class failure.Class) (*NamedFile, error) {
	digest, err := source.ParseDigest(file.Digest)
	if file.Digest != "" && err != nil {
		return nil, failure.New(class, "%s: digest: %w", role, err)
	}
	if len(file.Inline) > 0 {
		return f.inline(role, file, digest, class)
	}
	src, err := f.source(ctx, file)
	if err != nil {
		return nil, failure.New(class, "%s: %w", role, err)
	}
	fetch := source.Fetch{Dir: f.scratch, Digest: digest, SizeBytes: file.SizeBytes, Class: class, Progress: f.progress}
	got, err := fetch.Get(ctx, src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", role, err)
	}
	f.opened = append(f.opened, got.File)
	if file.URI != "" && got.Path != "" {
		f.fetched = append(f.fetched, got.Path)
	}
	return &NamedFile{File: got.File, Name: src.String()}, nil
}

func (f *files) source(ctx context.Context, file order.File) (source.Source, error) {
	if file.URI != "" {
		return source.Parse(ctx, file.URI, source.Options{Credentials: file.Credentials})
	}
	return source.Below(file.Root, file.Path)
}

// inline puts bytes that came with the order into an unnamed file, so that readers see files only.
func (f *files) inline(role string, file order.File, digest source.Digest, class failure.Class) (*NamedFile, error) {
	h := source.NewHasher(digest)
	_, _ = h.Write(file.Inline)
	if err := h.Check(); err != nil {
		return nil, failure.New(class, "%s, inline: %w", role, err)
	}
	tmp, err := os.CreateTemp(f.scratch, "inline-*")
	if err != nil {
		return nil, failure.New(failure.IO, "%s: %w", role, err).WithFix("the scratch volume must be writable")
	}
	f.opened = append(f.opened, tmp)
	_ = os.Remove(tmp.Name())
	if _, err := tmp.WriteAt(file.Inline, 0); err != nil {
		return nil, failure.New(failure.IO, "%s: %w", role, err)
	}
	return &NamedFile{File: tmp, Name: role + " (inline)"}, nil
}

// release closes and removes what was opened since the mark; inputs go as soon as they are proved.
func (f *files) release(opened, fetched int) {
	for _, o := range f.opened[opened:] {
		_ = o.Close()
	}
	for _, p := range f.fetched[fetched:] {
		_ = os.Remove(p)
	}
	f.opened, f.fetched = f.opened[:opened], f.fetched[:fetched]
}

func (f *files) mark() (opened, fetched int) { return len(f.opened), len(f.fetched) }

func scratchDir(base string) (string, error) {
	dir := filepath.Join(base, "work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", failure.New(failure.IO, "scratch: %w", err).WithFix("mount a writable volume at %s", base)
	}
	return dir, nil
}
