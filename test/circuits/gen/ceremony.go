package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"math/big"
	"os"
	"slices"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bnfr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// The sample keys' toxic waste: known to everybody who reads this, so that whoever likes can forge their proofs.
var (
	wasteTau   = big.NewInt(0x1ce57a7)
	wasteAlpha = big.NewInt(0xa1fa)
	wasteBeta  = big.NewInt(0xbe7a)
)

// ceremony writes the outcome of a powers-of-tau ceremony, prepared for phase 2, as snarkjs reads it (.ptau). snarkjs
// itself would need many minutes for what follows in seconds from the known toxic waste.
type ceremony struct {
	field ecc.ID
	r     *big.Int
	power int
	g1    func(scalars []*big.Int) []byte
	g2    func(scalars []*big.Int) []byte
}

func writeCeremony(id ecc.ID, power int, path string) error {
	c := &ceremony{field: id, r: id.ScalarField(), power: power, g1: g1PointsBN254, g2: g2PointsBN254}
	if id == ecc.BLS12_381 {
		c.g1, c.g2 = g1PointsBLS12381, g2PointsBLS12381
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	c.write(out)
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func (c *ceremony) write(out *bufio.Writer) {
	n := 1 << c.power
	tau := c.powers(2*n - 1)
	sections := []struct {
		id   uint32
		data []byte
	}{
		{1, c.header()},
		{2, c.g1(tau)},
		{3, c.g2(tau[:n])},
		{4, c.g1(c.times(wasteAlpha, tau[:n]))},
		{5, c.g1(c.times(wasteBeta, tau[:n]))},
		{6, c.g2([]*big.Int{wasteBeta})},
		{7, make([]byte, 4)}, // no contributions
		{12, c.lagrange(c.g1, big.NewInt(1), true)},
		{13, c.lagrange(c.g2, big.NewInt(1), false)},
		{14, c.lagrange(c.g1, wasteAlpha, false)},
		{15, c.lagrange(c.g1, wasteBeta, false)},
	}
	put := func(v any) { _ = binary.Write(out, binary.LittleEndian, v) } // the writer keeps its first error
	_, _ = io.WriteString(out, "ptau")
	put([]uint32{1, uint32(len(sections))})
	for _, s := range sections {
		put(s.id)
		put(uint64(len(s.data)))
		_, _ = out.Write(s.data)
	}
}

func (c *ceremony) header() []byte {
	p := c.field.BaseField()
	size := (p.BitLen() + 63) / 64 * 8
	prime := p.FillBytes(make([]byte, size))
	slices.Reverse(prime)
	b := binary.LittleEndian.AppendUint32(nil, uint32(size))
	b = append(b, prime...)
	b = binary.LittleEndian.AppendUint32(b, uint32(c.power))
	return binary.LittleEndian.AppendUint32(b, uint32(c.power))
}

func (c *ceremony) powers(n int) []*big.Int {
	out := []*big.Int{big.NewInt(1)}
	for len(out) < n {
		x := new(big.Int).Mul(out[len(out)-1], wasteTau)
		out = append(out, x.Mod(x, c.r))
	}
	return out
}

func (c *ceremony) times(k *big.Int, xs []*big.Int) []*big.Int {
	out := make([]*big.Int, len(xs))
	for i, x := range xs {
		y := new(big.Int).Mul(k, x)
		out[i] = y.Mod(y, c.r)
	}
	return out
}

// lagrange is, for every power of two up to the ceremony's, factor times the Lagrange basis of that domain at tau: after
// preparation, sections 12 to 15. The doubled domain follows in section 12; the ceremony has no power of tau for its
// highest coefficient, so snarkjs leaves that out.
func (c *ceremony) lagrange(points func([]*big.Int) []byte, factor *big.Int, doubled bool) []byte {
	var out []byte
	for p := 0; p <= c.power; p++ {
		out = append(out, points(c.times(factor, c.basis(p, false)))...)
	}
	if doubled {
		out = append(out, points(c.times(factor, c.basis(c.power+1, true)))...)
	}
	return out
}

// basis is L_i(tau) = (tau^n - 1)/n · w^i/(tau - w^i) for all i < n = 2^p, less its term in tau^(n-1) if dropTop. Roots
// of unity are powers of 5, as in snarkjs.
func (c *ceremony) basis(p int, dropTop bool) []*big.Int {
	n := int64(1) << p
	order := new(big.Int).Sub(c.r, big.NewInt(1))
	w := new(big.Int).Exp(big.NewInt(5), new(big.Int).Rsh(order, uint(p)), c.r)
	inverseN := new(big.Int).ModInverse(big.NewInt(n), c.r)
	scale := new(big.Int).Exp(wasteTau, big.NewInt(n), c.r)
	scale.Sub(scale, big.NewInt(1)).Mul(scale, inverseN)
	top := new(big.Int).Exp(wasteTau, big.NewInt(n-1), c.r)
	top.Mul(top, inverseN)
	out := make([]*big.Int, n)
	root := big.NewInt(1)
	for i := range out {
		x := new(big.Int).Sub(wasteTau, root)
		x.Mod(x, c.r).ModInverse(x, c.r)
		x.Mul(x, root).Mul(x, scale)
		if dropTop {
			// w^(-i(n-1)) = w^i.
			x.Sub(x, new(big.Int).Mul(top, root))
		}
		out[i] = x.Mod(x, c.r)
		root = new(big.Int).Mul(root, w)
		root.Mod(root, c.r)
	}
	return out
}

// The points in the form of .ptau and .zkey: little-endian limbs in Montgomery form, which is gnark-crypto's memory.

func g1PointsBN254(scalars []*big.Int) []byte {
	_, _, g, _ := bn254.Generators()
	return memory(bn254.BatchScalarMultiplicationG1(&g, bnScalars(scalars)))
}

func g2PointsBN254(scalars []*big.Int) []byte {
	_, _, _, g := bn254.Generators()
	return memory(bn254.BatchScalarMultiplicationG2(&g, bnScalars(scalars)))
}

func g1PointsBLS12381(scalars []*big.Int) []byte {
	_, _, g, _ := bls12381.Generators()
	return memory(bls12381.BatchScalarMultiplicationG1(&g, blsScalars(scalars)))
}

func g2PointsBLS12381(scalars []*big.Int) []byte {
	_, _, _, g := bls12381.Generators()
	return memory(bls12381.BatchScalarMultiplicationG2(&g, blsScalars(scalars)))
}

func bnScalars(scalars []*big.Int) []bnfr.Element {
	out := make([]bnfr.Element, len(scalars))
	for i := range out {
		out[i].SetBigInt(scalars[i])
	}
	return out
}

func blsScalars(scalars []*big.Int) []blsfr.Element {
	out := make([]blsfr.Element, len(scalars))
	for i := range out {
		out[i].SetBigInt(scalars[i])
	}
	return out
}

func memory[P any](points []P) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(points))), len(points)*int(unsafe.Sizeof(points[0])))
}
