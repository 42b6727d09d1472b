package filparams

import (
	"errors"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// flags of the first byte of a point: compressed, infinity, sign. An uncompressed point that is not infinity has none.
const flags = 0xe0

var (
	errFlags    = errors.New("the point is marked as compressed or as infinity, where parameters hold neither")
	errInfinity = errors.New("the point is the point at infinity")
)

// convert brings one point of the file into raw limbs. It checks that coordinates are below the prime, nothing more.
func convert(dst, src []byte, g2 bool) error {
	if src[0]&flags != 0 {
		return errFlags
	}
	if g2 {
		var p bls12381.G2Affine
		if err := readCoordinates(src, &p.X.A1, &p.X.A0, &p.Y.A1, &p.Y.A0); err != nil {
			return err
		}
		copy(dst, curve.Store(&p))
		return nil
	}
	var p bls12381.G1Affine
	if err := readCoordinates(src, &p.X, &p.Y); err != nil {
		return err
	}
	copy(dst, curve.Store(&p))
	return nil
}

func readCoordinates(src []byte, coordinates ...*fp.Element) error {
	for i, c := range coordinates {
		if err := c.SetBytesCanonical(src[i*fp.Bytes : (i+1)*fp.Bytes]); err != nil {
			return curve.ErrNotReduced
		}
	}
	return nil
}

// raw is a single point of the file, in the subgroup and not infinity.
func (s *section) raw(i int) ([]byte, error) {
	size := s.pointBytes()
	out := make([]byte, size)
	if err := convert(out, s.data[i*size:(i+1)*size], s.g2); err != nil {
		return nil, s.errorf(i, "%w", err).WithFix("%s", fetchAgain)
	}
	check := id.CheckG1(out)
	if s.g2 {
		check = id.CheckG2(out)
	}
	if check == nil && curve.IsInfinity(out) {
		check = errInfinity
	}
	if check != nil {
		return nil, s.errorf(i, "%w", check).WithFix("%s", fetchAgain)
	}
	return out, nil
}
