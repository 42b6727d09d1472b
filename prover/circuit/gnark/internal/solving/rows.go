package solving

import (
	"unsafe"

	"github.com/consensys/gnark/constraint"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// elements and scalars look at the same memory as gnark-crypto's elements or as limbs: both are four 64-bit limbs in
// Montgomery form.
func elements[E ~[4]uint64](s []curve.Scalar) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func scalars[E ~[4]uint64](e []E) []curve.Scalar {
	return unsafe.Slice((*curve.Scalar)(unsafe.Pointer(unsafe.SliceData(e))), len(e))
}

// element is gnark-crypto's fr.Element of either curve.
type element[E any] interface {
	*E
	Add(x, y *E) *E
	Sub(x, y *E) *E
	Mul(x, y *E) *E
	Equal(x *E) bool
}

// evaluateRows computes a = A·w, b = B·w and c = C·w. It returns the first row where a·b is not c, or -1; the rows after
// it are not computed.
func evaluateRows[E ~[4]uint64, P element[E]](rows constraint.R1CIterator, coefficients, w, a, b, c []E) int {
	expression := func(l constraint.LinearExpression) (sum E) {
		for _, t := range l {
			if t.IsConstant() {
				P(&sum).Add(&sum, &coefficients[t.CID])
				continue
			}
			switch t.CID {
			case constraint.CoeffIdZero:
			case constraint.CoeffIdOne:
				P(&sum).Add(&sum, &w[t.VID])
			case constraint.CoeffIdMinusOne:
				P(&sum).Sub(&sum, &w[t.VID])
			default:
				var product E
				P(&product).Mul(&coefficients[t.CID], &w[t.VID])
				P(&sum).Add(&sum, &product)
			}
		}
		return sum
	}
	// Rows come in the order of the instructions, each for the next constraint.
	for i := range a {
		row := rows.Next()
		if row == nil {
			return i
		}
		a[i], b[i], c[i] = expression(row.L), expression(row.R), expression(row.O)
		var product E
		if P(&product).Mul(&a[i], &b[i]); !P(&product).Equal(&c[i]) {
			return i
		}
	}
	return -1
}

// scalarsOf looks at mapped memory, which is aligned, as limbs.
func scalarsOf(memory []byte) []curve.Scalar {
	return unsafe.Slice((*curve.Scalar)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/curve.ScalarBytes)
}
