package source_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/source"
)

// content is a megabyte that compresses badly and differs everywhere.
var content = func() []byte {
	b := make([]byte, 1<<20+17)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}()

func sha(b []byte) source.Digest {
	sum := sha256.Sum256(b)
	return source.Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// server serves content with ranges, and misbehaves as told.
type server struct {
	*httptest.Server
	mu sync.Mutex
	// ranges are the Range headers seen.
	ranges []string
	// breakAfter ends each answer after so many bytes; 0 does not.
	breakAfter int
	// stallAfter keeps the connection open, silent, after so many bytes of the first answer.
	stallAfter int
	noRange    bool
	etag       string
	body       []byte
	status     []int // answers before the first good one
	retryAfter string
	auth       atomic.Value
}

func newServer(t *testing.T, tls bool) *server {
	s := &server{body: content, etag: `"v1"`}
	h := http.HandlerFunc(s.serve)
	if tls {
		s.Server = httptest.NewTLSServer(h)
	} else {
		s.Server = httptest.NewServer(h)
	}
	t.Cleanup(s.Close)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	s.auth.Store(r.Header.Get("Authorization"))
	if len(s.status) > 0 {
		code := s.status[0]
		s.status = s.status[1:]
		if s.retryAfter != "" {
			w.Header().Set("Retry-After", s.retryAfter)
		}
		w.WriteHeader(code)
		return
	}
	if s.etag != "" {
		w.Header().Set("ETag", s.etag)
	}
	if s.noRange {
		r.Header.Del("Range")
	}
	limit := s.breakAfter
	if s.stallAfter > 0 {
		limit = s.stallAfter
	}
	if limit == 0 {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.body))
		return
	}
	// ServeContent decides about ranges; the writer cuts off.
	cut := &cutter{ResponseWriter: w, left: limit}
	func() {
		defer func() { _ = recover() }()
		http.ServeContent(cut, r, "", time.Time{}, bytes.NewReader(s.body))
	}()
	if cut.left > 0 {
		return
	}
	w.(http.Flusher).Flush()
	if s.stallAfter > 0 {
		s.stallAfter = 0
		<-r.Context().Done() // until the client gives up
		return
	}
	panic(http.ErrAbortHandler)
}

// cutter panics once it has written what it may.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		p = p[:c.left]
	}
	n, err := c.ResponseWriter.Write(p)
	c.left -= n
	if c.left == 0 {
		panic("cut")
	}
	return n, err
}

