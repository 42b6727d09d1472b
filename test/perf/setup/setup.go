// Package setup makes snarkjs proving keys (.zkey) on BN254 in seconds, for measurements and tests.
//
// INSECURE: the toxic waste follows from constants here, so anybody can forge proofs for these keys. A ceremony of
// snarkjs for the same circuits takes many minutes; provers do the same work with either.
package setup

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// waste is the secret of a setup, with γ = 1 as snarkjs has it.
type waste struct{ tau, alpha, beta, delta fr.Element }

func newWaste(seed string) (w waste) {
	for name, e := range map[string]*fr.Element{"tau": &w.tau, "alpha": &w.alpha, "beta": &w.beta, "delta": &w.delta} {
		sum := sha256.Sum256([]byte("insecure setup\n" + seed + "\n" + name))
		e.SetBytes(sum[:])
	}
	return w
}

// Zkey makes the proving key of a constraint system, which must be on BN254 and hold C. Equal seeds give equal keys.
func Zkey(m *r1cs.Matrices, seed string) ([]byte, error) {
	if m.Curve != curve.BN254 || m.C == nil {
		return nil, fmt.Errorf("the setup is for constraint systems on BN254")
	}
	rows := m.Constraints + m.Public + 1
	n := max(2, 1<<bits.Len(uint(rows-1)))
	w := newWaste(seed)

	// The QAP's polynomials at τ, by wire.
	lagrange := lagrangeAt(w.tau, n, 1, 0)
	coefficients := make([]fr.Element, len(m.Coefficients))
	for i, c := range m.Coefficients {
		coefficients[i] = fr.Element(c)
	}
	column := func(x *r1cs.Matrix) []fr.Element {
		out := make([]fr.Element, m.Wires)
		for row := range m.Constraints {
			wires, cs := x.Row(row)
			for i, wire := range wires {
				var t fr.Element
				t.Mul(&coefficients[cs[i]], &lagrange[row])
				out[wire].Add(&out[wire], &t)
			}
		}
		return out
	}
	a, b, c := column(m.A), column(m.B), column(m.C)
	for s := range m.Public + 1 { // the rows that bind the one and the public inputs
		a[s].Add(&a[s], &lagrange[m.Constraints+s])
	}
	var deltaInverse fr.Element
	deltaInverse.Inverse(&w.delta)
	combined := make([]fr.Element, m.Wires) // (βA + αB + C), divided by δ for private wires
	for s := range combined {
		var t fr.Element
		combined[s].Mul(&w.beta, &a[s])
		t.Mul(&w.alpha, &b[s])
		combined[s].Add(&combined[s], &t).Add(&combined[s], &c[s])
		if s > m.Public {
			combined[s].Mul(&combined[s], &deltaInverse)
		}
	}
	// H: the odd part of the Lagrange basis of the doubled domain, divided by δ.
	h := lagrangeAt(w.tau, 2*n, 2, 1)
	for i := range h {
		h[i].Mul(&h[i], &deltaInverse)
	}

	_, _, g1, g2 := bn254.Generators()
	inG1 := func(s []fr.Element) []byte { return rawG1(bn254.BatchScalarMultiplicationG1(&g1, s)) }
	inG2 := func(s []fr.Element) []byte { return rawG2(bn254.BatchScalarMultiplicationG2(&g2, s)) }
	one := fr.One()
	var z container
	z.section(1, binary.LittleEndian.AppendUint32(nil, 1))
	header := prime(nil, curve.BN254.BaseModulus())
	header = prime(header, curve.BN254.ScalarModulus())
	for _, v := range []int{m.Wires, m.Public, n} {
		header = binary.LittleEndian.AppendUint32(header, uint32(v))
	}
	header = append(header, inG1([]fr.Element{w.alpha, w.beta})...)
	header = append(header, inG2([]fr.Element{w.beta, one})...)
	header = append(header, inG1([]fr.Element{w.delta})...)
	header = append(header, inG2([]fr.Element{w.delta})...)
	z.section(2, header)
	z.section(3, inG1(combined[:m.Public+1]))
	z.section(4, coefficientSection(m, coefficients))
	z.section(5, inG1(a))
	z.section(6, inG1(b))
	z.section(7, inG2(b))
	z.section(8, inG1(combined[m.Public+1:]))
	z.section(9, inG1(h))
	z.section(10, make([]byte, 64+4)) // no contributions
	return z.bytes(), nil
}

