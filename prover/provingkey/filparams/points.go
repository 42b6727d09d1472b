package filparams

import (
	"encoding/binary"
	"errors"

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
	for i := range len(dst) / fp.Bytes {
		from := i
		if g2 {
			from ^= 1 // the file has the coordinate's imaginary part first
		}
		var e fp.Element
		if err := e.SetBytesCanonical(src[from*fp.Bytes : (from+1)*fp.Bytes]); err != nil {
			return curve.ErrNotReduced
		}
		for j, limb := range e {
			binary.LittleEndian.PutUint64(dst[i*fp.Bytes+8*j:], limb)
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
