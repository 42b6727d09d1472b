package zkey_test

import (
	"encoding/binary"
	"math/big"
	"slices"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// tiny is a key of a circuit with wires 0 to 3, of which wire 1 is public, on a domain of 4: the least that has
// something in each section. It proves nothing, for all its points are generators.
type tiny struct {
	id                    curve.ID
	version, protocol     uint32
	wires, public, domain uint32
	coefficients          []coefficient
	order                 []uint32
}

type coefficient struct {
	matrix, row, wire uint32
	value             int64
}

func newTiny(id curve.ID) *tiny {
	return &tiny{id: id, version: 1, protocol: 1, wires: 4, public: 1, domain: 4,
		coefficients: []coefficient{{0, 0, 2, 1}, {1, 0, 3, -1}, {0, 1, 0, 1}, {0, 2, 1, 1}},
		order:        []uint32{1, 2, 4, 3, 9, 8, 5, 6, 7}}
}

func (k *tiny) g1() []byte {
	_, _, bn, _ := bn254.Generators()
	_, _, bls, _ := bls12381.Generators()
	if k.id == curve.BN254 {
		return curve.Store(&bn)
	}
	return curve.Store(&bls)
}

func (k *tiny) g2() []byte {
	_, _, _, bn := bn254.Generators()
	_, _, _, bls := bls12381.Generators()
	if k.id == curve.BN254 {
		return curve.Store(&bn)
	}
	return curve.Store(&bls)
}

func number(x *big.Int, size int) []byte {
	b := x.FillBytes(make([]byte, size))
	slices.Reverse(b)
	return b
}

func words(ns ...uint32) []byte {
	var out []byte
	for _, n := range ns {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out
}

// section writes a section as snarkjs does.
func (k *tiny) section(id uint32) []byte {
	g1 := func(n uint32) []byte { return slices.Repeat(k.g1(), int(n)) }
	switch id {
	case 1:
		return words(k.protocol)
	case 2:
		size := k.id.BaseBytes()
		return slices.Concat(words(uint32(size)), number(k.id.BaseModulus(), size), words(32), number(k.id.ScalarModulus(), 32),
			words(k.wires, k.public, k.domain), g1(2), k.g2(), k.g2(), g1(1), k.g2())
	case 3:
		return g1(k.public + 1)
	case 4:
		out := words(uint32(len(k.coefficients)))
		for _, c := range k.coefficients {
			value := new(big.Int).Lsh(big.NewInt(c.value), 512)
			out = slices.Concat(out, words(c.matrix, c.row, c.wire), number(value.Mod(value, k.id.ScalarModulus()), 32))
		}
		return out
	case 5, 6:
		return g1(k.wires)
	case 7:
		return slices.Repeat(k.g2(), int(k.wires))
	case 8:
		return g1(k.wires - k.public - 1)
	case 9:
		return g1(k.domain)
	}
	return []byte("of no kind that is known")
}

func (k *tiny) bytes() []byte {
	out := slices.Concat([]byte("zkey"), words(k.version, uint32(len(k.order))))
	for _, id := range k.order {
		s := k.section(id)
		out = slices.Concat(out, words(id), binary.LittleEndian.AppendUint64(nil, uint64(len(s))), s)
	}
	return out
}
