package cpu

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	circuit "github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams/generate"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// hexBytes is bytes in hex.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// filecoinCase is what the reference implementation says of one of its proofs.
type filecoinCase struct {
	RegisteredPoSt string        `json:"registered_post_proof"`
	ProverID       filecoinNode  `json:"prover_id"`
	Randomness     filecoinNode  `json:"randomness"`
	CommROld       *filecoinNode `json:"comm_r_old"`
	CommRNew       *filecoinNode `json:"comm_r_new"`
	CommDNew       *filecoinNode `json:"comm_d_new"`
	Sectors        []struct {
		ID    uint64       `json:"sector_id"`
		CommR filecoinNode `json:"comm_r"`
	} `json:"sectors"`
	Groth16 struct {
		Partitions []filecoinPartition `json:"partitions"`
	} `json:"groth16"`
}

// filecoinPartition has the quotient's digest and the sums that a proof is made of.
type filecoinPartition struct {
	H struct {
		Count  int    `json:"count"`
		Digest string `json:"sha256"`
	} `json:"h"`
	Sums struct {
		H       hexBytes `json:"h_g1"`
		L       hexBytes `json:"l_g1"`
		AInputs hexBytes `json:"a_inputs_g1"`
		AAux    hexBytes `json:"a_aux_g1"`
		B1      hexBytes `json:"b_g1"`
		B2      hexBytes `json:"b_g2"`
	} `json:"sums"`
}

type filecoinNode filecoin.Node

func (n *filecoinNode) UnmarshalText(text []byte) error {
	parsed, err := filecoin.ParseNode(string(text))
	*n = filecoinNode(parsed)
	return err
}

func (n *filecoinNode) node() *filecoin.Node { return (*filecoin.Node)(n) }

func caseFile(t *testing.T, name string) []byte { return fixture.Read(t, "filecoin", "cases", name) }

// read reads the input of a case.
func (c *filecoinCase) read(t *testing.T, name string) (*job.Job, error) {
	switch {
	case len(c.Sectors) > 0:
		return c.readPoSt(t, name)
	case c.CommROld != nil:
		registered := filecoin.UpdateProof(0)
		in := []job.Piece{{Name: name, Data: caseFile(t, name+".vanilla-p0.bincode")}}
		return job.ReadSnap(t.Context(), in, job.Snap{Proof: &registered,
			CommROld: c.CommROld.node(), CommRNew: c.CommRNew.node(), CommDNew: c.CommDNew.node()})
	}
	in := job.Piece{Name: name, Data: caseFile(t, name+".c1.commit2in.json")}
	return job.ReadPoRep(t.Context(), in, job.PoRep{Prover: filecoin.Node(c.ProverID)})
}

func (c *filecoinCase) readPoSt(t *testing.T, name string) (*job.Job, error) {
	s := &post.Statement{Randomness: filecoin.Node(c.Randomness), Shape: filecoin.PoStShape{Sector: filecoin.Sector2KiB, Slots: 1, Challenges: 1}}
	if c.RegisteredPoSt != "" { // all but the smallest
		p, err := filecoin.ParsePoStProof(c.RegisteredPoSt)
		if err != nil {
			return nil, err
		}
		if err := s.Register(p); err != nil {
			return nil, err
		}
	}
	var in []job.Piece
	for _, sector := range c.Sectors {
		s.Sectors = append(s.Sectors, post.Sector{ID: sector.ID, CommR: filecoin.Node(sector.CommR)})
		file := fmt.Sprintf("%s.vanilla-%d.bincode", name, sector.ID)
		in = append(in, job.Piece{Name: file, Data: caseFile(t, file)})
	}
	return job.ReadPoSt(t.Context(), in, s)
}

// The quotient and every sum of a proof are those of the reference, before anything is blinded.
func TestQuotientAndSumsAreTheReferences(t *testing.T) {
	for _, c := range []struct {
		name, params string
		// files are those of the partitions' vectors.
		files []string
		long  bool
	}{
		{"post-tiny", "post_tiny", []string{"post-tiny"}, false},
		{"window-v1-2sectors", "window_2KiB", []string{"window-v1-2sectors"}, false},
		{"window-v1_2-3sectors", "window_2KiB", []string{"window-v1_2-3sectors-p0", "window-v1_2-3sectors-p1"}, false},
		{"winning", "winning_2KiB", []string{"winning"}, true},
		{"snap", "snap_2KiB", []string{"snap"}, true},
		{"porep-v1_1", "porep_2KiB", []string{"porep-v1_1"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && os.Getenv("CUZK_TEST_LONG") == "" {
				t.Skip("takes minutes: set CUZK_TEST_LONG=1")
			}
			var want filecoinCase
			if err := json.Unmarshal(caseFile(t, c.name+".json"), &want); err != nil {
				t.Fatal(err)
			}
			j, err := want.read(t, c.name)
			if err != nil {
				t.Fatal(err)
			}
			s := synthesis.Record(j.Shape)
			b, key := loadFilecoin(t, s, c.params)
			for k := range want.Groth16.Partitions {
				w, _, err := j.Assign(t.Context(), s, k)
				if err != nil {
					t.Fatal(err)
				}
				evaluated, err := synthesis.Compress(t.Context(), s, w)
				if err != nil {
					t.Fatal(err)
				}
				compareSums(t, b, key, evaluated.Evaluated, c.files[k], &want.Groth16.Partitions[k])
				evaluated.Free()
				w.Free()
			}
		})
	}
}

