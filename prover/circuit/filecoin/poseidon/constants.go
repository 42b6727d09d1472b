package poseidon

import (
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

func derive(arity, partial int) *Params {
	p := &Params{Arity: arity, PartialRounds: partial, MDS: mds(arity + 1)}
	p.RoundConstants = compress(roundConstants(arity+1, partial), p.MDS, partial)
	p.PreSparse, p.Sparse = factor(p.MDS, partial)
	return p
}

// mds is the Cauchy matrix 1/(i + width + j), which is symmetric.
func mds(width int) Matrix {
	m := zero(width)
	for i := range m {
		for j := range m[i] {
			m[i][j].SetUint64(uint64(i + width + j))
			m[i][j].Inverse(&m[i][j])
		}
	}
	return m
}

// compress moves each round's constants through the mixing before them: full rounds then add theirs before they mix, and
// of a partial round all but the first element move on to the round before.
func compress(rounds [][]fr.Element, m Matrix, partial int) []fr.Element {
	inverse := m.inverse()
	out := slices.Clone(rounds[0])
	for _, constants := range rounds[1:half] {
		out = append(out, inverse.times(constants)...)
	}
	kept := make([]fr.Element, partial)
	accumulated := rounds[half+partial]
	for i := range partial {
		moved := inverse.times(accumulated)
		kept[partial-1-i] = moved[0]
		moved[0].SetZero()
		accumulated = add(rounds[half+partial-1-i], moved)
	}
	out = append(out, inverse.times(accumulated)...)
	out = append(out, kept...)
	for _, constants := range rounds[half+partial+1:] {
		out = append(out, inverse.times(constants)...)
	}
	return out
}

// factor writes the mixing of the partial rounds as one dense matrix before them and a sparse one in each.
func factor(m Matrix, partial int) (Matrix, []Sparse) {
	current := m
	sparse := make([]Sparse, partial)
	for i := range partial {
		minor := zero(len(m) - 1)
		column := make([]fr.Element, len(m)-1)
		for j := range minor {
			copy(minor[j], current[j+1][1:])
			column[j] = current[j+1][0]
		}
		sparse[partial-1-i] = Sparse{
			Column: append([]fr.Element{current[0][0]}, minor.inverse().times(column)...),
			Row:    slices.Clone(current[0][1:]),
		}
		bordered := zero(len(m))
		bordered[0][0].SetOne()
		for j := range minor {
			copy(bordered[j+1][1:], minor[j])
		}
		current = m.multiply(bordered)
	}
	return current, sparse
}

func zero(n int) Matrix {
	m := make(Matrix, n)
	for i := range m {
		m[i] = make([]fr.Element, n)
	}
	return m
}

func add(a, b []fr.Element) []fr.Element {
	sum := make([]fr.Element, len(a))
	for i := range sum {
		sum[i].Add(&a[i], &b[i])
	}
	return sum
}

// times is the row vector v·m.
func (m Matrix) times(v []fr.Element) []fr.Element {
	out := make([]fr.Element, len(m))
	m.mix(v, out)
	return out
}

// mix writes v·m to out.
func (m Matrix) mix(v, out []fr.Element) {
	var product fr.Element
	clear(out)
	for i := range v {
		for j := range out {
			product.Mul(&v[i], &m[i][j])
			out[j].Add(&out[j], &product)
		}
	}
}

func (m Matrix) multiply(n Matrix) Matrix {
	out := make(Matrix, len(m))
	for i := range out {
		out[i] = n.times(m[i])
	}
	return out
}

// inverse is computed by elimination; m must be invertible, as the minors of a Cauchy matrix's powers are.
func (m Matrix) inverse() Matrix {
	n := len(m)
	left, right := zero(n), zero(n)
	for i := range m {
		copy(left[i], m[i])
		right[i][i].SetOne()
	}
	for i := range n {
		pivot := i
		for left[pivot][i].IsZero() {
			pivot++
		}
		left[i], left[pivot] = left[pivot], left[i]
		right[i], right[pivot] = right[pivot], right[i]
		var scale fr.Element
		scale.Inverse(&left[i][i])
		scaleRow(left[i], &scale)
		scaleRow(right[i], &scale)
		for j := range n {
			if j != i && !left[j][i].IsZero() {
				factor := left[j][i]
				subtractRow(left[j], left[i], &factor)
				subtractRow(right[j], right[i], &factor)
			}
		}
	}
	return right
}

func scaleRow(row []fr.Element, factor *fr.Element) {
	for i := range row {
		row[i].Mul(&row[i], factor)
	}
}

func subtractRow(row, other []fr.Element, factor *fr.Element) {
	var product fr.Element
	for i := range row {
		product.Mul(&other[i], factor)
		row[i].Sub(&row[i], &product)
	}
}
