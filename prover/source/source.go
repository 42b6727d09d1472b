// Package source brings the bytes of keys, constraint systems and inputs from where users keep them: files, files below
// a directory that they must not leave, https, and the object stores that package source/blob adds.
//
// A source can be read from any offset, so that a download that broke, or whose process was killed, goes on where it
// stood. Fetch makes a source a local file, with its digest computed while it is written.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"sort"
	"strings"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

var (
	// ErrAbsent says that there is nothing under the name.
	ErrAbsent = errors.New("does not exist")
	// ErrRefused says that the credentials, or their absence, do not allow reading.
	ErrRefused = errors.New("access refused")
	// ErrNotFile says that there is something under the name, but nothing to read: a folder, say.
	ErrNotFile = errors.New("is not a file")
	// ErrChanged says that the bytes are no longer those of the version that was asked for.
	ErrChanged = errors.New("content changed while it was read")
	// ErrDigest says that the bytes are not those that the digest pins.
	ErrDigest = errors.New("digest differs")
	// ErrSize says that the bytes are more or fewer than allowed or pinned.
	ErrSize = errors.New("size differs")
)

// Info is what a source tells about its content.
type Info struct {
	// Size in bytes, or -1 when the source does not tell.
	Size int64
	// Version changes whenever the content does (a strong ETag, say). Empty when the source tells none.
	Version string
}

// Stream is a source being read.
type Stream struct {
	io.ReadCloser
	Info Info
	// Offset of the first byte; below the one asked for (that is, 0) when the source cannot resume.
	Offset int64
}

// Source is where bytes come from. It is safe for concurrent use.
type Source interface {
	// String names the source for messages. It shows neither credentials nor a URI's query, which may hold a signature.
	String() string
	// Open reads from offset on. With a version that is not empty the bytes are of that version, or the stream starts
	// at 0 with the new one. Errors wrap ErrAbsent or ErrRefused where that is the cause; all others may pass.
	Open(ctx context.Context, offset int64, version string) (*Stream, error)
}

// Local is a source that is a file of this machine already: it needs no fetching.
type Local interface {
	Source
	// OpenFile opens the file itself, to be mapped.
	OpenFile() (*os.File, error)
}

// Options for sources named by a URI.
type Options struct {
	// Credentials is a directory with one file a credential, as Kubernetes mounts a Secret; which names count depends
	// on the scheme. Empty: anonymous for https, the platform's own identity for object stores.
	Credentials string
	// PlainHTTP allows http beside https; for tests.
	PlainHTTP bool
}

// Opener makes a source of a URI.
type Opener func(ctx context.Context, u *url.URL, o Options) (Source, error)

var (
	openersMu sync.RWMutex
	openers   = map[string]Opener{"https": openHTTP, "http": openHTTP}
)

// Register adds a scheme; a second registration of one replaces the first.
func Register(scheme string, open Opener) {
	openersMu.Lock()
	defer openersMu.Unlock()
	openers[scheme] = open
}

// Schemes lists the schemes that this process can open, but for plain http.
func Schemes() []string {
	openersMu.RLock()
	defer openersMu.RUnlock()
	var names []string
	for s := range openers {
		if s != "http" {
			names = append(names, s)
		}
	}
	sort.Strings(names)
	return names
}

// IsURI tells whether a name that a user gave is a URI rather than a path.
func IsURI(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok || scheme == "" {
		return false
	}
	for _, r := range scheme {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '-' {
			return false
		}
	}
	return true
}

// Parse makes a source of a URI.
func Parse(ctx context.Context, uri string, o Options) (Source, error) {
	u, err := url.Parse(uri)
	if err != nil {
		// url.Error repeats the URI, and with it a signature or a password.
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, failure.New(failure.Usage, "not a URI: %w", err).In(Redact(uri))
	}
	if u.User != nil {
		return nil, failure.New(failure.Usage, "a URI must not hold a user or password").In(Redact(uri)).
			WithFix("put credentials into a directory (or Secret) and name that")
	}
	if u.Fragment != "" || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return nil, failure.New(failure.Usage, "a URI has the form scheme://host/path, without a fragment").In(Redact(uri))
	}
	openersMu.RLock()
	open := openers[u.Scheme]
	openersMu.RUnlock()
	if open == nil || u.Scheme == "http" && !o.PlainHTTP {
		return nil, failure.New(failure.Usage, "scheme %q is not supported", u.Scheme).In(Redact(uri)).
			WithFix("use one of %s", strings.Join(Schemes(), ", "))
	}
	return open(ctx, u, o)
}

// Redact shows a URI without user, query and fragment.
func Redact(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return uri
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndex(host, "@"); i >= 0 {
		host = host[i+1:]
	}
	return scheme + "://" + host + "/" + path
}

// credential reads one file of a credentials directory; "" when it is not there.
func credential(dir, name string) (string, error) {
	if dir == "" {
		return "", nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", failure.New(failure.Usage, "credentials: %w", err).In(dir)
	}
	defer root.Close()
	f, err := root.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", failure.New(failure.Usage, "credential %s: %w", name, err).In(dir)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return "", failure.New(failure.Usage, "credential %s: %w", name, err).In(dir)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// Credential reads the named files of a credentials directory into a map; absent files have no entry.
func Credential(dir string, names ...string) (map[string]string, error) {
	values := map[string]string{}
	for _, n := range names {
		v, err := credential(dir, n)
		if err != nil {
			return nil, err
		}
		if v != "" {
			values[n] = v
		}
	}
	return values, nil
}

// wrap names the source in an error, and says what kind of error it is where that is known.
func wrap(name string, kind, err error) error {
	if kind == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err == nil {
		return fmt.Errorf("%s: %w", name, kind)
	}
	return fmt.Errorf("%s: %w (%w)", name, kind, err)
}
