package mapped

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

func TestOpenMapsTheWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !bytes.Equal(f.Bytes(), want) || f.Size() != int64(len(want)) {
		t.Errorf("mapped %d bytes that differ from the %d written", f.Size(), len(want))
	}
}

func TestOpenEmptyMissingAndDirectory(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(empty)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Bytes()) != 0 {
		t.Errorf("an empty file has %d bytes", len(f.Bytes()))
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for _, path := range []string{filepath.Join(dir, "missing"), dir} {
		_, err := Open(path)
		var e *failure.Error
		if !errors.As(err, &e) || e.File != path || e.Class != failure.Usage {
			t.Errorf("Open(%q) = %v; want a usage error that names the file", path, err)
		}
	}
}

func TestGuardTurnsAShrunkFileIntoAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1}, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !f.Mapped() {
		t.Skip("this platform reads files instead of mapping them")
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	sum := 0
	err = Guard(func() error {
		for _, b := range f.Bytes() {
			sum += int(b)
		}
		return nil
	})
	if failure.ClassOf(err) != failure.IO {
		t.Errorf("reading a file that shrank gave %v after a sum of %d; want an IO error", err, sum)
	}
}

func TestGuardPassesErrorsAndOtherPanics(t *testing.T) {
	want := errors.New("mine")
	if err := Guard(func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	defer func() {
		if r := recover(); r != "mine" {
			t.Errorf("recovered %v, want the panic to pass", r)
		}
	}()
	_ = Guard(func() error { panic("mine") })
}
