package source_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/source"
)

func TestBelowDoesNotLeaveItsRoot(t *testing.T) {
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, outside, "secret")
	if err := os.Mkdir(filepath.Join(root, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "dir", "file"), "good")
	for link, to := range map[string]string{
		"inside": "dir/file", "absolute": outside, "relative": "../" + filepath.Base(filepath.Dir(outside)) + "/secret", "parent": "..",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, good := range map[string]bool{
		"dir/file": true, "dir/../dir/file": true, "inside": true,
		"../secret": false, "/etc/hostname": false, "dir/../../x": false, "": false,
		"absolute": false, "relative": false, "parent/x": false, "dir": false, "absent": false,
	} {
		src, err := source.Below(root, path)
		if err == nil {
			var got *source.Fetched
			if got, err = (source.Fetch{Class: failure.Input}).Get(context.Background(), src); err == nil {
				var b bytes.Buffer
				if _, err := b.ReadFrom(got.File); err != nil || b.String() != "good" {
					t.Errorf("%s: read %q, %v", path, b.String(), err)
				}
				if got.Path != "" {
					t.Errorf("%s: has the path %s, which could be opened without its root", path, got.Path)
				}
				got.File.Close()
			}
		}
		if (err == nil) != good {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestLocalFileIsUsedWhereItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	write(t, path, "the key")
	for name, tc := range map[string]struct {
		f    source.Fetch
		want error
	}{
		"as it is":     {source.Fetch{}, nil},
		"right digest": {source.Fetch{Digest: sha([]byte("the key")), SizeBytes: 7}, nil},
		"wrong digest": {source.Fetch{Digest: sha([]byte("a key"))}, source.ErrDigest},
		"wrong size":   {source.Fetch{SizeBytes: 8}, source.ErrSize},
		"too large":    {source.Fetch{MaxBytes: 6}, source.ErrSize},
	} {
		tc.f.Class = failure.Key
		got, err := tc.f.Get(context.Background(), source.File(path))
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			if failure.ClassOf(err) != failure.Key {
				t.Errorf("%s: class %s", name, failure.ClassOf(err))
			}
			continue
		}
		got.File.Close()
		if got.Path != path || got.Size != 7 || got.Transferred != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	_, err := source.Fetch{Class: failure.Key}.Get(context.Background(), source.File(path+"x"))
	if !errors.Is(err, source.ErrAbsent) || failure.ClassOf(err) != failure.Key {
		t.Errorf("absent: %v", err)
	}
}

func TestParseDigest(t *testing.T) {
	hex64 := "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"
	for in, good := range map[string]bool{
		"": true, "sha256:" + hex64: true, "SHA256:" + hex64: true, "blake2b-512:" + hex64 + hex64: true,
		hex64: false, "sha256:" + hex64[1:]: false, "blake2b-512:" + hex64: false, "md5:00": false, "sha256:" + hex64[1:] + "g": false,
	} {
		if _, err := source.ParseDigest(in); (err == nil) != good {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// The digests of "abc" are those that sha256sum and b2sum of coreutils print.
func TestHasher(t *testing.T) {
	for _, want := range []source.Digest{
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"blake2b-512:ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
	} {
		h := source.NewHasher(want)
		h.Write([]byte("ab"))
		if err := h.Check(); !errors.Is(err, source.ErrDigest) {
			t.Errorf("of ab: %v", err)
		}
		h.Write([]byte("c"))
		if err := h.Check(); err != nil {
			t.Error(err)
		}
	}
}
