// Package gadget describes what Filecoin's circuits are made of. A circuit is described once, as a function on a System,
// and read in two ways: package constraints records the constraints, package values computes the witness natively. Both
// allocate the same variables in the same order.
package gadget

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// System is what a circuit is described on. N is an allocated number, B a bit, W 32 bytes as a hash takes them: a
// constraint system has variables there, a witness values. Sums of bits have the least significant first, weights 2^i.
type System[N, B, W any] interface {
	// Num allocates a number that may have any value.
	Num(value fr.Element) N
	// Input makes a number a public input.
	Input(n N)
	// Equal constrains two numbers to be equal.
	Equal(a, b N)
	// Product allocates a·b, Gate n·bit, Sum the sum of numbers, Affine factor·n + constant.
	Product(a, b N) N
	Gate(n N, bit B) N
	Sum(numbers ...N) N
	Affine(n N, factor, constant uint64) N
	// Poseidon allocates the hash of numbers under a domain tag.
	Poseidon(tag fr.Element, inputs []N) N

	// Bit allocates a bit.
	Bit(value bool) B
	// Binary allocates the 255 bits of a number.
	Binary(n N) []B
	// Pack allocates the sum of bits, of at most the first 254.
	Pack(bits []B) N
	// PackInput makes the sum of at most 254 bits a public input.
	PackInput(bits []B)
	// CheckPacked constrains a number to be the sum of bits.
	CheckPacked(bits []B, n N)
	// Neither allocates ¬a ∧ ¬b, Both a ∧ b, Pick cond ? a : b.
	Neither(a, b B) B
	Both(a, b B) B
	Pick(cond B, a, b N) N

	// Bytes allocates the bits of a number for a hash.
	Bytes(n N) W
	// LabelHeader is the layer and the node of a label, 32 bytes; it allocates nothing.
	LabelHeader(layer uint32, node []B) W
	// SHA256 hashes 32 bytes each and allocates the number that the digest is without its two most significant bits.
	SHA256(chunks []W) N

	// Blocks repeats a part of the circuit. What differs between copies, apart from the values that body allocates, comes
	// as arguments: everything else from outside that body uses is the same for all copies. The copies may run at the same
	// time, each on its own System; what body returns is its own, and comes back for each copy.
	Blocks(copies int, arguments func(i int) Arguments[N, B], body func(s System[N, B, W], i int, a Arguments[N, B]) []N) [][]N
}

// Arguments are what a copy of a block takes from outside.
type Arguments[N, B any] struct {
	Numbers []N
	Bits    []B
}

// NoArguments are those of blocks whose copies take the same from outside.
func NoArguments[N, B any](int) Arguments[N, B] { return Arguments[N, B]{} }
