package curve

import (
	"math/big"
	"slices"
	"testing"
)

func littleEndian(n *big.Int, size int) []byte {
	b := n.FillBytes(make([]byte, size))
	slices.Reverse(b)
	return b
}

func TestFirstUnreducedFindsTheModulusAndAbove(t *testing.T) {
	for _, c := range All {
		for name, field := range map[string]struct {
			modulus *big.Int
			size    int
			first   func([]byte) int
		}{
			"coordinate": {c.BaseModulus(), c.BaseBytes(), c.FirstUnreducedCoordinate},
			"scalar":     {c.ScalarModulus(), ScalarBytes, c.FirstUnreducedScalar},
		} {
			largest := new(big.Int).Sub(field.modulus, big.NewInt(1))
			all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*field.size)), big.NewInt(1))
			lowLimb := new(big.Int).Add(field.modulus, big.NewInt(1<<32))
			good := slices.Concat(littleEndian(big.NewInt(0), field.size), littleEndian(largest, field.size))
			if i := field.first(good); i != -1 {
				t.Errorf("%s %s: zero and modulus-1 are refused at %d", c, name, i)
			}
			for _, bad := range []*big.Int{field.modulus, lowLimb, all} {
				raw := slices.Concat(good, littleEndian(bad, field.size), littleEndian(all, field.size))
				if i := field.first(raw); i != 2 {
					t.Errorf("%s %s: %x found at %d, want 2", c, name, bad, i)
				}
			}
		}
	}
}
