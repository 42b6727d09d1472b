package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/source"
	"github.com/cuzk-dev/cuzk/prover/source/blob"
)

var content = bytes.Repeat([]byte("0123456789"), 100_000)

func buckets(t *testing.T) map[string]*gocloud.Bucket {
	files, err := fileblob.OpenBucket(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*gocloud.Bucket{"files": files, "memory": memblob.OpenBucket(nil)}
	for _, b := range all {
		if err := b.WriteAll(context.Background(), "keys/circuit.zkey", content, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
	}
	return all
}

func TestObject(t *testing.T) {
	ctx := context.Background()
	for name, b := range buckets(t) {
		t.Run(name, func(t *testing.T) {
			src := blob.New(b, "keys/circuit.zkey", "s3://bucket/keys/circuit.zkey")
			whole, err := src.Open(ctx, 0, "")
			if err != nil {
				t.Fatal(err)
			}
			whole.Close()
			if whole.Info.Size != int64(len(content)) || whole.Info.Version == "" {
				t.Errorf("info %+v", whole.Info)
			}
			rest, err := src.Open(ctx, 999_990, whole.Info.Version)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(rest)
			rest.Close()
			if err != nil || string(got) != "0123456789" || rest.Offset != 999_990 {
				t.Errorf("rest %q from %d, %v", got, rest.Offset, err)
			}
			other, err := src.Open(ctx, 999_990, "another version")
			if err != nil {
				t.Fatal(err)
			}
			other.Close()
			if other.Offset != 0 {
				t.Errorf("another version goes on from %d", other.Offset)
			}
			f := source.Fetch{Dir: t.TempDir(), Class: failure.Key}
			fetched, err := f.Get(ctx, src)
			if err != nil {
				t.Fatal(err)
			}
			defer fetched.File.Close()
			data, err := os.ReadFile(fetched.Path)
			if err != nil || !bytes.Equal(data, content) {
				t.Errorf("fetched %d bytes, %v", len(data), err)
			}
			_, err = f.Get(ctx, blob.New(b, "keys/other.zkey", "s3://bucket/keys/other.zkey"))
			if !errors.Is(err, source.ErrAbsent) || failure.ClassOf(err) != failure.Key {
				t.Errorf("absent: %v (%s)", err, failure.ClassOf(err))
			}
		})
	}
}

// Google's store answers as an https server does; what is special is the address.
func TestGS(t *testing.T) {
	ctx := context.Background()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.EscapedPath()+" "+r.Header.Get("Range"))
		if r.URL.Path != "/bucket/keys/a b.zkey" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "STORAGE_EMULATOR_HOST"), []byte(server.URL+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Parse(ctx, "gs://bucket/keys/a%20b.zkey", source.Options{Credentials: dir})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := src.Open(ctx, 999_990, `"1"`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(rest)
	rest.Close()
	if err != nil || string(got) != "0123456789" || rest.Info.Size != int64(len(content)) {
		t.Errorf("%q of %d bytes, %v", got, rest.Info.Size, err)
	}
	absent, err := source.Parse(ctx, "gs://bucket/absent", source.Options{Credentials: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := absent.Open(ctx, 0, ""); !errors.Is(err, source.ErrAbsent) || !strings.Contains(err.Error(), "gs://bucket/absent") {
		t.Errorf("absent: %v", err)
	}
	if asked[0] != "GET /bucket/keys/a%20b.zkey bytes=999990-" {
		t.Errorf("asked for %q", asked[0])
	}
	if err := os.WriteFile(filepath.Join(dir, "service-account.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "STORAGE_EMULATOR_HOST")); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Parse(ctx, "gs://bucket/key", source.Options{Credentials: dir}); failure.ClassOf(err) != failure.Usage {
		t.Errorf("a service account that is none: %v", err)
	}
}

func TestSchemesAreRegistered(t *testing.T) {
	if got, want := strings.Join(source.Schemes(), " "), "azblob gs https s3"; got != want {
		t.Errorf("schemes %q, want %q", got, want)
	}
	dir := t.TempDir()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
		"AZURE_STORAGE_ACCOUNT": "account", "AZURE_STORAGE_KEY": "aHVudGVyMg==", "AZURE_STORAGE_DOMAIN": "127.0.0.1:1",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, uri := range []string{"s3://bucket/key", "azblob://container/key"} {
		src, err := source.Parse(context.Background(), uri, source.Options{Credentials: dir})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		// Nobody listens there: the error may pass, and shows no secret.
		ctx, cancel := context.WithCancel(context.Background())
		f := source.Fetch{Dir: t.TempDir(), Class: failure.Key, Wait: func(context.Context, int, time.Duration) error { cancel(); return context.Canceled }}
		_, err = f.Get(ctx, src)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "aHVudGVyMg") {
			t.Errorf("%s: %v", uri, err)
		}
	}
	for _, uri := range []string{"s3://bucket/key?region=x", "s3://bucket/", "azblob://container/key"} {
		if _, err := source.Parse(context.Background(), uri, source.Options{}); failure.ClassOf(err) != failure.Usage {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
