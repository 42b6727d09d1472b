// Package values computes the witnesses of Filecoin's circuits: it runs their descriptions on numbers, with SHA-256 on
// words and Poseidon on elements, and writes down what the circuits allocate.
package values

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/filecoin/poseidon"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// System is the form of gadget.System that computes witnesses.
type System = gadget.System[fr.Element, bool, Chunk]

// values writes one section of a witness after the other; a copy of a block is written by values of its own.
type values struct {
	ctx     context.Context
	witness *witness.Witness
	part    int
	*witness.Writer
	// err is the first reason why the witness is none.
	err error
}

var _ System = (*values)(nil)

// Assign runs a circuit's description on a witness of the given layout, on all cores. What its input does not satisfy is an
// error. The witness must be freed.
func Assign(ctx context.Context, layout []witness.Part, describe func(System)) (*witness.Witness, error) {
	w, err := witness.New(layout)
	if err != nil {
		return nil, err
	}
	v := &values{ctx: ctx, witness: w, Writer: w.Writer(0, 0)}
	v.run(describe)
	if v.err == nil && v.part != len(w.Parts)-1 {
		v.err = fmt.Errorf("a witness of %d parts, not of %d", v.part+1, len(w.Parts))
	}
	if v.err != nil {
		w.Free()
		return nil, v.err
	}
	return w, nil
}

// abandoned is what ends a description whose input does not satisfy it: what its blocks would give is not there.
type abandoned struct{}

func (v *values) run(describe func(System)) {
	defer func() {
		if r := recover(); r != nil && r != (abandoned{}) {
			panic(r)
		}
	}()
	describe(v)
	v.finish()
}

func (v *values) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}

// finish checks the part that was written.
func (v *values) finish() {
	if v.err == nil {
		v.fail(v.Check())
	}
}

// Blocks writes the copies on all cores.
func (v *values) Blocks(copies int, arguments func(int) gadget.Arguments[fr.Element, bool],
	body func(s System, i int, a gadget.Arguments[fr.Element, bool]) []fr.Element) [][]fr.Element {
	v.finish()
	v.part++
	out := make([][]fr.Element, copies)
	switch {
	case v.part+1 >= len(v.witness.Parts):
		v.fail(errors.New("a block that the circuit has not"))
	case v.witness.Parts[v.part].Copies != copies:
		v.fail(fmt.Errorf("%d copies of a block that has %d", copies, v.witness.Parts[v.part].Copies))
	}
	if v.err == nil {
		v.fail(parallel.Ranges(v.ctx, copies, 1, func(i, _ int) error {
			block := &values{ctx: v.ctx, witness: v.witness, part: v.part, Writer: v.witness.Writer(v.part, i)}
			out[i] = body(block, i, arguments(i))
			block.finish()
			if block.err != nil {
				return fmt.Errorf("copy %d of a block: %w", i, block.err)
			}
			return nil
		}))
	}
	if v.err != nil {
		panic(abandoned{})
	}
	v.part++
	v.Writer = v.witness.Writer(v.part, 0)
	return out
}

// Num allocates a number.
func (v *values) Num(value fr.Element) fr.Element {
	v.Writer.Num(value)
	return value
}

// Input makes a number a public input.
func (v *values) Input(n fr.Element) { v.Writer.Input(n) }

// Equal notes where two numbers are not.
func (v *values) Equal(a, b fr.Element) {
	if a != b {
		v.fail(errors.New("the input contradicts itself: a hash that it implies is not the one that it gives"))
	}
}

// Product allocates a·b.
func (v *values) Product(a, b fr.Element) fr.Element {
	a.Mul(&a, &b)
	return v.Num(a)
}

// Gate allocates n·bit.
func (v *values) Gate(n fr.Element, bit bool) fr.Element {
	if !bit {
		n.SetZero()
	}
	return v.Num(n)
}