func open(t *testing.T, uri string, o source.Options) source.Source {
	t.Helper()
	o.PlainHTTP = true
	src, err := source.Parse(context.Background(), uri, o)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// fetch makes a Fetch that does not wait.
func fetch(t *testing.T) source.Fetch {
	return source.Fetch{Dir: t.TempDir(), Attempts: 3, Class: failure.Key,
		Wait: func(ctx context.Context, _ int, _ time.Duration) error { return ctx.Err() }}
}

func contentOf(t *testing.T, f *source.Fetched) []byte {
	t.Helper()
	defer f.File.Close()
	data, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDownloadGoesOnWhereItBroke(t *testing.T) {
	s := newServer(t, false)
	s.breakAfter = 300_000
	f := fetch(t)
	f.Digest, f.SizeBytes = sha(content), int64(len(content))
	var last, total int64
	f.Progress = func(done, of int64) { last, total = done, of }
	got, err := f.Get(context.Background(), open(t, s.URL+"/key", source.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(contentOf(t, got), content) {
		t.Error("content differs")
	}
	want := []string{"", "bytes=300000-", "bytes=600000-", "bytes=900000-"}
	if d := cmp.Diff(want, s.ranges); d != "" {
		t.Errorf("ranges (-want +got):\n%s", d)
	}
	if got.Transferred != int64(len(content)) || last != int64(len(content)) || total != last {
		t.Errorf("transferred %d bytes, progress says %d of %d, content has %d", got.Transferred, last, total, len(content))
	}
	// A second call finds it whole: no byte moves.
	s.ranges = nil
	again, err := f.Get(context.Background(), open(t, s.URL+"/key", source.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer again.File.Close()
	if len(s.ranges) != 0 || again.Transferred != 0 {
		t.Errorf("second call asked the server %d times and moved %d bytes", len(s.ranges), again.Transferred)
	}
}

func TestDownloadGoesOnInALaterProcess(t *testing.T) {
	for name, tc := range map[string]struct {
		digest source.Digest
		etag   string
		change func(*server)
		want   string // Range header of the later process
	}{
		"pinned":                       {digest: sha(content), etag: `"v1"`, want: "bytes=400000-"},
		"pinned, server without ETag":  {digest: sha(content), etag: "", want: "bytes=400000-"},
		"not pinned, same version":     {etag: `"v1"`, want: "bytes=400000-"},
		"not pinned, no version":       {etag: "", want: ""},
		"not pinned, another version":  {etag: `"v1"`, want: "bytes=400000-", change: func(s *server) { s.etag, s.body = `"v2"`, content[7:] }},
		"not pinned, shorter by now":   {etag: `"v1"`, want: "bytes=400000-", change: func(s *server) { s.etag, s.body = `"v2"`, content[:1000] }},
		"server that knows no ranges":  {digest: sha(content), etag: `"v1"`, want: "bytes=400000-", change: func(s *server) { s.noRange = true }},
		"server that ignores If-Range": {etag: `"v1"`, want: "bytes=400000-", change: func(s *server) { s.etag = `"v1"` }},
		"weak version is no version":   {etag: `W/"v1"`, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, false)
			s.etag = tc.etag
			s.breakAfter = 400_000
			f := fetch(t)
			f.Digest = tc.digest
			ctx, cancel := context.WithCancel(context.Background())
			f.Wait = func(context.Context, int, time.Duration) error { cancel(); return context.Canceled } // killed
			_, err := f.Get(ctx, open(t, s.URL+"/key", source.Options{}))
			if got := failure.ClassOf(err); got != failure.Interrupted {
				t.Fatalf("class %s of %v", got, err)
			}
			s.breakAfter, s.ranges = 0, nil
			if tc.change != nil {
				tc.change(s)
			}
			f.Wait = func(context.Context, int, time.Duration) error { return nil }
			got, err := f.Get(context.Background(), open(t, s.URL+"/key", source.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(contentOf(t, got), s.body) {
				t.Error("content differs")
			}
			if s.ranges[0] != tc.want {
				t.Errorf("went on with range %q, want %q", s.ranges[0], tc.want)
			}
		})
	}
}

func TestPartOfOtherBytesIsFetchedAnew(t *testing.T) {
	s := newServer(t, false)
	s.etag = ""
	s.breakAfter = 400_000
	f := fetch(t)
	f.Digest = sha(content)
	ctx, cancel := context.WithCancel(context.Background())
	f.Wait = func(context.Context, int, time.Duration) error { cancel(); return context.Canceled }
	if _, err := f.Get(ctx, open(t, s.URL+"/key", source.Options{})); err == nil {
		t.Fatal("the first process ends with the file")
	}
	parts, _ := filepath.Glob(filepath.Join(f.Dir, "*.part"))
	if len(parts) != 1 {
		t.Fatalf("parts: %v", parts)
	}
	if err := os.WriteFile(parts[0], bytes.Repeat([]byte{1}, 400_000), 0o600); err != nil {
		t.Fatal(err)
	}
	s.breakAfter = 0
	got, err := f.Get(context.Background(), open(t, s.URL+"/key", source.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(contentOf(t, got), content) {
		t.Error("content differs")
	}
}

func TestWrongContentIsRefused(t *testing.T) {
	other := sha(content[1:])
	for name, tc := range map[string]struct {
		set  func(*source.Fetch, *server)
		want error
	}{
		"digest":           {func(f *source.Fetch, _ *server) { f.Digest = other }, source.ErrDigest},
		"blake2b digest":   {func(f *source.Fetch, _ *server) { f.Digest = source.Digest("blake2b-512:" + strings.Repeat("0", 128)) }, source.ErrDigest},
		"size":             {func(f *source.Fetch, _ *server) { f.SizeBytes = 5 }, source.ErrSize},
		"limit":            {func(f *source.Fetch, _ *server) { f.MaxBytes = 5 }, source.ErrSize},
		"pinned too large": {func(f *source.Fetch, _ *server) { f.MaxBytes, f.SizeBytes = 5, 6 }, source.ErrSize},
		"absent":           {func(_ *source.Fetch, s *server) { s.status = []int{404} }, source.ErrAbsent},
		"unauthorized":     {func(_ *source.Fetch, s *server) { s.status = []int{401} }, source.ErrRefused},
		"forbidden":        {func(_ *source.Fetch, s *server) { s.status = []int{403} }, source.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, false)
			f := fetch(t)
			tc.set(&f, s)
			_, err := f.Get(context.Background(), open(t, s.URL+"/key", source.Options{}))
			if !errors.Is(err, tc.want) || failure.ClassOf(err) != failure.Key {
				t.Errorf("got %v (%s), want %v", err, failure.ClassOf(err), tc.want)
			}
			left, _ := filepath.Glob(filepath.Join(f.Dir, "*"))
			for _, l := range left {
				if st, _ := os.Stat(l); st.Size() > 0 && !strings.HasSuffix(l, ".note") {
					t.Errorf("%s stays with %d bytes", filepath.Base(l), st.Size())
				}
			}
		})
	}
}

func TestErrorsThatMayPassAreTriedAgain(t *testing.T) {
	s := newServer(t, false)
	s.status, s.retryAfter = []int{500, 503}, "7"
	f := fetch(t)
	var waits []string
	f.Wait = func(_ context.Context, attempt int, atLeast time.Duration) error {
		waits = append(waits, fmt.Sprintf("%d: %s", attempt, atLeast))
		return nil
	}
	got, err := f.Get(context.Background(), open(t, s.URL+"/key", source.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	got.File.Close()
	if d := cmp.Diff([]string{"1: 7s", "2: 7s"}, waits); d != "" {
		t.Errorf("waits (-want +got):\n%s", d)
	}

	s.status = []int{500, 502, 503, 504}
	_, err = f.Get(context.Background(), open(t, s.URL+"/key", source.Options{}))
	if failure.ClassOf(err) != failure.IO || !strings.Contains(err.Error(), "gave up after 3 attempts") {
		t.Errorf("got %v (%s)", err, failure.ClassOf(err))
	}
}

func TestStalledTransferIsTriedAgain(t *testing.T) {
	s := newServer(t, false)
	s.stallAfter = 1000
	f := fetch(t)
	f.Digest = sha(content)
	f.Stall = 50 * time.Millisecond
	got, err := f.Get(context.Background(), open(t, s.URL+"/key", source.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(contentOf(t, got), content) {
		t.Error("content differs")
	}
}

func TestRedirects(t *testing.T) {
	target := newServer(t, true)
	plain := newServer(t, false)
	ca := t.TempDir()
	write(t, filepath.Join(ca, "token"), "secret-token\n")
	redirect := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	}))
	t.Cleanup(redirect.Close)
	pemOf := func(s *httptest.Server) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	}
	write(t, filepath.Join(ca, "ca.crt"), pemOf(redirect)+pemOf(target.Server))
	get := func(to string) (*source.Fetched, error) {
		src, err := source.Parse(context.Background(), redirect.URL+"/key?to="+url.QueryEscape(to), source.Options{Credentials: ca})
		if err != nil {
			t.Fatal(err)
		}
		return fetch(t).Get(context.Background(), src)
	}
	t.Run("to another host, without credentials", func(t *testing.T) {
		got, err := get(target.URL + "/key")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(contentOf(t, got), content) {
			t.Error("content differs")
		}
		if auth := target.auth.Load(); auth != "" {
			t.Errorf("the other host got the credential %q", auth)
		}
	})
	t.Run("to plain http", func(t *testing.T) {
		_, err := get(plain.URL + "/key")
		if !errors.Is(err, source.ErrRefused) || !strings.Contains(err.Error(), `redirect to scheme "http"`) {
			t.Errorf("got %v", err)
		}
		if len(plain.ranges) > 0 {
			t.Error("the plain server was asked")
		}
	})
	t.Run("for ever", func(t *testing.T) {
		_, err := get(redirect.URL + "/key?to=" + url.QueryEscape("/key?to=/key"))
		if err == nil {
			t.Error("no error")
		}
	})
}

func TestCredentialsGoToTheirHost(t *testing.T) {
	s := newServer(t, false)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "username"), "me")
	write(t, filepath.Join(dir, "password"), "pass word")
	data, _, err := fetch(t).ReadAll(context.Background(), open(t, s.URL+"/key", source.Options{Credentials: dir}), 2<<20)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, content) {
		t.Error("content differs")
	}
	if got := s.auth.Load(); got != "Basic bWU6cGFzcyB3b3Jk" {
		t.Errorf("Authorization %q", got)
	}
}

func TestReadAllIsBounded(t *testing.T) {
	s := newServer(t, false)
	_, _, err := fetch(t).ReadAll(context.Background(), open(t, s.URL+"/key", source.Options{}), 1000)
	if !errors.Is(err, source.ErrSize) {
		t.Errorf("got %v", err)
	}
}

func TestMessagesShowNoSecrets(t *testing.T) {
	ctx := context.Background()
	for _, uri := range []string{
		"https://user:hunter2@example.com/key",
		"https://example.com/key#hunter2",
		"ftp://example.com/key?sig=hunter2",
		"https://example.com/%zz?sig=hunter2",
		"http://example.com/key?sig=hunter2",
	} {
		_, err := source.Parse(ctx, uri, source.Options{})
		if err == nil || failure.ClassOf(err) != failure.Usage {
			t.Errorf("%s: got %v", uri, err)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("secret in %q", err)
		}
	}
	s := newServer(t, false)
	s.Close()
	_, err := fetch(t).Get(ctx, open(t, s.URL+"/key?sig=hunter2", source.Options{}))
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}
