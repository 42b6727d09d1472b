package snarkjs

import (
	"fmt"
	"math/big"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// ParseProof reads proof.json. id is the verifying key's curve; empty, the document must name its own. A document that is
// no proof is an error of class Input; numbers out of range and points outside their subgroup are of class Verification.
func ParseProof(data []byte, id curve.ID) (*groth16.Proof, error) {
	r := reader{what: "proof", class: failure.Input}
	v, err := r.document(data, MaxProofBytes)
	if err != nil {
		return nil, err
	}
	m, err := r.object(v, "")
	if err != nil {
		return nil, err
	}
	if id, err = r.curveOf(m, id); err != nil {
		return nil, err
	}
	proof := &groth16.Proof{Curve: id}
	for _, p := range []struct {
		name string
		read func(v any, path string) (bool, error)
	}{
		{"pi_a", func(v any, path string) (bool, error) {
			proof.A, err = r.g1(id, v, path)
			return curve.IsInfinity(proof.A), err
		}},
		{"pi_b", func(v any, path string) (bool, error) {
			proof.B, err = r.g2(id, v, path)
			return curve.IsInfinity(proof.B), err
		}},
		{"pi_c", func(v any, path string) (bool, error) {
			proof.C, err = r.g1(id, v, path)
			return curve.IsInfinity(proof.C), err
		}},
	} {
		v, err := r.member(m, p.name)
		if err != nil {
			return nil, err
		}
		infinite, err := p.read(v, p.name)
		if err != nil {
			return nil, err
		}
		if infinite {
			return nil, r.refusedf(p.name, "the point is the point at infinity, which no honest proof contains")
		}
	}
	return proof, nil
}

// ParsePublic reads public.json: canonical scalars in circuit order, without the one. A number not below r would be an
// alias of another and is refused (class Verification).
func ParsePublic(data []byte, id curve.ID) ([]curve.Scalar, error) {
	r := reader{what: "public inputs", class: failure.Input}
	v, err := r.document(data, MaxDocumentBytes)
	if err != nil {
		return nil, err
	}
	l, err := r.list(v, "", -1)
	if err != nil {
		return nil, err
	}
	out := make([]curve.Scalar, len(l))
	for i := range l {
		if out[i], err = r.scalar(id, l[i], fmt.Sprintf("[%d]", i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r reader) scalar(id curve.ID, v any, path string) (curve.Scalar, error) {
	n, err := r.integer(v, path)
	if err != nil {
		return curve.Scalar{}, err
	}
	if n.Cmp(id.ScalarModulus()) >= 0 {
		return curve.Scalar{}, r.refusedf(path, "the number is not below r, the order of the scalar field of %s: it would stand for another value", id)
	}
	return curve.ScalarFromBig(n), nil
}

// ParseDecimals reads public inputs as decimal strings, by the rules of ParsePublic.
func ParseDecimals(values []string, id curve.ID) ([]curve.Scalar, error) {
	r := reader{what: "public inputs", class: failure.Input}
	out := make([]curve.Scalar, len(values))
	for i, s := range values {
		var err error
		if out[i], err = r.scalar(id, s, fmt.Sprintf("[%d]", i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Decimals writes canonical scalars as decimal strings.
func Decimals(public []curve.Scalar) []string {
	out := make([]string, len(public))
	for i := range public {
		out[i] = curve.ScalarToBig(public[i]).String()
	}
	return out
}

type proofJSON struct {
	A        [3]string    `json:"pi_a"`
	B        [3][2]string `json:"pi_b"`
	C        [3]string    `json:"pi_c"`
	Protocol string       `json:"protocol"`
	Curve    string       `json:"curve"`
}

func decimals1(id curve.ID, p curve.G1) [3]string {
	if curve.IsInfinity(p) {
		return [3]string{"0", "1", "0"}
	}
	c := id.Coordinates(p)
	return [3]string{c[0].String(), c[1].String(), "1"}
}

func decimals2(id curve.ID, p curve.G2) [3][2]string {
	if curve.IsInfinity(p) {
		return [3][2]string{{"0", "0"}, {"1", "0"}, {"0", "0"}}
	}
	c := id.Coordinates(p)
	pair := func(a, b *big.Int) [2]string { return [2]string{a.String(), b.String()} }
	return [3][2]string{pair(c[0], c[1]), pair(c[2], c[3]), {"1", "0"}}
}

// FormatProof writes proof.json as snarkjs does, indented by one space; compact leaves out all white space.
func FormatProof(proof *groth16.Proof, compact bool) ([]byte, error) {
	if len(proof.Commitments) > 0 {
		return nil, failure.New(failure.Usage, "a proof with commitments has no snarkjs form; use gnark's binary form")
	}
	id := proof.Curve
	return encode(proofJSON{
		A: decimals1(id, proof.A), B: decimals2(id, proof.B), C: decimals1(id, proof.C),
		Protocol: "groth16", Curve: id.Snarkjs(),
	}, compact)
}

// FormatPublic writes public.json as snarkjs does; compact leaves out all white space.
func FormatPublic(public []curve.Scalar, compact bool) ([]byte, error) {
	if len(public) == 0 && !compact {
		return []byte("[\n]"), nil // as snarkjs writes it
	}
	return encode(Decimals(public), compact)
}