// Sum allocates the sum of numbers.
func (v *values) Sum(numbers ...fr.Element) fr.Element {
	var sum fr.Element
	for i := range numbers {
		sum.Add(&sum, &numbers[i])
	}
	return v.Num(sum)
}

// Affine allocates factor·n + constant.
func (v *values) Affine(n fr.Element, factor, constant uint64) fr.Element {
	f, c := fr.NewElement(factor), fr.NewElement(constant)
	n.Mul(&n, &f)
	n.Add(&n, &c)
	return v.Num(n)
}

// Poseidon allocates the values of a hash.
func (v *values) Poseidon(tag fr.Element, inputs []fr.Element) fr.Element {
	c := poseidon.Of(len(inputs))
	return c.Trace(tag, inputs, v.Nums(c.TraceLen()))
}

// Bit allocates a bit.
func (v *values) Bit(value bool) bool {
	v.Bits(number(value), 1)
	return value
}

func number(bit bool) uint64 {
	if bit {
		return 1
	}
	return 0
}

// binary allocates the 255 bits of a number and returns its integer.
func (v *values) binary(n *fr.Element) [4]uint64 {
	limbs := n.Bits()
	for i, limb := range limbs {
		v.Bits(limb, min(64, fr.Bits-64*i))
	}
	return limbs
}

// Binary allocates the 255 bits of a number.
func (v *values) Binary(n fr.Element) []bool {
	limbs := v.binary(&n)
	out := make([]bool, fr.Bits)
	for i := range out {
		out[i] = limbs[i/64]>>(i%64)&1 == 1
	}
	return out
}

// sum is the number that bits are.
func sum(bits []bool) fr.Element {
	var limbs [4]uint64
	for i, b := range bits {
		limbs[i/64] |= number(b) << (i % 64)
	}
	return element(limbs)
}

// element is an integer below the modulus in Montgomery form.
func element(limbs [4]uint64) fr.Element {
	e := fr.Element(limbs)
	return *e.Mul(&e, &rSquare)
}

// rSquare has the raw limbs R^2, so that a Montgomery product by it takes an integer into Montgomery form.
var rSquare = func() fr.Element {
	var e fr.Element
	e.SetUint64(2)
	for range 8 {
		e.Square(&e)
	}
	return e
}()

// Pack allocates the sum of at most the first 254 bits.
func (v *values) Pack(bits []bool) fr.Element { return v.Num(sum(bits[:min(len(bits), fr.Bits-1)])) }

// PackInput makes the sum of bits a public input.
func (v *values) PackInput(bits []bool) { v.Input(sum(bits)) }

// CheckPacked notes where a number is not the sum of bits.
func (v *values) CheckPacked(bits []bool, n fr.Element) { v.Equal(sum(bits), n) }

// Neither allocates ¬a ∧ ¬b, Both a ∧ b.
func (v *values) Neither(a, b bool) bool { return v.Bit(!a && !b) }
func (v *values) Both(a, b bool) bool    { return v.Bit(a && b) }

// Pick allocates cond ? a : b.
func (v *values) Pick(cond bool, a, b fr.Element) fr.Element {
	if cond {
		return v.Num(a)
	}
	return v.Num(b)
}

// Bytes allocates the bits of a number for a hash.
func (v *values) Bytes(n fr.Element) Chunk {
	limbs := v.binary(&n)
	c := Chunk{}
	for i := range c {
		c[i] = word{bits.ReverseBytes32(uint32(limbs[i/2] >> (32 * (i % 2)))), allFree}
	}
	// The most significant bit of the last byte is constant.
	c[7].free &^= 0x80
	return c
}

// LabelHeader is the layer and the node of a label.
func (v *values) LabelHeader(layer uint32, node []bool) Chunk {
	var n uint64
	for i, b := range node {
		n |= number(b) << i
	}
	return Chunk{{layer, 0}, {uint32(n >> 32), allFree}, {uint32(n), allFree}}
}
