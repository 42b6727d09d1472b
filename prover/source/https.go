package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// maxRedirects is more than any content network uses.
const maxRedirects = 5

// web is a source behind https.
type web struct {
	url    *url.URL
	name   string
	client *http.Client
	header http.Header
}

// openHTTP makes a source of an https URI. Credentials: "token" is sent as a bearer token, else "username" and
// "password" as basic authentication; "ca.crt" holds further certificate authorities in PEM. They go to the host of the
// URI alone: a redirect to another host is followed without them, one to plain http is refused.
func openHTTP(_ context.Context, u *url.URL, o Options) (Source, error) {
	w := &web{url: u, name: Redact(u.String()), header: http.Header{}}
	cred, err := Credential(o.Credentials, "token", "username", "password", "ca.crt")
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:       http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		// Compressed bodies have no ranges and no size.
		DisableCompression:    true,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: 60 * time.Second,
		IdleConnTimeout:       30 * time.Second,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if ca := cred["ca.crt"]; ca != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM([]byte(ca)) {
			return nil, failure.New(failure.Usage, "credential ca.crt holds no certificate in PEM").In(o.Credentials)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	switch {
	case cred["token"] != "":
		w.header.Set("Authorization", "Bearer "+cred["token"])
	case cred["username"] != "":
		r := http.Request{Header: w.header}
		r.SetBasicAuth(cred["username"], cred["password"])
	}
	w.header.Set("User-Agent", "cuzk")
	w.client = &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if next.URL.Scheme != "https" && !(o.PlainHTTP && next.URL.Scheme == "http") {
			return fmt.Errorf("%w: redirect to scheme %q", ErrRefused, next.URL.Scheme)
		}
		if next.URL.Host != u.Host { // the client keeps it for subdomains and other ports of the same host
			next.Header.Del("Authorization")
		}
		return nil
	}}
	return w, nil
}

// Web is the source of a URI read through a client that adds what credentials it takes. It is for packages that add
// schemes which are https underneath; name is how messages call it.
func Web(u *url.URL, name string, client *http.Client) Source {
	return &web{url: u, name: name, client: client, header: http.Header{"User-Agent": {"cuzk"}}}
}

func (w *web) String() string { return w.name }

// RetryAfter is an error after which the server asked to wait.
type RetryAfter struct {
	Wait time.Duration
	Err  error
}

func (e *RetryAfter) Error() string { return e.Err.Error() }
func (e *RetryAfter) Unwrap() error { return e.Err }

func (w *web) Open(ctx context.Context, offset int64, version string) (*Stream, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url.String(), nil)
	if err != nil {
		return nil, wrap(w.name, nil, errors.New("not a URI"))
	}
	req.Header = w.header.Clone()
	if offset > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(offset, 10)+"-")
		if version != "" {
			req.Header.Set("If-Range", version)
		}
	}
	resp, err := w.client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // it repeats the URI with its query
		}
		return nil, wrap(w.name, nil, err)
	}
	s, err := w.stream(resp, offset)
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	if s.Offset > 0 && version != "" && s.Info.Version != "" && s.Info.Version != version {
		// A server that ignores If-Range: the part at hand is of another content.
		resp.Body.Close()
		return w.Open(ctx, 0, "")
	}
	return s, nil
}

func (w *web) stream(resp *http.Response, offset int64) (*Stream, error) {
	s := &Stream{ReadCloser: resp.Body, Info: Info{Size: resp.ContentLength}}
	if etag := resp.Header.Get("ETag"); etag != "" && !strings.HasPrefix(etag, "W/") {
		s.Info.Version = etag
	}
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		return s, nil
	case code == http.StatusPartialContent:
		first, total, err := contentRange(resp.Header.Get("Content-Range"))
		if err != nil {
			return nil, wrap(w.name, nil, err)
		}
		if first != offset {
			return nil, wrap(w.name, nil, fmt.Errorf("server sent bytes from %d, not from %d", first, offset))
		}
		s.Offset, s.Info.Size = offset, total
		return s, nil
	case code == http.StatusRequestedRangeNotSatisfiable:
		return nil, wrap(w.name, ErrChanged, nil)
	case code == http.StatusNotFound || code == http.StatusGone:
		return nil, wrap(w.name, ErrAbsent, errors.New(resp.Status))
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return nil, wrap(w.name, ErrRefused, errors.New(resp.Status))
	case code >= 300 && code < 500 && code != http.StatusTooManyRequests && code != http.StatusRequestTimeout:
		return nil, wrap(w.name, ErrRefused, errors.New(resp.Status))
	}
	err := wrap(w.name, nil, fmt.Errorf("server answered %s", resp.Status))
	if secs, e := strconv.Atoi(resp.Header.Get("Retry-After")); e == nil && secs >= 0 {
		err = &RetryAfter{Wait: time.Duration(secs) * time.Second, Err: err}
	}
	return nil, err
}

// contentRange reads "bytes first-last/total"; total is -1 for "*".
func contentRange(h string) (first, total int64, err error) {
	bad := fmt.Errorf("server sent a partial answer with Content-Range %q", h)
	spec, ok := strings.CutPrefix(h, "bytes ")
	if !ok {
		return 0, 0, bad
	}
	span, whole, ok := strings.Cut(spec, "/")
	from, _, ok2 := strings.Cut(span, "-")
	if !ok || !ok2 {
		return 0, 0, bad
	}
	if first, err = strconv.ParseInt(from, 10, 64); err != nil {
		return 0, 0, bad
	}
	if whole == "*" {
		return first, -1, nil
	}
	if total, err = strconv.ParseInt(whole, 10, 64); err != nil {
		return 0, 0, bad
	}
	return first, total, nil
}
