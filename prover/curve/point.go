package curve

import (
	"bytes"
	"fmt"
	"math/big"
	"unsafe"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
)

// encoded is what gnark-crypto's affine points have in common, in both groups and on every curve.
type encoded[P any] interface {
	*P
	// SetBytes decodes gnark's binary form, compressed or not, and checks curve and subgroup.
	SetBytes(buf []byte) (int, error)
	// Marshal encodes gnark's binary form, not compressed.
	Marshal() []byte
}

// Load copies raw limbs, of any alignment, into a gnark-crypto point. raw must hold at least one point.
func Load[P any](raw []byte) P {
	var p P
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&p)), unsafe.Sizeof(p)), raw)
	return p
}

// Store copies a gnark-crypto point into fresh raw limbs.
func Store[P any](p *P) []byte {
	return bytes.Clone(unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p)))
}

// Coordinates reads raw limbs (G1 or G2) as canonical integers: x, y, or x.c0, x.c1, y.c0, y.c1.
func (c ID) Coordinates(raw []byte) []*big.Int {
	size := c.BaseBytes()
	out := make([]*big.Int, len(raw)/size)
	for i := range out {
		coordinate := raw[i*size : (i+1)*size]
		switch c {
		case BN254:
			e := Load[bn254fp.Element](coordinate)
			out[i] = e.BigInt(new(big.Int))
		case BLS12381:
			e := Load[bls12381fp.Element](coordinate)
			out[i] = e.BigInt(new(big.Int))
		}
	}
	return out
}

// FromCoordinates is the inverse of Coordinates. Each coordinate must be in [0, p); the point is not checked further.
func (c ID) FromCoordinates(coordinates ...*big.Int) ([]byte, error) {
	out := make([]byte, 0, len(coordinates)*c.BaseBytes())
	for _, x := range coordinates {
		if x.Sign() < 0 || x.Cmp(c.BaseModulus()) >= 0 {
			return nil, ErrNotReduced
		}
		switch c {
		case BN254:
			var e bn254fp.Element
			out = append(out, Store(e.SetBigInt(x))...)
		case BLS12381:
			var e bls12381fp.Element
			out = append(out, Store(e.SetBigInt(x))...)
		}
	}
	return out, nil
}

// EncodeG1 writes a point in gnark's binary form: big-endian, with Zcash's flags on BLS12-381 and gnark's own two-bit
// flags on BN254.
func (c ID) EncodeG1(p G1, compressed bool) []byte {
	switch c {
	case BN254:
		a := Load[bn254.G1Affine](p)
		if compressed {
			b := a.Bytes()
			return b[:]
		}
		return a.Marshal()
	case BLS12381:
		a := Load[bls12381.G1Affine](p)
		if compressed {
			b := a.Bytes()
			return b[:]
		}
		return a.Marshal()
	}
	return nil
}

// EncodeG2 is EncodeG1 for G2.
func (c ID) EncodeG2(p G2, compressed bool) []byte {
	switch c {
	case BN254:
		a := Load[bn254.G2Affine](p)
		if compressed {
			b := a.Bytes()
			return b[:]
		}
		return a.Marshal()
	case BLS12381:
		a := Load[bls12381.G2Affine](p)
		if compressed {
			b := a.Bytes()
			return b[:]
		}
		return a.Marshal()
	}
	return nil
}

// DecodeG1 reads one point in gnark's binary form from the front of buf, compressed or not as its flag bits say, checks
// that it is in the subgroup, and returns it with the number of bytes read.
func (c ID) DecodeG1(buf []byte) (G1, int, error) {
	switch c {
	case BN254:
		return decode[bn254.G1Affine](buf)
	case BLS12381:
		return decode[bls12381.G1Affine](buf)
	}
	return nil, 0, unknown(c)
}

// DecodeG2 is DecodeG1 for G2.
func (c ID) DecodeG2(buf []byte) (G2, int, error) {
	switch c {
	case BN254:
		return decode[bn254.G2Affine](buf)
	case BLS12381:
		return decode[bls12381.G2Affine](buf)
	}
	return nil, 0, unknown(c)
}

func unknown(c ID) error { return fmt.Errorf("unknown curve %q", string(c)) }

func decode[P any, PP encoded[P]](buf []byte) ([]byte, int, error) {
	var p P
	compressed := int(unsafe.Sizeof(p)) / 2
	if len(buf) < compressed {
		return nil, 0, fmt.Errorf("%w: a point has at least %d bytes, %d are left", ErrLength, compressed, len(buf))
	}
	n, err := PP(&p).SetBytes(buf)
	if err != nil {
		return nil, 0, err
	}
	return Store(&p), n, nil
}

// IsCompressed reports whether the flag bits of a point's first byte, in gnark's binary form, say that it is compressed.
func (c ID) IsCompressed(first byte) bool {
	if c == BLS12381 {
		return first&0x80 != 0
	}
	return first&0xc0 != 0
}
