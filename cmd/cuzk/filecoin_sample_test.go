package main_test

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/worker/statement"
)

// filecoinSample reads the key and the job of a sample.
func filecoinSample(t *testing.T, file string) (key v1alpha1.ProvingKey, job v1alpha1.ProofJob) {
	t.Helper()
	documents := bytes.Split(read(t, file), []byte("\n---\n"))
	if len(documents) != 2 {
		t.Fatalf("%s holds %d documents, want a key and a job", file, len(documents))
	}
	for i, to := range []any{&key, &job} {
		if err := yaml.UnmarshalStrict(documents[i], to); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return key, job
}

// The samples state proofs that there are, with the parameters of their circuits.
func TestFilecoinSamples(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/filecoin/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range files {
		key, job := filecoinSample(t, file)
		s, err := statement.Of(&job.Spec.Circuit)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if diff := cmp.Diff(s.Shape.ParameterName()+".params", path.Base(string(key.Spec.Files.ProvingKey.PersistentVolumeClaim.Path))); diff != "" {
			t.Errorf("%s: the key's file (-want +got):\n%s", file, diff)
		}
		if job.Spec.ProvingKeyRef.Name != key.Name {
			t.Errorf("%s: the job names another key", file)
		}
	}
}

// The sample that is there to be tried states what the command in it makes.
func TestFilecoinSampleIsFabricated(t *testing.T) {
	_, job := filecoinSample(t, "../../config/samples/filecoin/window-post-2kib.yaml")
	var made struct {
		RegisteredProof, Randomness string
		Sectors                     []v1alpha1.FilecoinSector
	}
	r := succeed(t, t.TempDir(), "fabricate", "window-post", "--sector-size", "2KiB", "--sectors", "3", "--output", "json", "window")
	if err := json.Unmarshal([]byte(r.stdout), &made); err != nil {
		t.Fatal(err)
	}
	want := &v1alpha1.FilecoinWindowPoStCircuit{RegisteredProof: made.RegisteredProof, Randomness: v1alpha1.Bytes32(made.Randomness), Sectors: made.Sectors}
	if diff := cmp.Diff(want, job.Spec.Circuit.FilecoinWindowPoSt); diff != "" {
		t.Errorf("(-fabricated +sample):\n%s", diff)
	}
}
