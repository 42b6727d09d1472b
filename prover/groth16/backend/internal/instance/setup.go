// Package instance makes random circuits with satisfying witnesses and keys for tests of backends, by the definition of
// Groth16 (https://eprint.iacr.org/2016/260, section 3.2), in plain integers and with a known trapdoor: what a key should
// be is not taken from the code under test.
package instance

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Shape of a random circuit.
type Shape struct {
	Public, Private, Constraints int
	// Density is the share of a row's wires that have a coefficient, in percent.
	Density int
	// Small is the share of wires that are 0 or 1, in percent.
	Small int
}

// Key is a key source in memory; its fields may be changed to spoil it.
type Key struct {
	id                                  curve.ID
	layout                              groth16.Layout
	WireCount, PublicInputs, DomainSize int
	alphaG1, betaG1, deltaG1            curve.G1
	betaG2, deltaG2                     curve.G2
	Sections                            map[groth16.Section][]byte
	AbsentBits                          map[groth16.Section][]uint64
	// Closed counts the calls of Close.
	Closed int
}

func (k *Key) Curve() curve.ID                          { return k.id }
func (k *Key) Layout() groth16.Layout                   { return k.layout }
func (k *Key) Wires() int                               { return k.WireCount }
func (k *Key) Public() int                              { return k.PublicInputs }
func (k *Key) Domain() int                              { return k.DomainSize }
func (k *Key) AlphaG1() curve.G1                        { return k.alphaG1 }
func (k *Key) BetaG1() curve.G1                         { return k.betaG1 }
func (k *Key) DeltaG1() curve.G1                        { return k.deltaG1 }
func (k *Key) BetaG2() curve.G2                         { return k.betaG2 }
func (k *Key) DeltaG2() curve.G2                        { return k.deltaG2 }
func (k *Key) Points(s groth16.Section) ([]byte, error) { return k.Sections[s], nil }
func (k *Key) Absent(s groth16.Section) []uint64        { return k.AbsentBits[s] }
func (k *Key) Committed() []uint32                      { return nil }
func (k *Key) Resident() bool                           { return false }
func (k *Key) Digest() [32]byte                         { return [32]byte{} }
func (k *Key) Close() error                             { k.Closed++; return nil }

// Instance is a circuit with a satisfying witness, its key and what it proves.
type Instance struct {
	Matrices *r1cs.Matrices
	Witness  []*big.Int
	Public   []curve.Scalar
	Source   *Key
	VK       *groth16.VerifyingKey
}

// field is arithmetic modulo r.
type field struct{ r *big.Int }

func (f field) add(a, b *big.Int) *big.Int { c := new(big.Int).Add(a, b); return c.Mod(c, f.r) }
func (f field) sub(a, b *big.Int) *big.Int { c := new(big.Int).Sub(a, b); return c.Mod(c, f.r) }
func (f field) mul(a, b *big.Int) *big.Int { c := new(big.Int).Mul(a, b); return c.Mod(c, f.r) }
func (f field) inverse(a *big.Int) *big.Int {
	return new(big.Int).ModInverse(a, f.r)
}
func (f field) exp(a *big.Int, n int64) *big.Int { return new(big.Int).Exp(a, big.NewInt(n), f.r) }

func (f field) random(rng *rand.Rand) *big.Int {
	x := new(big.Int)
	for range 5 {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
	}
	return x.Mod(x, f.r)
}

// generators multiplies the groups' generators.
type generators struct {
	g1 func(*big.Int) []byte
	g2 func(*big.Int) []byte
}

func generatorsOf(id curve.ID) generators {
	if id == curve.BN254 {
		_, _, g1, g2 := bn254.Generators()
		return generators{
			g1: func(k *big.Int) []byte { var p bn254.G1Affine; return curve.Store(p.ScalarMultiplication(&g1, k)) },
			g2: func(k *big.Int) []byte { var p bn254.G2Affine; return curve.Store(p.ScalarMultiplication(&g2, k)) },
		}
	}
	_, _, g1, g2 := bls12381.Generators()
	return generators{
		g1: func(k *big.Int) []byte { var p bls12381.G1Affine; return curve.Store(p.ScalarMultiplication(&g1, k)) },
		g2: func(k *big.Int) []byte { var p bls12381.G2Affine; return curve.Store(p.ScalarMultiplication(&g2, k)) },
	}
}

