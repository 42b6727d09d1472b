package generate_test

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams/generate"
)

// references are the files that the reference generated, the large ones only in the long suite.
var references = []struct {
	name  string
	shape filecoin.Shape
	long  bool
}{
	{"post_tiny", filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 1, Challenges: 1}, false},
	{"window_2KiB", filecoin.WindowPoStShape(filecoin.Sector2KiB), false},
	{"snap_poseidon_2KiB", filecoin.SnapShapeOf(filecoin.Sector2KiB, true), false},
	{"winning_2KiB", filecoin.WinningPoStShape(filecoin.Sector2KiB), false},
	{"snap_2KiB", filecoin.SnapShapeOf(filecoin.Sector2KiB, false), true},
	{"porep_2KiB", filecoin.PoRepShapeOf(filecoin.Sector2KiB), true},
}

// longEnv asks for the large files too, which take minutes and gigabytes: `make test-filecoin-long` does.
const longEnv = "CUZK_TEST_LONG"

// Whole files are those of the reference, byte for byte.
func TestFilesOfTheReference(t *testing.T) {
	r := csv.NewReader(strings.NewReader(string(fixture.Read(t, "filecoin", "params", "PARAMS.tsv"))))
	r.Comma, r.Comment = '\t', '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for _, row := range rows {
		digests[row[0]] = row[3]
	}
	for _, c := range references {
		t.Run(c.name, func(t *testing.T) {
			if c.long && os.Getenv(longEnv) == "" {
				t.Skipf("takes minutes: set %s=1", longEnv)
			}
			m, err := synthesis.Record(c.shape).Matrices(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p, err := generate.New(t.Context(), m, golden.Secret(t, c.name))
			if err != nil {
				t.Fatal(err)
			}
			var vk bytes.Buffer
			if err := p.WriteVerifyingKey(t.Context(), &vk); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(vk.Bytes(), fixture.Read(t, "filecoin", "params", c.name+".vk")) {
				t.Error("the verifying key is another")
			}
			h, err := blake2b.New512(nil)
			if err != nil {
				t.Fatal(err)
			}
			var size counter
			if err := p.WriteParams(t.Context(), io.MultiWriter(h, &size), nil); err != nil {
				t.Fatal(err)
			}
			if want := filparams.CircuitOf(m).Lengths().ParamsBytes(); int64(size) != want {
				t.Errorf("%d bytes, the circuit's lengths make %d", size, want)
			}
			if got := hex.EncodeToString(h.Sum(nil)); got != digests[c.name] {
				t.Errorf("digest %s, want %s", got, digests[c.name])
			}
		})
	}
}

// counter counts bytes.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
