package poseidon

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// Matrix is square, by rows.
type Matrix [][]fr.Element

func newMatrix(n int) Matrix {
	m := make(Matrix, n)
	for i := range m {
		m[i] = make([]fr.Element, n)
	}
	return m
}

// cauchy is the matrix of the linear layer: 1/(i + n + j).
func cauchy(n int) Matrix {
	m := newMatrix(n)
	for i := range n {
		for j := range n {
			m[i][j].SetUint64(uint64(i + n + j))
			m[i][j].Inverse(&m[i][j])
		}
	}
	return m
}

// row is the product of a row vector with m, in out; v and out must not overlap.
func (m Matrix) row(v, out []fr.Element) {
	var t fr.Element
	for j := range out {
		out[j].Mul(&v[0], &m[0][j])
	}
	for i := 1; i < len(v); i++ {
		row := m[i]
		for j := range out {
			out[j].Add(&out[j], t.Mul(&v[i], &row[j]))
		}
	}
}

func (m Matrix) times(other Matrix) Matrix {
	out := newMatrix(len(m))
	for i := range m {
		other.row(m[i], out[i])
	}
	return out
}

// inverse is by Gauss and Jordan. All matrices inverted here are submatrices of products of Cauchy matrices and regular.
func (m Matrix) inverse() Matrix {
	n := len(m)
	left, right := newMatrix(n), newMatrix(n)
	for i := range m {
		copy(left[i], m[i])
		right[i][i].SetOne()
	}
	var t fr.Element
	for c := range n {
		pivot := c
		for left[pivot][c].IsZero() {
			pivot++
		}
		left[c], left[pivot] = left[pivot], left[c]
		right[c], right[pivot] = right[pivot], right[c]
		var scale fr.Element
		scale.Inverse(&left[c][c])
		for j := range n {
			left[c][j].Mul(&left[c][j], &scale)
			right[c][j].Mul(&right[c][j], &scale)
		}
		for i := range n {
			if i == c || left[i][c].IsZero() {
				continue
			}
			factor := left[i][c]
			for j := range n {
				left[i][j].Sub(&left[i][j], t.Mul(&factor, &left[c][j]))
				right[i][j].Sub(&right[i][j], t.Mul(&factor, &right[c][j]))
			}
		}
	}
	return right
}

// Sparse is a matrix that differs from the identity only in its first column and its first row.
type Sparse struct {
	// Column is the first column: entry 0 is the corner.
	Column []fr.Element
	// Row is the first row without the corner.
	Row []fr.Element
}

// factor writes m as sparse·prime, where prime has an identity corner, and returns both: the linear layer of a partial
// round needs only the sparse factor, since the S-box of that round touches element 0 alone and prime can be moved
// through it into the layer before.
func (m Matrix) factor() (sparse Sparse, prime Matrix) {
	n := len(m)
	hat := newMatrix(n - 1)
	w := make([]fr.Element, n-1)
	prime = newMatrix(n)
	prime[0][0].SetOne()
	for i := 1; i < n; i++ {
		w[i-1] = m[i][0]
		copy(hat[i-1], m[i][1:])
		copy(prime[i][1:], m[i][1:])
	}
	column := make([]fr.Element, n)
	column[0] = m[0][0]
	hat.inverse().row(w, column[1:])
	return Sparse{Column: column, Row: append([]fr.Element(nil), m[0][1:]...)}, prime
}