// lagrangeAt evaluates at τ the Lagrange polynomials start, start+step, … of the domain of size n, whose root of unity
// comes from 5: L_k(τ) = (τⁿ − 1)/n · ωᵏ/(τ − ωᵏ).
func lagrangeAt(tau fr.Element, n, step, start int) []fr.Element {
	var omega, factor, size fr.Element
	exponent := new(big.Int).Sub(fr.Modulus(), big.NewInt(1))
	exponent.Div(exponent, big.NewInt(int64(n)))
	omega.SetUint64(5)
	omega.Exp(omega, exponent)
	factor.Exp(tau, big.NewInt(int64(n)))
	one := fr.One()
	factor.Sub(&factor, &one)
	size.SetUint64(uint64(n))
	size.Inverse(&size)
	factor.Mul(&factor, &size)
	var power, ratio fr.Element
	power.Exp(omega, big.NewInt(int64(start)))
	ratio.Exp(omega, big.NewInt(int64(step)))
	powers, denominators := make([]fr.Element, n/step), make([]fr.Element, n/step)
	for i := range powers {
		powers[i] = power
		denominators[i].Sub(&tau, &power)
		power.Mul(&power, &ratio)
	}
	out := fr.BatchInvert(denominators)
	for i := range out {
		out[i].Mul(&out[i], &powers[i]).Mul(&out[i], &factor)
	}
	return out
}

// coefficientSection lists the entries of A and B, with their values times R² (snarkjs multiplies them with canonical
// witnesses and wants Montgomery form out).
func coefficientSection(m *r1cs.Matrices, coefficients []fr.Element) []byte {
	var r fr.Element
	r.SetBigInt(new(big.Int).Lsh(big.NewInt(1), 256))
	scaled := make([]fr.Element, len(coefficients))
	for i := range scaled {
		scaled[i].Mul(&coefficients[i], &r)
	}
	count := m.A.Entries() + m.B.Entries() + m.Public + 1
	out := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+44*count), uint32(count))
	entry := func(matrix, row, wire uint32, value fr.Element) {
		for _, v := range []uint32{matrix, row, wire} {
			out = binary.LittleEndian.AppendUint32(out, v)
		}
		for _, limb := range value {
			out = binary.LittleEndian.AppendUint64(out, limb)
		}
	}
	for row := range m.Constraints {
		for matrix, x := range []*r1cs.Matrix{m.A, m.B} {
			wires, cs := x.Row(row)
			for i, wire := range wires {
				entry(uint32(matrix), uint32(row), wire, scaled[cs[i]])
			}
		}
	}
	for s := range m.Public + 1 {
		entry(0, uint32(m.Constraints+s), uint32(s), r)
	}
	return out
}

func prime(out []byte, p *big.Int) []byte {
	b := p.FillBytes(make([]byte, 32))
	out = binary.LittleEndian.AppendUint32(out, 32)
	for i := range b {
		out = append(out, b[31-i])
	}
	return out
}

func rawG1(points []bn254.G1Affine) (out []byte) {
	for i := range points {
		out = append(out, curve.Store(&points[i])...)
	}
	return out
}

func rawG2(points []bn254.G2Affine) (out []byte) {
	for i := range points {
		out = append(out, curve.Store(&points[i])...)
	}
	return out
}

// container is a file of iden3's binary format.
type container struct {
	n    uint32
	body []byte
}

func (c *container) section(id uint32, data []byte) {
	c.n++
	c.body = binary.LittleEndian.AppendUint32(c.body, id)
	c.body = binary.LittleEndian.AppendUint64(c.body, uint64(len(data)))
	c.body = append(c.body, data...)
}

func (c *container) bytes() []byte {
	out := append([]byte("zkey"), 1, 0, 0, 0)
	out = binary.LittleEndian.AppendUint32(out, c.n)
	return append(out, c.body...)
}
