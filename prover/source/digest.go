package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// Digest is a digest as users write it: "sha256:<64 hex digits>" or "blake2b-512:<128 hex digits>". Empty pins nothing.
type Digest string

// ParseDigest checks the form of a digest and brings it to lower case.
func ParseDigest(s string) (Digest, error) {
	if s == "" {
		return "", nil
	}
	s = strings.ToLower(s)
	algorithm, digits, ok := strings.Cut(s, ":")
	size := map[string]int{"sha256": sha256.Size, "blake2b-512": blake2b.Size}[algorithm]
	if !ok || size == 0 {
		return "", fmt.Errorf("digest %q: write sha256:<64 hex digits> or blake2b-512:<128 hex digits>", s)
	}
	if b, err := hex.DecodeString(digits); err != nil || len(b) != size {
		return "", fmt.Errorf("digest %q: %s takes %d hex digits", s, algorithm, 2*size)
	}
	return Digest(s), nil
}

// Hasher computes SHA-256, and the algorithm of a pinned digest where that is another, in one pass.
type Hasher struct {
	pinned Digest
	sha    hash.Hash
	blake  hash.Hash
}

// NewHasher makes a hasher that can be compared with the pinned digest, which may be empty.
func NewHasher(pinned Digest) *Hasher {
	h := &Hasher{pinned: pinned, sha: sha256.New()}
	if strings.HasPrefix(string(pinned), "blake2b-512:") {
		h.blake, _ = blake2b.New512(nil) // fails only with a key
	}
	return h
}

// Write never fails.
func (h *Hasher) Write(p []byte) (int, error) {
	h.sha.Write(p)
	if h.blake != nil {
		h.blake.Write(p)
	}
	return len(p), nil
}

// Reset forgets what was written.
func (h *Hasher) Reset() {
	h.sha.Reset()
	if h.blake != nil {
		h.blake.Reset()
	}
}

// SHA256 is the digest of what was written so far.
func (h *Hasher) SHA256() [32]byte { return [32]byte(h.sha.Sum(nil)) }

// Digest is what was written so far by the named algorithm, "sha256" or "blake2b-512"; empty if that is not computed.
func (h *Hasher) Digest(algorithm string) Digest {
	switch {
	case algorithm == "sha256":
		return Digest("sha256:" + hex.EncodeToString(h.sha.Sum(nil)))
	case algorithm == "blake2b-512" && h.blake != nil:
		return Digest("blake2b-512:" + hex.EncodeToString(h.blake.Sum(nil)))
	}
	return ""
}

// Check compares what was written with the pinned digest; the error wraps ErrDigest and shows both.
func (h *Hasher) Check() error {
	if h.pinned == "" {
		return nil
	}
	algorithm, _, _ := strings.Cut(string(h.pinned), ":")
	got := h.Digest(algorithm)
	if got != h.pinned {
		return fmt.Errorf("%w: content has %s, %s is expected", ErrDigest, got, h.pinned)
	}
	return nil
}
