package filparams

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/crypto/blake2b"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// digestChars is how much of BLAKE2b-512, in hex, names a parameter file.
const digestChars = 32

// digestStep is how much of a file is hashed between looks at the context.
const digestStep = 8 << 20

// Digest is the digest by which Filecoin knows parameter files, .params and .vk alike: the first 128 bits of BLAKE2b-512,
// in hex. It reads the whole file, on one core, unless cache remembers it; a nil cache remembers nothing. tell, if not nil,
// is told of the bytes read.
func Digest(ctx context.Context, path string, cache *DigestCache, tell progress.Func) (string, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if known, ok := cache.find(file); ok {
		return known, nil
	}
	h, err := blake2b.New512(nil)
	if err != nil {
		return "", err
	}
	read := progress.Count(file.Size(), tell)
	for rest := file.Bytes(); len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return "", failure.New(failure.Interrupted, "%w", err)
		}
		step := rest[:min(len(rest), digestStep)]
		if err := mapped.Guard(func() error { h.Write(step); return nil }); err != nil {
			return "", failure.InFile(err, path)
		}
		rest = rest[len(step):]
		read.Add(len(step))
	}
	digest := hex.EncodeToString(h.Sum(nil))[:digestChars]
	cache.remember(file, digest)
	return digest, nil
}

// DigestCache remembers digests of files in a folder, by path, size and time of modification. A file that is changed
// without a trace in those is not found out; whoever mistrusts the disk asks without a cache.
type DigestCache struct{ folder string }

// NewDigestCache remembers in a folder, which is made when there is something to remember.
func NewDigestCache(folder string) *DigestCache { return &DigestCache{folder: folder} }

// entry is the file in the cache that stands for a file in its present state.
func (c *DigestCache) entry(file *mapped.File) (string, error) {
	path, err := filepath.Abs(file.Name())
	if err != nil {
		return "", err
	}
	state := fmt.Sprintf("%s\n%d\n%d", path, file.Size(), file.ModTime().UnixNano())
	name := blake2b.Sum256([]byte(state))
	return filepath.Join(c.folder, hex.EncodeToString(name[:])+".blake2b"), nil
}

func (c *DigestCache) find(file *mapped.File) (string, bool) {
	if c == nil {
		return "", false
	}
	entry, err := c.entry(file)
	if err != nil {
		return "", false
	}
	digest, err := os.ReadFile(entry)
	if err != nil || len(digest) != digestChars {
		return "", false
	}
	return string(digest), true
}

// remember keeps a digest; what cannot be kept is computed again.
func (c *DigestCache) remember(file *mapped.File, digest string) {
	if c == nil || os.MkdirAll(c.folder, 0o755) != nil {
		return
	}
	entry, err := c.entry(file)
	if err != nil {
		return
	}
	unfinished, err := os.CreateTemp(c.folder, "unfinished-*")
	if err != nil {
		return
	}
	_, err = unfinished.WriteString(digest)
	if closed := unfinished.Close(); err != nil || closed != nil || os.Rename(unfinished.Name(), entry) != nil {
		os.Remove(unfinished.Name())
	}
}
