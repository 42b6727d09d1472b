// Package blob adds the object stores to package source: s3 and azblob URIs through gocloud.dev, and gs. It is a package
// of its own because the stores' libraries are large; import it for its effect where users may name such URIs.
package blob

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/source"
)

func init() {
	source.Register("s3", opener(inBucket(openS3)))
	source.Register("gs", opener(openGS))
	source.Register("azblob", opener(inBucket(openAzure)))
}

// opener refuses what no object store's URI has, and classes errors.
func opener(open source.Opener) source.Opener {
	return func(ctx context.Context, u *url.URL, o source.Options) (source.Source, error) {
		name := source.Redact(u.String())
		if u.RawQuery != "" {
			return nil, failure.New(failure.Usage, "a URI of an object store takes no query").In(name).
				WithFix("put region, endpoint and credentials into the credentials directory")
		}
		src, err := open(ctx, u, o)
		if err != nil {
			var known *failure.Error
			if errors.As(err, &known) {
				return nil, err
			}
			return nil, failure.New(failure.Usage, "%w", err).In(name)
		}
		return src, nil
	}
}

// inBucket opens an object of a bucket or container.
func inBucket(open func(ctx context.Context, name string, o source.Options) (*blob.Bucket, error)) source.Opener {
	return func(ctx context.Context, u *url.URL, o source.Options) (source.Source, error) {
		b, err := open(ctx, u.Host, o)
		if err != nil {
			return nil, err
		}
		return New(b, strings.TrimPrefix(u.Path, "/"), source.Redact(u.String())), nil
	}
}

// New is the source of one object of a bucket; name is how messages call it.
func New(b *blob.Bucket, key, name string) source.Source {
	return &object{bucket: b, key: key, name: name}
}

type object struct {
	bucket    *blob.Bucket
	key, name string
}

func (o *object) String() string { return o.name }

func (o *object) Open(ctx context.Context, offset int64, version string) (*source.Stream, error) {
	attrs, err := o.bucket.Attributes(ctx, o.key)
	if err != nil {
		return nil, o.explain(err)
	}
	info := source.Info{Size: attrs.Size, Version: attrs.ETag}
	if offset > attrs.Size || version != "" && version != info.Version {
		offset = 0
	}
	r, err := o.bucket.NewRangeReader(ctx, o.key, offset, -1, nil)
	if err != nil {
		return nil, o.explain(err)
	}
	if r.Size() != attrs.Size || !r.ModTime().Equal(attrs.ModTime) { // replaced between the two requests
		r.Close()
		return nil, fmt.Errorf("%s: %w", o.name, source.ErrChanged)
	}
	return &source.Stream{ReadCloser: r, Info: info, Offset: offset}, nil
}

func (o *object) explain(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return fmt.Errorf("%s: %w (%w)", o.name, source.ErrAbsent, err)
	case gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.FailedPrecondition:
		return fmt.Errorf("%s: %w (%w)", o.name, source.ErrRefused, err)
	}
	return fmt.Errorf("%s: %w", o.name, err)
}
