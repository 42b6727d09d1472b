//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// cuzk runs the command line and returns what it prints.
func cuzk(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "cuzk"), args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cuzk %q: %v\n%s", args, err, stderr.Bytes())
	}
	return out
}

// parametersFolder holds the parameters that this run of the tests has generated. Whoever names one by
// CUZK_E2E_PARAMETERS finds them there for the next run; those of the large circuits take minutes.
var parametersFolder = os.Getenv("CUZK_E2E_PARAMETERS")

// dropParameters removes parameters that nobody wants to keep.
func dropParameters() {
	if os.Getenv("CUZK_E2E_PARAMETERS") == "" && parametersFolder != "" {
		_ = os.RemoveAll(parametersFolder)
	}
}

// parameters is a circuit's parameter file for sectors of 2 KiB, which is generated once. Its .vk lies beside it.
func parameters(t *testing.T, circuit string) string {
	t.Helper()
	if parametersFolder == "" {
		var err error
		if parametersFolder, err = os.MkdirTemp("", "cuzk-e2e-parameters-"); err != nil {
			t.Fatal(err)
		}
	}
	var name struct{ Params string }
	decode(t, cuzk(t, "params", "derive-name", circuit, "--sector-size", "2KiB", "--output", "json"), &name)
	path := filepath.Join(parametersFolder, name.Params)
	if _, err := os.Stat(path); err != nil {
		cuzk(t, "params", "generate", circuit, "--sector-size", "2KiB", "--params-dir", parametersFolder, "--insecure-known-secret", "e2e")
	}
	return path
}

func decode(t *testing.T, data []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
}

// fabrication is an input that was made without sealing, and what it is about.
type fabrication struct {
	RegisteredProof string
	Sectors         []struct {
		SectorNumber int64
		CommR        string
	}
	Ticket, Seed, Randomness     string
	CommD, CommR                 string
	CommROld, CommRNew, CommDNew string
	Files                        []string

	// inputs are the files that are proved: without the list of sectors.
	inputs []string
}

// fabricate makes an input of sectors of 2 KiB.
func fabricate(t *testing.T, circuit string, flags ...string) *fabrication {
	t.Helper()
	f := &fabrication{}
	args := []string{"fabricate", circuit, "--sector-size", "2KiB", "--output", "json", filepath.Join(t.TempDir(), "input")}
	decode(t, cuzk(t, append(args, flags...)...), f)
	f.inputs = slices.DeleteFunc(slices.Clone(f.Files), func(path string) bool { return filepath.Base(path) == "sectors.json" })
	return f
}

// file is one of the files by its name.
func (f *fabrication) file(name string) string {
	return filepath.Join(filepath.Dir(f.Files[0]), name)
}

func (f *fabrication) sectors() []v1alpha1.FilecoinSector {
	var out []v1alpha1.FilecoinSector
	for _, s := range f.Sectors {
		out = append(out, v1alpha1.FilecoinSector{SectorNumber: ptr.To(s.SectorNumber), CommR: v1alpha1.SealedCommitment(s.CommR)})
	}
	return out
}

// update is the circuit of an update.
func (f *fabrication) update(shape v1alpha1.FilecoinShape) v1alpha1.Circuit {
	return v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinSnapDeals, FilecoinSnapDeals: &v1alpha1.FilecoinSnapDealsCircuit{
		RegisteredProof: f.RegisteredProof, Shape: shape, CommROld: v1alpha1.SealedCommitment(f.CommROld),
		CommRNew: v1alpha1.SealedCommitment(f.CommRNew), CommDNew: v1alpha1.UnsealedCommitment(f.CommDNew),
	}}
}
