package golden

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams/generate"
)

// Params makes a parameter file that the reference has made, of the same secret, and its verifying key.
func Params(t testing.TB, name string, shape filecoin.Shape) (params, vk []byte) {
	t.Helper()
	m, err := synthesis.Record(shape).Matrices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := generate.New(t.Context(), m, Secret(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.WriteParams(t.Context(), &out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), fixture.Read(t, "filecoin", "params", name+".vk")
}

// Secret is the toxic waste of a file that the reference made.
func Secret(t testing.TB, name string) *generate.Secret {
	t.Helper()
	var file struct {
		Setup map[string]string `json:"setup"`
	}
	if err := json.Unmarshal(fixture.Read(t, "filecoin", "params", name+".json"), &file); err != nil {
		t.Fatal(err)
	}
	s := &generate.Secret{}
	for field, set := range map[string]func([]byte) error{
		"alpha_be": s.Alpha.SetBytesCanonical, "beta_be": s.Beta.SetBytesCanonical, "gamma_be": s.Gamma.SetBytesCanonical,
		"delta_be": s.Delta.SetBytesCanonical, "tau_be": s.Tau.SetBytesCanonical,
		"g1_uncompressed": func(b []byte) error { _, err := s.G1.SetBytes(b); return err },
		"g2_uncompressed": func(b []byte) error { _, err := s.G2.SetBytes(b); return err },
	} {
		b, err := hex.DecodeString(file.Setup[field])
		if err == nil {
			err = set(b)
		}
		if err != nil {
			t.Fatalf("%s of %s: %v", field, name, err)
		}
	}
	return s
}

// Blinding is r and s of a proof, as the reader that draws them would give them: r first, 32 bytes each.
func (c *Case) Blinding(proof int) []byte {
	var out []byte
	for _, p := range c.Groth16.Partitions {
		for _, n := range []Node{p.Proofs[proof].R, p.Proofs[proof].S} {
			e, _ := filecoin.Node(n).Element()
			b := e.Bytes()
			out = append(out, b[:]...)
		}
	}
	return out
}