// New makes a random circuit of a shape and its key in a layout.
func New(t testing.TB, id curve.ID, layout groth16.Layout, s Shape, seed uint64) *Instance {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 17))
	f := field{id.ScalarModulus()}
	wires := 1 + s.Public + s.Private
	w := make([]*big.Int, wires)
	w[0] = big.NewInt(1)
	for i := 1; i < wires; i++ {
		if w[i] = f.random(rng); rng.IntN(100) < s.Small {
			w[i] = big.NewInt(rng.Int64N(2))
		}
	}
	row := func() map[int]*big.Int {
		out := map[int]*big.Int{}
		for i := range wires {
			if rng.IntN(100) < s.Density {
				if out[i] = f.random(rng); rng.IntN(2) == 0 {
					out[i] = f.sub(big.NewInt(rng.Int64N(3)), big.NewInt(1)) // -1, 0, 1
				}
			}
		}
		return out
	}
	value := func(row map[int]*big.Int) *big.Int {
		sum := new(big.Int)
		for i, c := range row {
			sum = f.add(sum, f.mul(c, w[i]))
		}
		return sum
	}
	var a, b, c []map[int]*big.Int
	for range s.Constraints {
		x, y := row(), row()
		a, b = append(a, x), append(b, y)
		// The product stands on the wire of the one, less what a random row gives: then any witness satisfies it.
		z := row()
		delete(z, 0)
		z[0] = f.sub(f.mul(value(x), value(y)), value(z))
		c = append(c, z)
	}
	in := &Instance{Witness: w, Matrices: &r1cs.Matrices{Curve: id, Wires: wires, Public: s.Public}}
	withC := layout != groth16.LayoutSnarkjs
	if layout != groth16.LayoutGnark {
		// snarkjs and bellman bind the one and each public input by a row of their own: the wire times nothing.
		for i := range s.Public + 1 {
			a, b, c = append(a, map[int]*big.Int{i: big.NewInt(1)}), append(b, nil), append(c, nil)
		}
	}
	in.Matrices.Constraints = len(a)
	var dictionary r1cs.Dictionary
	in.Matrices.A, in.Matrices.B = compress(&dictionary, a), compress(&dictionary, b)
	if withC {
		in.Matrices.C = compress(&dictionary, c)
	}
	in.Matrices.Coefficients = dictionary.Values()
	id.ToMontgomery(in.Matrices.Coefficients)
	for _, x := range w[1 : s.Public+1] {
		in.Public = append(in.Public, curve.ScalarFromBig(x))
	}
	in.setup(f, layout, rng, a, b, c)
	return in
}

func compress(d *r1cs.Dictionary, rows []map[int]*big.Int) *r1cs.Matrix {
	m := &r1cs.Matrix{Start: []uint32{0}}
	for _, row := range rows {
		for i, c := range row {
			m.Wire = append(m.Wire, uint32(i))
			m.Coefficient = append(m.Coefficient, d.Number(curve.ScalarFromBig(c)))
		}
		m.Start = append(m.Start, uint32(len(m.Wire)))
	}
	return m
}

// lagrange evaluates at tau the polynomials that are one at one point of a domain and zero at the others; its points are
// the powers of root.
func lagrange(f field, root *big.Int, n int, tau *big.Int) []*big.Int {
	out := make([]*big.Int, n)
	vanishing := f.sub(f.exp(tau, int64(n)), big.NewInt(1))
	point := big.NewInt(1)
	for i := range out {
		// Lᵢ(τ) = point·(τⁿ − 1)/(n·(τ − point))
		denominator := f.mul(big.NewInt(int64(n)), f.sub(tau, point))
		out[i] = f.mul(f.mul(point, vanishing), f.inverse(denominator))
		point = f.mul(point, root)
	}
	return out
}

