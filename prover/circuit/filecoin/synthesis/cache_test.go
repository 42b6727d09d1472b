package synthesis

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// The digests that are known are those of what is recorded; a long test hashes all of them.
func TestKnownDigests(t *testing.T) {
	for _, d := range digests {
		shape := d.circuit.Shape(d.size)
		if d.circuit == filecoin.WinningPoSt && d.size != 2*kib || d.size == 2*kib && d.circuit == filecoin.WindowPoSt || long() {
			digest, err := recorded(shape).Digest(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(digest[:]); got != d.digest {
				t.Errorf("%s %s: digest %s, want %s", d.circuit, d.size, got, d.digest)
			}
		}
		digest, known := Digest(shape)
		if got := hex.EncodeToString(digest[:]); !known || got != d.digest {
			t.Errorf("%s %s: digest %s is known, want %s", d.circuit, d.size, got, d.digest)
		}
	}
	if _, known := Digest(filecoin.PoStShape{Sector: 2 * kib, Slots: 1, Challenges: 1}); known {
		t.Error("the digest of a test's shape is known")
	}
	if one, two := filecoin.PoRepShapeOf(2*kib), filecoin.PoRepTestShape; !sameCircuit(one, two) {
		t.Error("the circuit depends on the number of partitions")
	}
}

func TestConstraintsAreKept(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "constraints")
	shape := filecoin.WinningPoStShape(2 * kib)
	want := recorded(shape)
	load := func() *structure.Structure {
		s, err := Load(t.Context(), folder, shape, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if diff := cmp.Diff(want, load()); diff != "" {
		t.Errorf("recorded constraints differ:\n%s", diff)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder has %d files (%v), want 1", len(files), err)
	}
	name := filepath.Join(folder, files[0].Name())
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, load()); diff != "" {
		t.Errorf("kept constraints differ:\n%s", diff)
	}
	// A byte that changed, anywhere, is noticed, and the file written again.
	for _, at := range []int{0, 40, 70, 100, len(data) / 2, len(data) - 1} {
		damaged := append([]byte(nil), data...)
		damaged[at] ^= 4
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		digest, _ := Digest(shape)
		if _, err := structure.Parse(damaged, digest); err == nil {
			t.Errorf("a change of byte %d went unnoticed", at)
		}
		if diff := cmp.Diff(want, load()); diff != "" {
			t.Errorf("constraints differ after byte %d changed:\n%s", at, diff)
		}
		if again, err := os.ReadFile(name); err != nil || string(again) != string(data) {
			t.Errorf("the file is not as it was: %v", err)
		}
	}
}

// A cache that cannot be used costs time, and nothing else.
func TestLoadsWithoutItsCache(t *testing.T) {
	shape := filecoin.WinningPoStShape(2 * kib)
	noFolder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(noFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	digest, _ := Digest(shape)
	unreadable := t.TempDir()
	if err := os.MkdirAll(filepath.Join(unreadable, hex.EncodeToString(digest[:])+".constraints", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, folder := range map[string]string{"no folder": noFolder, "a folder in place of the file": unreadable} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s, err := Load(t.Context(), folder, shape, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(recorded(shape), s); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), ".constraints") {
				t.Errorf("the log says: %s", log.String())
			}
		})
	}
	if left, err := os.ReadDir(unreadable); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %d files (%v)", len(left), err)
	}
}
