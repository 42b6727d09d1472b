package job

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

func TestFolders(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"p10.bin", "p2.bin", "p1.bin", "p01.bin", "a", ".hidden"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, open := range []func() (*Files, error){
		func() (*Files, error) { return OpenFiles(folder) },
		func() (*Files, error) { return OpenFolder(root, "in") },
	} {
		f, err := open()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range f.Pieces {
			got = append(got, string(p.Data))
		}
		if diff := cmp.Diff([]string{"a", "p01.bin", "p1.bin", "p2.bin", "p10.bin"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	for path, want := range map[string]failure.Class{filepath.Join(folder, "absent"): failure.Usage, filepath.Join(folder, "sub"): failure.Input} {
		if _, err := OpenFiles(path); failure.ClassOf(err) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What a folder holds cannot lead out of it.
func TestOpenFolderStaysInside(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(folder, "p1.bin")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := OpenFolder(root, "in"); err == nil || !strings.HasPrefix(err.Error(), "in/p1.bin: ") {
		t.Errorf("a link that leads outside gives %v", err)
	}
}

func TestListsOfVanillaProofs(t *testing.T) {
	for text, want := range map[string]bool{
		`["AAAA"]`: true, " [\n \"\"]": true, "[]": true, `{"a":1}`: false, "": false, "[\x00\x00\x00\x00\x00\x00\x00": false,
	} {
		if got := isList([]byte(text)); got != want {
			t.Errorf("%q is a list: %t", text, got)
		}
	}
	pieces, err := split(Piece{"f", []byte(`["AQI=","Aw=="]`)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Piece{{"f[0]", []byte{1, 2}}, {"f[1]", []byte{3}}}, pieces); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := split(Piece{"f", []byte(`["AQI=","Aw=="]`)}, 1); failure.ClassOf(err) != failure.Input {
		t.Errorf("too many: %v", err)
	}
}
