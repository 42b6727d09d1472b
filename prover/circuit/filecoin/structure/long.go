package structure

import (
	"math/bits"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// wide is the sum of up to 2^64 elements' limbs, not reduced.
type wide [5]uint64

func (x *wide) add(c *curve.Scalar) {
	var carry uint64
	x[0], carry = bits.Add64(x[0], c[0], 0)
	x[1], carry = bits.Add64(x[1], c[1], carry)
	x[2], carry = bits.Add64(x[2], c[2], carry)
	x[3], carry = bits.Add64(x[3], c[3], carry)
	x[4] += carry
}

// reduce is the element that a sum of elements' limbs is: the fifth limb counts 2^256, which is what Montgomery form
// multiplies by.
func (x *wide) reduce() fr.Element {
	low := fr.Element{x[0], x[1], x[2], x[3]}
	for !curve.BLS12381.IsCanonical(curve.Scalar(low)) {
		low = subtractModulus(low)
	}
	if x[4] != 0 {
		var high fr.Element
		high.SetUint64(x[4])
		low.Add(&low, &high)
	}
	return low
}

func subtractModulus(e fr.Element) fr.Element {
	var borrow uint64
	for i := range e {
		e[i], borrow = bits.Sub64(e[i], modulus[i], borrow)
	}
	return e
}

var modulus = curve.ScalarFromBig(fr.Modulus())

// evaluateLong computes the long rows of a matrix in a tile.
func (t *tile) evaluateLong(matrix int, exact bool, coefficients []curve.Scalar) {
	template := t.section.Template
	rows, out := &template.Long[matrix], &t.long[matrix]
	first := rows.find(t.start)
	end := rows.find(t.start + t.rows)
	out.rows = rows.Row[first:end]
	out.values = slices.Grow(out.values[:0], len(out.rows)*t.copies)[:len(out.rows)*t.copies]
	unit := Small(template.oneSlot()<<3 | 1)
	results := template.Long[2].find(t.start)
	for i, row := range out.rows {
		values := out.values[i*t.copies:][:t.copies]
		if matrix != 0 || exact || template.Products[row].B != unit {
			t.sumLong(rows, first+i, coefficients, values)
			continue
		}
		long := &template.Long[2]
		for results < len(long.Row) && long.Row[results] < row {
			results++
		}
		if results < len(long.Row) && long.Row[results] == row {
			t.sumLong(long, results, coefficients, values)
		} else {
			t.smallResult(row, values)
		}
	}
}

// find is the position of the first long row that is not before a row.
func (l *LongRows) find(row int) int {
	i, _ := slices.BinarySearch(l.Row, uint32(row))
	return i
}

// smallResult writes C of a row that is small in it.
func (t *tile) smallResult(row uint32, out []fr.Element) {
	c := t.sum(t.section.Template.Sums[row][:])
	for q := range out {
		out[q] = smallValues[digit(&c, q)]
	}
}

// sumLong computes a long row of a matrix, copy by copy.
func (t *tile) sumLong(rows *LongRows, i int, coefficients []curve.Scalar, out []fr.Element) {
	start, split, end := rows.Start[i], rows.Split[i], rows.Start[i+1]
	t.sumBits(rows.Slot[start:split], rows.Coefficient[start:split], coefficients, out)
	t.addFull(rows.Slot[split:end], rows.Coefficient[split:end], coefficients, out)
}

// sumBits sums up the coefficients of the bits that are set, copy by copy.
func (t *tile) sumBits(slots []uint32, numbers []uint16, coefficients []curve.Scalar, out []fr.Element) {
	if len(slots) == 0 {
		clear(out)
		return
	}
	var sums [groupSize]wide
	valid := uint32(1<<t.copies - 1)
	for j, slot := range slots {
		c := &coefficients[numbers[j]]
		for set := t.slices[slot] & valid; set != 0; set &= set - 1 {
			sums[firstBit(set)].add(c)
		}
	}
	for q := range out {
		out[q] = sums[q].reduce()
	}
}

// addFull adds the products of elements with their coefficients, copy by copy.
func (t *tile) addFull(slots []uint32, numbers []uint16, coefficients []curve.Scalar, out []fr.Element) {
	for q := range out {
		var product fr.Element
		values, sum := t.full[q], &out[q]
		for j, slot := range slots {
			switch c := Coefficient(numbers[j]); c {
			case Plus:
				sum.Add(sum, &values[slot])
			case Minus:
				sum.Sub(sum, &values[slot])
			default:
				product.Mul(&values[slot], (*fr.Element)(&coefficients[c]))
				sum.Add(sum, &product)
			}
		}
	}
}

func firstBit(x uint32) int { return bits.TrailingZeros32(x) }