// loadFilecoin makes the parameters that the reference made, of the same secret.
func loadFilecoin(t *testing.T, s *circuit.Structure, params string) (*Backend, *provingKey) {
	t.Helper()
	m, err := s.Matrices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, err := generate.New(t.Context(), m, filecoinSecret(t, params))
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := made.WriteParams(t.Context(), &data, nil); err != nil {
		t.Fatal(err)
	}
	file, err := filparams.Parse(params, data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	source, err := file.For(synthesis.Circuit(s))
	if err != nil {
		t.Fatal(err)
	}
	b := New(Config{})
	key, err := b.LoadKey(t.Context(), source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = key.Close() })
	return b, key.(*provingKey)
}

func filecoinSecret(t *testing.T, params string) *generate.Secret {
	t.Helper()
	var file struct {
		Setup map[string]string `json:"setup"`
	}
	if err := json.Unmarshal(fixture.Read(t, "filecoin", "params", params+".json"), &file); err != nil {
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
			t.Fatalf("%s of %s: %v", field, params, err)
		}
	}
	return s
}

// compareSums makes a proof up to the sums.
func compareSums(t *testing.T, b *Backend, key *provingKey, a groth16.Assignment, files string, want *filecoinPartition) {
	t.Helper()
	ctx := t.Context()
	p := &proof{key: key, assignment: a, tasks: b.tasks, observer: observer{to: stage.Nop{}}}
	defer p.free()
	for _, step := range []func() error{
		func() error { return p.prepare(ctx) },
		func() error { return p.addOnes(ctx) },
		func() error { return p.divide(ctx) },
		func() error { compareQuotient(t, p.scalars, files, want); return nil },
		func() error { return p.multiplyQuotient(ctx) },
		func() error { return p.addOthers(ctx) },
		func() error { return p.b2.addOthers(ctx, p.witness, p.tasks, p.observer.step(1)) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	for _, sum := range []struct {
		name string
		got  []byte
		want hexBytes
	}{
		{"H", p.h.affine(), want.Sums.H}, {"L", p.l.sum.affine(), want.Sums.L}, {"B1", p.b1.sum.affine(), want.Sums.B1}, {"B2", p.b2.sum.affine(), want.Sums.B2},
		{"A", p.a.sum.affine(), addG1(t, want.Sums.AInputs, want.Sums.AAux)},
	} {
		got := encodeUncompressed(sum.got)
		if !bytes.Equal(got, sum.want) {
			t.Errorf("%s: the sum over %s is\n%x, want\n%x", files, sum.name, got, []byte(sum.want))
		}
	}
}

// compareQuotient compares block by block.
func compareQuotient(t *testing.T, h []curve.Scalar, files string, want *filecoinPartition) {
	t.Helper()
	chunks := caseFile(t, files+".h.chunks")
	whole := sha256.New()
	const block = 4096
	for start := 0; start < len(h); start += block {
		part := sha256.New()
		for _, x := range h[start:min(start+block, len(h))] {
			n := filecoin.NodeOf(fr.Element(x))
			part.Write(n[:])
			whole.Write(n[:])
		}
		if len(chunks) < sha256.Size || !bytes.Equal(part.Sum(nil), chunks[:sha256.Size]) {
			t.Errorf("%s: the quotient differs between coefficients %d and %d", files, start, start+block)
			return
		}
		chunks = chunks[sha256.Size:]
	}
	if got := hex.EncodeToString(whole.Sum(nil)); len(h) != want.H.Count || len(chunks) > 0 || got != want.H.Digest {
		t.Errorf("%s: a quotient of %d coefficients, digest %s; want %d, %s", files, len(h), got, want.H.Count, want.H.Digest)
	}
}

// encodeUncompressed writes a point as parameter files hold it.
func encodeUncompressed(raw []byte) []byte {
	if len(raw) == bls12381.SizeOfG1AffineUncompressed {
		return curve.BLS12381.EncodeG1(raw, false)
	}
	return curve.BLS12381.EncodeG2(raw, false)
}

// addG1 adds two points that are written out.
func addG1(t *testing.T, x, y []byte) []byte {
	t.Helper()
	var p, q bls12381.G1Affine
	for _, c := range []struct {
		to   *bls12381.G1Affine
		from []byte
	}{{&p, x}, {&q, y}} {
		if _, err := c.to.SetBytes(c.from); err != nil {
			t.Fatal(fmt.Errorf("a sum of the reference: %w", err))
		}
	}
	p.Add(&p, &q)
	b := p.RawBytes()
	return b[:]
}
