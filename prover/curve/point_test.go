package curve_test

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

func randomScalar(rng *rand.Rand, r *big.Int) *big.Int {
	x := new(big.Int)
	for range 5 {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
	}
	return x.Mod(x, r)
}

func TestScalarsHaveTheLimbsOfGnarkCrypto(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, id := range curve.All {
		r := id.ScalarModulus()
		values := []*big.Int{big.NewInt(0), big.NewInt(1), new(big.Int).Sub(r, big.NewInt(1))}
		for range 50 {
			values = append(values, randomScalar(rng, r))
		}
		var scalars []curve.Scalar
		for _, x := range values {
			s := curve.ScalarFromBig(x)
			if !id.IsCanonical(s) || curve.ScalarToBig(s).Cmp(x) != 0 {
				t.Errorf("%s: %s does not survive its limbs", id, x)
			}
			scalars = append(scalars, s)
		}
		montgomery := append([]curve.Scalar(nil), scalars...)
		id.ToMontgomery(montgomery)
		for i, x := range values {
			var want curve.Scalar
			if id == curve.BN254 {
				var e bn254fr.Element
				want = curve.Scalar(*e.SetBigInt(x))
			} else {
				var e bls12381fr.Element
				want = curve.Scalar(*e.SetBigInt(x))
			}
			if montgomery[i] != want {
				t.Errorf("%s: %s in Montgomery form is not what gnark-crypto has", id, x)
			}
		}
		id.FromMontgomery(montgomery)
		for i := range montgomery {
			if montgomery[i] != scalars[i] {
				t.Errorf("%s: %s does not survive Montgomery form", id, values[i])
			}
		}
		for _, x := range []*big.Int{r, new(big.Int).Add(r, big.NewInt(1)), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))} {
			if id.IsCanonical(curve.ScalarFromBig(x)) {
				t.Errorf("%s: %s passes for canonical", id, x)
			}
		}
	}
}

// encodings of one point by gnark-crypto itself.
type encodings struct {
	raw, compressed, uncompressed []byte
	coordinates                   []string
}

func points1(t *testing.T, id curve.ID) (out []encodings) {
	t.Helper()
	_, _, bn, _ := bn254.Generators()
	_, _, bls, _ := bls12381.Generators()
	for k := range int64(20) {
		if id == curve.BN254 {
			var p bn254.G1Affine
			p.ScalarMultiplication(&bn, big.NewInt(k*k*k-5*k))
			c, u := p.Bytes(), p.RawBytes()
			out = append(out, encodings{curve.Store(&p), c[:], u[:], []string{p.X.String(), p.Y.String()}})
			continue
		}
		var p bls12381.G1Affine
		p.ScalarMultiplication(&bls, big.NewInt(k*k*k-5*k))
		c, u := p.Bytes(), p.RawBytes()
		out = append(out, encodings{curve.Store(&p), c[:], u[:], []string{p.X.String(), p.Y.String()}})
	}
	return out
}

func points2(t *testing.T, id curve.ID) (out []encodings) {
	t.Helper()
	_, _, _, bn := bn254.Generators()
	_, _, _, bls := bls12381.Generators()
	for k := range int64(20) {
		if id == curve.BN254 {
			var p bn254.G2Affine
			p.ScalarMultiplication(&bn, big.NewInt(k*k*k-5*k))
			c, u := p.Bytes(), p.RawBytes()
			out = append(out, encodings{curve.Store(&p), c[:], u[:], []string{p.X.A0.String(), p.X.A1.String(), p.Y.A0.String(), p.Y.A1.String()}})
			continue
		}
		var p bls12381.G2Affine
		p.ScalarMultiplication(&bls, big.NewInt(k*k*k-5*k))
		c, u := p.Bytes(), p.RawBytes()
		out = append(out, encodings{curve.Store(&p), c[:], u[:], []string{p.X.A0.String(), p.X.A1.String(), p.Y.A0.String(), p.Y.A1.String()}})
	}
	return out
}

func TestPointsSurviveTheirEncodings(t *testing.T) {
	for _, id := range curve.All {
		for group, test := range map[string]struct {
			points []encodings
			encode func([]byte, bool) []byte
			decode func([]byte) ([]byte, int, error)
			check  func([]byte) error
		}{
			"G1": {points1(t, id), func(p []byte, c bool) []byte { return id.EncodeG1(p, c) },
				func(b []byte) ([]byte, int, error) { return id.DecodeG1(b) }, func(p []byte) error { return id.CheckG1(p) }},
			"G2": {points2(t, id), func(p []byte, c bool) []byte { return id.EncodeG2(p, c) },
				func(b []byte) ([]byte, int, error) { return id.DecodeG2(b) }, func(p []byte) error { return id.CheckG2(p) }},
		} {
			t.Run(string(id)+"/"+group, func(t *testing.T) {
				for i, p := range test.points {
					if err := test.check(p.raw); err != nil {
						t.Errorf("point %d: %v", i, err)
					}
					for _, form := range []struct {
						want       []byte
						compressed bool
					}{{p.compressed, true}, {p.uncompressed, false}} {
						if got := test.encode(p.raw, form.compressed); !bytes.Equal(got, form.want) {
							t.Errorf("point %d, compressed %t: %x, gnark-crypto writes %x", i, form.compressed, got, form.want)
						}
						raw, n, err := test.decode(append(bytes.Clone(form.want), 1, 2, 3))
						if err != nil || n != len(form.want) || !bytes.Equal(raw, p.raw) {
							t.Errorf("point %d, compressed %t: read %d of %d bytes: %v", i, form.compressed, n, len(form.want), err)
						}
						if !curve.IsInfinity(p.raw) && id.IsCompressed(form.want[0]) != form.compressed {
							t.Errorf("point %d: its first byte %#x does not tell that compressed is %t", i, form.want[0], form.compressed)
						}
						for cut := range form.want {
							if _, _, err := test.decode(form.want[:cut]); err == nil {
								t.Errorf("point %d is read from %d of %d bytes", i, cut, len(form.want))
							}
						}
					}
					var coordinates []*big.Int
					for j, c := range id.Coordinates(p.raw) {
						if c.String() != p.coordinates[j] {
							t.Errorf("point %d, coordinate %d: %s, gnark-crypto has %s", i, j, c, p.coordinates[j])
						}
						coordinates = append(coordinates, c)
					}
					if raw, err := id.FromCoordinates(coordinates...); err != nil || !bytes.Equal(raw, p.raw) {
						t.Errorf("point %d does not survive its coordinates: %v", i, err)
					}
				}
			})
		}
		if _, err := id.FromCoordinates(id.BaseModulus()); !errors.Is(err, curve.ErrNotReduced) {
			t.Errorf("%s: p as a coordinate: %v", id, err)
		}
		if _, err := id.FromCoordinates(big.NewInt(-1)); !errors.Is(err, curve.ErrNotReduced) {
			t.Errorf("%s: -1 as a coordinate: %v", id, err)
		}
	}
	if _, _, err := curve.ID("x").DecodeG1(make([]byte, 100)); err == nil {
		t.Error("a point of an unknown curve was read")
	}
}
