package gnark

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
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

// The circuits of the end-to-end tests.
func TestCircuitsOfTheRepository(t *testing.T) {
	for name, good := range map[string][]string{"merkle": {"witness-1.bin", "witness-2.bin"}, "age": {"witness-1.bin"}} {
		t.Run(name, func(t *testing.T) {
			s := &setup{id: curve.BN254, folder: filepath.Join("..", "..", "..", "test", "circuits", "gnark", name)}
			o, err := tryOpen(t, s.id, s.path("ccs.bin"), s.path("pk.bin"), s.path("witness-wrong.bin"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.solver.Solve(t.Context(), o.witness)
			if e := failureThat(t, err, failure.Input, "witness-wrong.bin"); e.Constraint < 0 {
				t.Errorf("%v does not name a constraint", err)
			}
			for _, file := range good {
				w, err := OpenWitness(t.Context(), s.path(file), s.id)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				a, err := o.solver.Solve(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				again := open(t, &setup{id: s.id, folder: s.folder, witnessFile: file}, Options{})
				if err := cuzk.Verify(ownKey(t, s), again.prove(t, a), a.Public, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
