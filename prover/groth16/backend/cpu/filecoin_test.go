package cpu

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// readFilecoin reads the input of a case.
func readFilecoin(t *testing.T, c *golden.Case) (*job.Job, error) {
	switch {
	case len(c.Sectors) > 0:
		return readPoSt(t, c)
	case c.CommROld != golden.Node{}:
		registered := filecoin.UpdateProof(0)
		old, updated, data := filecoin.Node(c.CommROld), filecoin.Node(c.CommRNew), filecoin.Node(c.CommDNew)
		in := []job.Piece{{Name: c.Name, Data: golden.File(t, c.Name+".vanilla-p0.bincode")}}
		return job.ReadSnap(t.Context(), in, job.Snap{Proof: &registered, CommROld: &old, CommRNew: &updated, CommDNew: &data})
	}
	in := job.Piece{Name: c.Name, Data: golden.File(t, c.Name+".c1.commit2in.json")}
	return job.ReadPoRep(t.Context(), in, job.PoRep{Prover: filecoin.Node(c.ProverID)})
}

func readPoSt(t *testing.T, c *golden.Case) (*job.Job, error) {
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
		file := fmt.Sprintf("%s.vanilla-%d.bincode", c.Name, sector.ID)
		in = append(in, job.Piece{Name: file, Data: golden.File(t, file)})
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
			want := golden.Read(t, c.name)
			j, err := readFilecoin(t, want)
			if err != nil {
				t.Fatal(err)
			}
			s := synthesis.Record(j.Shape)
			b, key := loadFilecoin(t, j, s, c.params)
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
func loadFilecoin(t *testing.T, j *job.Job, s *circuit.Structure, params string) (*Backend, *provingKey) {
	t.Helper()
	data, _ := golden.Params(t, params, j.Shape)
	file, err := filparams.Parse(params, data)
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

// compareSums makes a proof up to the sums.
func compareSums(t *testing.T, b *Backend, key *provingKey, a groth16.Assignment, files string, want *golden.Partition) {
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
		want golden.Hex
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
func compareQuotient(t *testing.T, h []curve.Scalar, files string, want *golden.Partition) {
	t.Helper()
	chunks := golden.File(t, files+".h.chunks")
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
