package part

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Toolchain is what of the Go installation a result depends on.
type Toolchain struct {
	Version, OS, Arch string
}

// Digest names the result of building p: it covers the sources, the flags and the toolchain, so an equal digest is an
// equal program. It is 16 hexadecimal digits.
func (p Part) Digest(root string, tc Toolchain) (string, error) {
	h := sha256.New()
	spec, err := json.Marshal(struct {
		Packages, Links map[string]string
		CGO             bool
		Tags, LDFlags   string
		Toolchain       Toolchain
	}{p.Packages, p.Links, p.CGO, p.Tags, p.LDFlags, tc})
	if err != nil {
		return "", err
	}
	h.Write(spec)
	for _, folder := range p.Sources {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil {
			return "", fmt.Errorf("sources of %s: %w", p.Name, err)
		}
		var names []string
		for _, e := range entries {
			n := e.Name()
			source := strings.HasSuffix(n, ".go") && !strings.HasSuffix(n, "_test.go") || n == "go.mod" || n == "go.sum"
			if e.Type().IsRegular() && source {
				names = append(names, n)
			}
		}
		sort.Strings(names)
		for _, n := range names {
			b, err := os.ReadFile(filepath.Join(root, folder, n))
			if err != nil {
				return "", fmt.Errorf("sources of %s: %w", p.Name, err)
			}
			h.Write(fmt.Appendf(nil, "\n%s/%s %d\n", folder, n, len(b)))
			h.Write(b)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
