package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/source"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
)

// namedInput is an input of a job with what a shortened order leaves to the job, and its bytes if they came with the job.
type namedInput struct {
	order.Input
	bytes []byte
}

// inputOf is the input of that number.
func inputOf(o *order.Order, spec *v1alpha1.ProofJobSpec, number int) (namedInput, error) {
	in := namedInput{Input: o.Inputs[number]}
	if !o.InputsFromJob && !in.Inline {
		return in, nil
	}
	if number >= len(spec.Inputs) {
		return in, failure.New(failure.Internal, "the job has %d inputs, none of number %d", len(spec.Inputs), number)
	}
	from := &spec.Inputs[number]
	if in.Inline && from.Inline != nil {
		in.bytes = from.Inline.Bytes()
	}
	if !o.InputsFromJob {
		return in, nil
	}
	in.Name, in.Digest = from.Name, string(from.Digest)
	switch {
	case from.URI != nil:
		in.URI = from.URI.URL
	case from.PersistentVolumeClaim != nil:
		in.Path = string(from.PersistentVolumeClaim.Path)
	}
	return in, nil
}

// title names the input in messages.
func (in *namedInput) title() string { return "input " + in.Name }

// hasher computes the digest of the input for the report, and that which pins it.
func (in *namedInput) hasher() (*source.Hasher, error) {
	digest, err := source.ParseDigest(in.Digest)
	if in.Digest != "" && err != nil {
		return nil, failure.New(failure.Input, "%s: digest: %w", in.title(), err)
	}
	return source.NewHasher(digest), nil
}

// input opens an input and returns the SHA-256 of its bytes, as the report gives it.
func (f *files) input(ctx context.Context, in namedInput) (InputFile, string, error) {
	if in.Inline {
		h, err := in.hasher()
		if err != nil {
			return InputFile{}, "", err
		}
		_, _ = h.Write(in.bytes)
		if err := h.Check(); err != nil {
			return InputFile{}, "", failure.New(failure.Input, "%s: %w", in.title(), err)
		}
		return InputFile{Name: in.title(), Data: in.bytes}, string(h.Digest("sha256")), nil
	}
	nf, err := f.open(ctx, in.title(), in.File, failure.Input)
	if errors.Is(err, source.ErrAbsent) && in.URI == "" {
		return InputFile{}, "", absent(err)
	}
	if err != nil {
		return InputFile{}, "", err
	}
	h := source.NewHasher("")
	if _, err := copyFrom(ctx, h, nf.File); err != nil {
		return InputFile{}, "", failure.New(failure.IO, "%s: %w", in.title(), err)
	}
	nf.Name = in.title()
	return InputFile{Name: in.title(), File: nf}, string(h.Digest("sha256")), nil
}

func absent(err error) error {
	return failure.New(failure.Input, "%w", err).
		WithFix("create the ConfigMap, Secret or file, with the key or path that the job names, and submit the job again")
}

// pieces opens an input that may be a folder, and returns its digest as input does; that of a folder is of its list of
// files (see listDigest). The pieces are valid until release.
func (f *files) pieces(ctx context.Context, in namedInput) (_ *job.Files, digest string, err error) {
	folder, err := in.folder()
	if err != nil {
		return nil, "", err
	}
	if folder == nil {
		return f.onePiece(ctx, in)
	}
	defer folder.Close()
	p, err := job.OpenFolder(folder, in.title())
	if err != nil {
		return nil, "", err
	}
	if digest, err = listDigest(&in, p.Pieces); err != nil {
		return nil, "", errors.Join(err, p.Close())
	}
	return p, digest, nil
}

// onePiece opens an input that is a file, or came with the job.
func (f *files) onePiece(ctx context.Context, in namedInput) (*job.Files, string, error) {
	file, digest, err := f.input(ctx, in)
	if err != nil {
		return nil, "", err
	}
	if file.File == nil {
		return &job.Files{Pieces: []job.Piece{{Name: file.Name, Data: file.Data}}}, digest, nil
	}
	p, err := job.OpenFile(file.File.File, file.Name)
	return p, digest, err
}

// folder is the input's folder, nil if it is none. It cannot be left, neither by its path nor by links in it.
func (in *namedInput) folder() (*os.Root, error) {
	if in.Inline || in.URI != "" {
		return nil, nil
	}
	root, err := os.OpenRoot(in.Root)
	if err != nil {
		return nil, nil // whoever opens the file says why
	}
	defer root.Close()
	if st, err := root.Stat(in.Path); err != nil || !st.IsDir() {
		return nil, nil
	}
	folder, err := root.OpenRoot(in.Path)
	if err != nil {
		return nil, failure.New(failure.IO, "%w", err).In(in.title())
	}
	return folder, nil
}

// listDigest is the digest of a folder: that of the lines which `LC_ALL=C sha256sum *` prints in it.
func listDigest(in *namedInput, pieces []job.Piece) (string, error) {
	lines := make([]string, len(pieces))
	for i, p := range pieces {
		err := mapped.Guard(func() error {
			sum := sha256.Sum256(p.Data)
			lines[i] = fmt.Sprintf("%s  %s\n", hex.EncodeToString(sum[:]), filepath.Base(p.Name))
			return nil
		})
		if err != nil {
			return "", failure.New(failure.IO, "%w", err).In(p.Name)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[2*sha256.Size:], b[2*sha256.Size:]) })
	h, err := in.hasher()
	if err != nil {
		return "", err
	}
	for _, l := range lines {
		_, _ = h.Write([]byte(l))
	}
	if err := h.Check(); err != nil {
		return "", failure.New(failure.Input, "%s: %w", in.title(), err).
			WithFix("the digest of a folder is that of what `LC_ALL=C sha256sum *` prints in it")
	}
	return string(h.Digest("sha256")), nil
}
