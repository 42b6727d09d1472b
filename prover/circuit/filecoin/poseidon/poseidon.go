// Package poseidon is the Poseidon hash of Filecoin over the scalar field of BLS12-381: its constants, derived from nothing
// but the field, width and numbers of rounds, and the hash in the form that the circuits constrain, with every intermediate
// value that they allocate. Elements are in Montgomery form.
package poseidon

import (
	"fmt"
	"math/big"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// fullRounds is the number of full rounds, half before and half after the partial ones.
const fullRounds, half = 8, 4

// partialRounds by arity, for 128 bits of security.
var partialRounds = map[int]int{2: 55, 4: 56, 8: 57, 11: 57, 16: 59, 24: 59, 36: 60}

// Params are the constants of one arity, in the optimised form: rounds are compressed so that a partial round adds one
// constant, and multiplies by a matrix that differs from the identity in its first row and column only.
type Params struct {
	Arity, PartialRounds int
	// RoundConstants are the compressed constants in the order of use: Width before the first round; Width after each of
	// the first four; one after each partial round; Width after each of the next three. The last round adds none.
	RoundConstants []fr.Element
	// MDS mixes the full rounds but the fourth, which PreSparse mixes; Sparse mixes the partial ones, in order. A state is
	// a row vector, multiplied from the left.
	MDS, PreSparse Matrix
	Sparse         []Sparse
}

// Matrix is a square matrix by rows.
type Matrix [][]fr.Element

// Sparse is the matrix with Column as first column, Row as the first row behind its corner, and ones on the diagonal.
type Sparse struct {
	Column []fr.Element // Width elements, the corner first
	Row    []fr.Element // Width-1 elements
}

var cache sync.Map // arity to func() *Params

// For returns the constants of an arity: 2, 4, 8, 11, 16, 24 or 36. They are derived on first use and must not be changed.
func For(arity int) *Params {
	partial, ok := partialRounds[arity]
	if !ok {
		panic(fmt.Sprintf("no Poseidon of arity %d", arity))
	}
	derive, _ := cache.LoadOrStore(arity, sync.OnceValue(func() *Params { return derive(arity, partial) }))
	return derive.(func() *Params)()
}

// Width is the number of elements of the state: the domain tag and the inputs.
func (p *Params) Width() int { return p.Arity + 1 }

// TreeTag is the domain tag of a Merkle tree's nodes, 2^arity - 1.
func TreeTag(arity int) fr.Element {
	return fromBig(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(arity)), big.NewInt(1)))
}

// CustomTag is the domain tag of an application's own hash, id·2^40.
func CustomTag(id uint64) fr.Element {
	return fromBig(new(big.Int).Lsh(new(big.Int).SetUint64(id), 40))
}

func fromBig(x *big.Int) fr.Element {
	var e fr.Element
	e.SetBigInt(x)
	return e
}
