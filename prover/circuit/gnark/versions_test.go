package gnark

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	cuzk "github.com/cuzk-dev/cuzk/prover/groth16"
)

// The files in testdata are circuits of circuits_test.go, compiled and set up by earlier versions of gnark in a program
// of package main: testdata/gnark-<version>/<curve>/<circuit>/{ccs,pk,vk,witness}.bin. Hints of the standard library and
// the tags of blueprints must still mean the same.
func TestFilesOfEarlierVersions(t *testing.T) {
	folders, err := filepath.Glob("testdata/gnark-*/*/*")
	if err != nil || len(folders) != 14 {
		t.Fatalf("%d folders (%v), want 14", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			parts := strings.Split(filepath.ToSlash(folder), "/")
			id, err := curve.Parse(parts[2])
			if err != nil {
				t.Fatal(err)
			}
			s := &setup{id: id, folder: folder}
			o := open(t, s, Options{})
			if got, want := o.system.Version, strings.TrimPrefix(parts[1], "gnark-"); got != want || o.system.Curve != id {
				t.Errorf("version %s on %s, want %s on %s", got, o.system.Curve, want, id)
			}
			a, err := o.solver.Solve(t.Context(), o.witness)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if err := cuzk.Verify(ownKey(t, s), o.prove(t, a), a.Public, ""); err != nil {
				t.Error(err)
			}
		})
	}
}
