package simulated

import (
	"encoding/binary"
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// FilecoinKey is a verifying key on BLS12-381 with its trapdoor, in the form of Filecoin's parameters.
type FilecoinKey struct {
	alpha, beta, gamma, delta fr.Element
	ic                        []fr.Element
}

// NewFilecoinKey makes a key for a number of public inputs.
func NewFilecoinKey(public int) *FilecoinKey {
	k := &FilecoinKey{ic: make([]fr.Element, public+1)}
	for _, e := range []*fr.Element{&k.alpha, &k.beta, &k.gamma, &k.delta} {
		drawBLS(e)
	}
	for i := range k.ic {
		drawBLS(&k.ic[i])
	}
	return k
}

func drawBLS(e *fr.Element) {
	for {
		if _, err := e.SetRandom(); err != nil {
			panic(err) // the machine's randomness
		}
		if !e.IsZero() {
			return
		}
	}
}

// VerifyingKey is a .vk file: α in G1, β in both groups, γ in G2, δ in both groups, and the points of the public inputs,
// uncompressed.
func (k *FilecoinKey) VerifyingKey() []byte {
	out := append(raw1(&k.alpha), raw1(&k.beta)...)
	out = append(out, raw2(&k.beta)...)
	out = append(out, raw2(&k.gamma)...)
	out = append(out, raw1(&k.delta)...)
	out = append(out, raw2(&k.delta)...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(k.ic)))
	for i := range k.ic {
		out = append(out, raw1(&k.ic[i])...)
	}
	return out
}

// Proof is a partition's 192 bytes, of the statement with these public inputs; no two are equal.
func (k *FilecoinKey) Proof(public ...fr.Element) []byte {
	// As in Key.Proof: C = [(ab − αβ − ic·γ) / δ].
	var a, b, c, t fr.Element
	drawBLS(&a)
	drawBLS(&b)
	ic := k.ic[0]
	for i := range public {
		t.Mul(&public[i], &k.ic[i+1])
		ic.Add(&ic, &t)
	}
	c.Mul(&a, &b)
	t.Mul(&k.alpha, &k.beta)
	c.Sub(&c, &t)
	t.Mul(&ic, &k.gamma)
	c.Sub(&c, &t)
	c.Div(&c, &k.delta)
	pa, pb, pc := point1(&a).Bytes(), point2(&b).Bytes(), point1(&c).Bytes()
	return append(append(append([]byte(nil), pa[:]...), pb[:]...), pc[:]...)
}

func raw1(s *fr.Element) []byte {
	b := point1(s).RawBytes()
	return b[:]
}

func raw2(s *fr.Element) []byte {
	b := point2(s).RawBytes()
	return b[:]
}

func point1(s *fr.Element) *bls12381.G1Affine {
	return new(bls12381.G1Affine).ScalarMultiplicationBase(s.BigInt(new(big.Int)))
}

func point2(s *fr.Element) *bls12381.G2Affine {
	return new(bls12381.G2Affine).ScalarMultiplicationBase(s.BigInt(new(big.Int)))
}
