package main

import (
	"bytes"
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254"
)

// affine is what the vectors need of a group of gnark-crypto.
type affine[T any] interface {
	*T
	Add(a, b *T) *T
	Neg(a *T) *T
	ScalarMultiplication(a *T, s *big.Int) *T
}

func writeGroups(b *bytes.Buffer) {
	_, _, bls1, bls2 := bls12381.Generators()
	_, _, bn1, bn2 := bn254.Generators()
	table(b, "kBls12381G1", "", 12, [][][]uint64{groupRows(bls1)})
	table(b, "kBls12381G2", "", 24, [][][]uint64{groupRows(bls2)})
	table(b, "kBn254G1", "", 8, [][][]uint64{groupRows(bn1)})
	table(b, "kBn254G2", "", 16, [][][]uint64{groupRows(bn2)})
}

func groupRows[T any, A affine[T]](generator T) [][]uint64 {
	const count = 6
	var points [count]T // the first stays infinity
	A(&points[1]).ScalarMultiplication(&generator, big.NewInt(0x123456789abcdef))
	A(&points[2]).Neg(&points[1])
	points[3] = generator
	A(&points[4]).Add(&generator, &generator)
	A(&points[5]).ScalarMultiplication(&generator, new(big.Int).Lsh(big.NewInt(0xfedcba987654321), 180))
	var rows [][]uint64
	for i := range points {
		rows = append(rows, words(points[i]))
	}
	for i := range points {
		for j := i; j < count; j++ {
			var sum T
			A(&sum).Add(&points[i], &points[j])
			rows = append(rows, words(sum))
		}
	}
	return rows
}
