package snarkjs

import (
	"fmt"
	"math/big"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// coordinate reads an integer below p.
func (r reader) coordinate(id curve.ID, v any, path string) (*big.Int, error) {
	n, err := r.integer(v, path)
	if err != nil {
		return nil, err
	}
	if n.Cmp(id.BaseModulus()) >= 0 {
		return nil, r.refusedf(path, "the coordinate is not below p, the prime of the base field of %s", id)
	}
	return n, nil
}

// constant reports whether a list is these strings.
func constant(l []any, want ...string) bool {
	for i := range want {
		if s, ok := l[i].(string); !ok || s != want[i] {
			return false
		}
	}
	return len(l) == len(want)
}

// g1 reads [x, y, "1"], or ["0", "1", "0"] for infinity.
func (r reader) g1(id curve.ID, v any, path string) (curve.G1, error) {
	l, err := r.list(v, path, 3)
	if err != nil {
		return nil, err
	}
	if constant(l, "0", "1", "0") {
		return make(curve.G1, id.G1Bytes()), nil
	}
	coordinates := make([]*big.Int, 2)
	for i := range coordinates {
		if coordinates[i], err = r.coordinate(id, l[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return nil, err
		}
	}
	if !constant(l[2:], "1") {
		return nil, r.errorf(path+"[2]", `the third coordinate must be "1"`)
	}
	raw, err := id.FromCoordinates(coordinates...)
	if err == nil {
		err = membership(raw, id.CheckG1)
	}
	if err != nil {
		return nil, r.refusedf(path, "%w", err)
	}
	return raw, nil
}

// membership checks a point that is written with z = 1. As raw limbs x = y = 0 would be infinity; written so it is no
// point at all.
func membership[P ~[]byte](raw []byte, check func(P) error) error {
	if curve.IsInfinity(raw) {
		return curve.ErrNotOnCurve
	}
	return check(raw)
}

// g2 reads [[x.c0, x.c1], [y.c0, y.c1], ["1", "0"]], or [["0","0"],["1","0"],["0","0"]] for infinity.
func (r reader) g2(id curve.ID, v any, path string) (curve.G2, error) {
	l, err := r.list(v, path, 3)
	if err != nil {
		return nil, err
	}
	pairs := make([][]any, 3)
	for i := range pairs {
		if pairs[i], err = r.list(l[i], fmt.Sprintf("%s[%d]", path, i), 2); err != nil {
			return nil, err
		}
	}
	if constant(pairs[0], "0", "0") && constant(pairs[1], "1", "0") && constant(pairs[2], "0", "0") {
		return make(curve.G2, id.G2Bytes()), nil
	}
	var coordinates []*big.Int
	for i, pair := range pairs[:2] {
		for j := range pair {
			c, err := r.coordinate(id, pair[j], fmt.Sprintf("%s[%d][%d]", path, i, j))
			if err != nil {
				return nil, err
			}
			coordinates = append(coordinates, c)
		}
	}
	if !constant(pairs[2], "1", "0") {
		return nil, r.errorf(path+"[2]", `the third coordinate must be ["1", "0"]`)
	}
	raw, err := id.FromCoordinates(coordinates...)
	if err == nil {
		err = membership(raw, id.CheckG2)
	}
	if err != nil {
		return nil, r.refusedf(path, "%w", err)
	}
	return raw, nil
}

// curveOf reads the members that proof and verification key share. want, if not empty, is the curve that is known from
// elsewhere; a document without the member (rapidsnark writes none) is then taken to be on it.
func (r reader) curveOf(m map[string]any, want curve.ID) (curve.ID, error) {
	v, err := r.member(m, "protocol")
	if err != nil {
		return "", err
	}
	protocol, err := r.text(v, "protocol")
	if err != nil {
		return "", err
	}
	if protocol != "groth16" {
		return "", r.errorf("protocol", "want groth16, got %q", clip(protocol))
	}
	v, ok := m["curve"]
	if !ok && want != "" {
		return want, nil
	}
	if !ok {
		return "", r.errorf("curve", "missing")
	}
	name, err := r.text(v, "curve")
	if err != nil {
		return "", err
	}
	id, err := curve.Parse(name)
	if err != nil {
		return "", r.errorf("curve", "%w", err)
	}
	if want != "" && id != want {
		return "", r.refusedf("curve", "it is on %s, but %s is wanted", id, want)
	}
	return id, nil
}
