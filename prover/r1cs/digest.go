package r1cs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// digestMagic begins what is hashed; it changes with the serialisation.
const digestMagic = "cuzk r1cs 1\n"

// rowsPerDigest is the number of rows that are hashed together. It is part of the serialisation.
const rowsPerDigest = 1 << 16

// Digest identifies a constraint system: equal for equal matrices, however their entries are ordered within a row and
// whatever the dictionary's order.
//
// It is the SHA-256 of: the 12 bytes "cuzk r1cs 1\n"; the curve's name and a zero byte; wires, public inputs and
// constraints, 64 bits each; one byte, 1 if there is a C; then for each matrix in the order A, B, C the SHA-256 of each
// block of 65,536 rows (the last may be shorter). A block is its rows one after the other; a row is the number of its
// entries, 32 bits, then for each entry the wire, 32 bits, and the coefficient, canonical, 256 bits. Entries are in
// ascending order of wires, those of one wire are added up, and zeros are left out. All numbers are little-endian.
func (m *Matrices) Digest(ctx context.Context) ([sha256.Size]byte, error) {
	h := sha256.New()
	h.Write([]byte(digestMagic))
	h.Write(append([]byte(m.Curve), 0))
	var counts []byte
	for _, n := range []int{m.Wires, m.Public, m.Constraints} {
		counts = binary.LittleEndian.AppendUint64(counts, uint64(n))
	}
	hasC := byte(0)
	if m.C != nil {
		hasC = 1
	}
	h.Write(append(counts, hasC))
	canonical := m.canonicalCoefficients()
	blocks := (m.Constraints + rowsPerDigest - 1) / rowsPerDigest
	for _, x := range []*Matrix{m.A, m.B, m.C} {
		if x == nil {
			continue
		}
		digests := make([][sha256.Size]byte, blocks)
		err := parallel.Ranges(ctx, blocks, 1, func(block, _ int) error {
			h := sha256.New()
			row := canonicalRow{curve: m.Curve, coefficients: canonical}
			for i := block * rowsPerDigest; i < min((block+1)*rowsPerDigest, m.Constraints); i++ {
				h.Write(row.serialise(x, i))
			}
			h.Sum(digests[block][:0])
			return nil
		})
		if err != nil {
			return [sha256.Size]byte{}, err
		}
		for i := range digests {
			h.Write(digests[i][:])
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// FirstDifferentRow compares the first rows of A and B of two systems and returns the number of the first in which they
// differ as Digest sees it, or -1. Rows beyond a system's end count as different.
func (m *Matrices) FirstDifferentRow(ctx context.Context, other *Matrices, rows int) (int, error) {
	if m.Curve != other.Curve {
		return 0, nil
	}
	common := min(rows, m.Constraints, other.Constraints)
	mine, theirs := m.canonicalCoefficients(), other.canonicalCoefficients()
	first := make([]int, (common+rowsPerStep-1)/rowsPerStep)
	err := parallel.Ranges(ctx, common, rowsPerStep, func(start, end int) error {
		first[start/rowsPerStep] = -1
		a := canonicalRow{curve: m.Curve, coefficients: mine}
		b := canonicalRow{curve: m.Curve, coefficients: theirs}
		for i := start; i < end; i++ {
			if !slices.Equal(a.serialise(m.A, i), b.serialise(other.A, i)) ||
				!slices.Equal(a.serialise(m.B, i), b.serialise(other.B, i)) {
				first[start/rowsPerStep] = i
				break
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, i := range first {
		if i >= 0 {
			return i, nil
		}
	}
	if common < rows {
		return common, nil
	}
	return -1, nil
}

func (m *Matrices) canonicalCoefficients() []curve.Scalar {
	canonical := slices.Clone(m.Coefficients)
	m.Curve.FromMontgomery(canonical)
	return canonical
}

// canonicalRow serialises rows as Digest describes; its memory is used again for every row.
type canonicalRow struct {
	curve        curve.ID
	coefficients []curve.Scalar
	terms        []term
	out          []byte
}

type term struct {
	wire  uint32
	value curve.Scalar
}

func (r *canonicalRow) serialise(x *Matrix, i int) []byte {
	wires, coefficients := x.Row(i)
	r.terms = r.terms[:0]
	sorted := true
	for j, wire := range wires {
		sorted = sorted && (j == 0 || wires[j-1] < wire)
		r.terms = append(r.terms, term{wire, r.coefficients[coefficients[j]]})
	}
	if !sorted {
		r.merge()
	}
	r.terms = slices.DeleteFunc(r.terms, func(t term) bool { return t.value == curve.Scalar{} })
	r.out = binary.LittleEndian.AppendUint32(r.out[:0], uint32(len(r.terms)))
	for _, t := range r.terms {
		r.out = binary.LittleEndian.AppendUint32(r.out, t.wire)
		for _, limb := range t.value {
			r.out = binary.LittleEndian.AppendUint64(r.out, limb)
		}
	}
	return r.out
}

// merge sorts the terms and adds up those of one wire.
func (r *canonicalRow) merge() {
	slices.SortStableFunc(r.terms, func(a, b term) int { return cmp.Compare(a.wire, b.wire) })
	kept := 0
	for _, t := range r.terms[1:] {
		if last := &r.terms[kept]; last.wire == t.wire {
			sum := new(big.Int).Add(curve.ScalarToBig(last.value), curve.ScalarToBig(t.value))
			last.value = curve.ScalarFromBig(sum.Mod(sum, r.curve.ScalarModulus()))
			continue
		}
		kept++
		r.terms[kept] = t
	}
	r.terms = r.terms[:kept+1]
}
