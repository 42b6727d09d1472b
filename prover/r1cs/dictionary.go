package r1cs

import "github.com/cuzk-dev/cuzk/prover/curve"

// Dictionary numbers the distinct coefficients of a system in the order of their first use. Circuits of millions of
// entries have few of them, so entries hold 4 bytes instead of 32.
type Dictionary struct {
	index  map[curve.Scalar]uint32
	values []curve.Scalar
	// recent answers the common coefficients without hashing them; a slot holds a number plus one.
	recent [256]uint32
}

// Number returns the number of a coefficient and adds it if it is new.
func (d *Dictionary) Number(s curve.Scalar) uint32 {
	// Limbs of Montgomery forms of small numbers differ in their low bytes.
	slot := &d.recent[byte(s[0]^s[0]>>8^s[3])]
	if i := *slot; i != 0 && d.values[i-1] == s {
		return i - 1
	}
	i, ok := d.index[s]
	if !ok {
		if d.index == nil {
			d.index = make(map[curve.Scalar]uint32)
		}
		i = uint32(len(d.values))
		d.index[s] = i
		d.values = append(d.values, s)
	}
	*slot = i + 1
	return i
}

// Values returns the coefficients by number. The dictionary must not be used afterwards if they are changed.
func (d *Dictionary) Values() []curve.Scalar { return d.values }
