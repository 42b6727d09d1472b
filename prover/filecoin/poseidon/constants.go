package poseidon

import (
	"fmt"
	"slices"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// FullRounds is the number of rounds in which every element passes the S-box, half of them before the partial rounds.
const FullRounds = 8

const halfRounds = FullRounds / 2

// partialRounds by arity.
var partialRounds = map[int]int{2: 55, 4: 56, 8: 57, 11: 57, 16: 59, 24: 59, 36: 60}

// Constants are those of one arity, in the form that needs the fewest multiplications of elements, on which the circuit is
// built: round constants moved across the linear layers, and the linear layers of partial rounds as sparse matrices.
type Constants struct {
	// Arity is the number of inputs, Width that of the state: one more.
	Arity, Width int
	// PartialRounds is the number of rounds in which only element 0 passes the S-box.
	PartialRounds int
	// Round has Width constants to be added before the first S-boxes, Width for each of the other full rounds before the
	// last, in order of use, and one for each partial round.
	Round []fr.Element
	// MDS is the linear layer of full rounds (symmetric), PreSparse that of the last full round before the partial ones.
	MDS, PreSparse Matrix
	// Sparse are the linear layers of the partial rounds.
	Sparse []Sparse

	linear linear
}

var constants = func() map[int]func() *Constants {
	m := make(map[int]func() *Constants, len(partialRounds))
	for arity, rounds := range partialRounds {
		m[arity] = sync.OnceValue(func() *Constants { return derive(arity, rounds) })
	}
	return m
}()

// Of returns the constants of an arity: 2, 4, 8, 11, 16, 24 or 36; another is a defect of the caller. They are derived on
// first use and must not be changed.
func Of(arity int) *Constants {
	of, ok := constants[arity]
	if !ok {
		panic(fmt.Sprintf("poseidon: no constants for arity %d", arity))
	}
	return of()
}

func derive(arity, partial int) *Constants {
	width := arity + 1
	c := &Constants{Arity: arity, Width: width, PartialRounds: partial, MDS: cauchy(width), linear: newLinear(width, partial)}
	g := newGrain(width, FullRounds, partial)
	rounds := make([][]fr.Element, FullRounds+partial)
	for r := range rounds {
		rounds[r] = make([]fr.Element, width)
		for i := range rounds[r] {
			rounds[r][i] = g.element()
		}
	}
	c.Round = compress(rounds, c.MDS.inverse(), partial)
	m := c.MDS
	for range partial {
		sparse, prime := m.factor()
		c.Sparse = append(c.Sparse, sparse)
		m = c.MDS.times(prime)
	}
	slices.Reverse(c.Sparse)
	c.PreSparse = m
	return c
}

// compress moves the round constants behind the S-box of the round before, through the inverse of the linear layer. In
// partial rounds all but those of element 0 move on, up to the full rounds.
func compress(rounds [][]fr.Element, inverse Matrix, partial int) []fr.Element {
	width := len(inverse)
	moved := func(k []fr.Element) []fr.Element {
		out := make([]fr.Element, width)
		inverse.row(k, out)
		return out
	}
	out := slices.Clone(rounds[0])
	for r := 1; r < halfRounds; r++ {
		out = append(out, moved(rounds[r])...)
	}
	first := make([]fr.Element, partial) // what stays at element 0, last round first
	carried := rounds[halfRounds+partial]
	for i := range partial {
		q := moved(carried)
		first[i] = q[0]
		q[0].SetZero()
		for j, k := range rounds[halfRounds+partial-1-i] {
			q[j].Add(&q[j], &k)
		}
		carried = q
	}
	out = append(out, moved(carried)...)
	slices.Reverse(first)
	out = append(out, first...)
	for r := 1; r < halfRounds; r++ {
		out = append(out, moved(rounds[halfRounds+partial+r])...)
	}
	return out
}