func (in *Instance) setup(f field, layout groth16.Layout, rng *rand.Rand, a, b, c []map[int]*big.Int) {
	id, wires, public := in.Matrices.Curve, in.Matrices.Wires, in.Matrices.Public
	n := 1
	for n < len(a) || layout == groth16.LayoutSnarkjs && n < 2 {
		n *= 2
	}
	tau, alpha, beta, gamma, delta := f.random(rng), f.random(rng), f.random(rng), f.random(rng), f.random(rng)
	// The generator of the roots of unity: 5 for snarkjs on both curves, else 5 on BN254 and 7 on BLS12-381.
	generator := int64(5)
	if id == curve.BLS12381 && layout != groth16.LayoutSnarkjs {
		generator = 7
	}
	root := func(order int) *big.Int {
		e := new(big.Int).Sub(f.r, big.NewInt(1))
		return new(big.Int).Exp(big.NewInt(generator), e.Div(e, big.NewInt(int64(order))), f.r)
	}
	l := lagrange(f, root(n), n, tau)
	at := func(rows []map[int]*big.Int) []*big.Int {
		out := make([]*big.Int, wires)
		for i := range out {
			out[i] = new(big.Int)
		}
		for j, row := range rows {
			for i, k := range row {
				out[i] = f.add(out[i], f.mul(k, l[j]))
			}
		}
		return out
	}
	u, v, x := at(a), at(b), at(c)
	g := generatorsOf(id)
	key := &Key{
		id: id, layout: layout, WireCount: wires, PublicInputs: public, DomainSize: n,
		alphaG1: g.g1(alpha), betaG1: g.g1(beta), deltaG1: g.g1(delta), betaG2: g.g2(beta), deltaG2: g.g2(delta),
		Sections: map[groth16.Section][]byte{}, AbsentBits: map[groth16.Section][]uint64{},
	}
	in.VK = &groth16.VerifyingKey{Curve: id, AlphaG1: key.alphaG1, BetaG2: key.betaG2, GammaG2: g.g2(gamma), DeltaG2: key.deltaG2}
	put := func(s groth16.Section, p []byte) { key.Sections[s] = append(key.Sections[s], p...) }
	leaveOut := layout != groth16.LayoutSnarkjs
	if leaveOut {
		for _, s := range []groth16.Section{groth16.SectionA, groth16.SectionB1, groth16.SectionB2} {
			key.AbsentBits[s] = make([]uint64, (wires+63)/64)
		}
	}
	for i := range wires {
		for s, p := range map[groth16.Section]func() []byte{
			groth16.SectionA:  func() []byte { return g.g1(u[i]) },
			groth16.SectionB1: func() []byte { return g.g1(v[i]) },
			groth16.SectionB2: func() []byte { return g.g2(v[i]) },
		} {
			zero := s == groth16.SectionA && u[i].Sign() == 0 || s != groth16.SectionA && v[i].Sign() == 0
			if zero && leaveOut {
				key.AbsentBits[s][i/64] |= 1 << (i % 64)
				continue
			}
			put(s, p())
		}
		k := f.add(f.add(f.mul(beta, u[i]), f.mul(alpha, v[i])), x[i])
		if i <= public {
			in.VK.IC = append(in.VK.IC, g.g1(f.mul(k, f.inverse(gamma))))
		} else {
			put(groth16.SectionL, g.g1(f.mul(k, f.inverse(delta))))
		}
	}
	if layout == groth16.LayoutSnarkjs {
		odd := lagrange(f, root(2*n), 2*n, tau)
		for i := range n {
			put(groth16.SectionH, g.g1(f.mul(odd[2*i+1], f.inverse(delta))))
		}
	} else {
		vanishing := f.mul(f.sub(f.exp(tau, int64(n)), big.NewInt(1)), f.inverse(delta))
		for i := range n - 1 {
			j := i
			if layout == groth16.LayoutGnark {
				j = int(bits.Reverse64(uint64(i)) >> (64 - bits.TrailingZeros(uint(n))))
			}
			put(groth16.SectionH, g.g1(f.mul(f.exp(tau, int64(j)), vanishing)))
		}
	}
	in.Source = key
}
