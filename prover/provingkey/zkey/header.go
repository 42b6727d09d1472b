package zkey

import (
	"bytes"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/binfile"
)

// header is section 2: what the key is about, and its single points.
type header struct {
	section *binfile.Section
	curve   curve.ID

	wires, public, domain int

	alphaG1, betaG1, deltaG1 curve.G1
	betaG2, gammaG2, deltaG2 curve.G2
	pointsAt                 int // offset of alphaG1 in the section
}

// vertex is a single point of the header with its name and its offset in the section.
type vertex struct {
	name   string
	offset int
	raw    []byte
	g2     bool
}

func (h *header) vertices() []vertex {
	g1, g2 := h.curve.G1Bytes(), h.curve.G2Bytes()
	at := h.pointsAt
	return []vertex{
		{"alpha in G1", at, h.alphaG1, false},
		{"beta in G1", at + g1, h.betaG1, false},
		{"beta in G2", at + 2*g1, h.betaG2, true},
		{"gamma in G2", at + 2*g1 + g2, h.gammaG2, true},
		{"delta in G1", at + 2*g1 + 2*g2, h.deltaG1, false},
		{"delta in G2", at + 3*g1 + 2*g2, h.deltaG2, true},
	}
}

// readStructure reads the table of sections and the header, and compares each section's size with the header's counts.
func (k *Key) readStructure() error {
	c, err := binfile.Parse(k.name, k.data, format)
	if err != nil {
		return err
	}
	protocol, err := c.Section(sectionProtocol)
	if err != nil {
		return err
	}
	cur := protocol.Cursor()
	number := cur.Uint32("the protocol's number")
	if cur.Err() != nil {
		return cur.Err()
	}
	if number != protocolGroth16 {
		name := fmt.Sprintf("number %d", number)
		if known, ok := protocols[number]; ok {
			name = known
		}
		return protocol.Errorf(0, "the key is for the protocol %s, not Groth16", name).
			WithFix("make a key with snarkjs groth16 setup")
	}
	if k.header.section, err = c.Section(sectionHeader); err != nil {
		return err
	}
	if err := k.header.read(); err != nil {
		return err
	}
	if err := k.placeSections(c); err != nil {
		return err
	}
	if n := c.Trailing(); n > 0 {
		k.warnings = append(k.warnings, fmt.Sprintf("%s: %d bytes follow the last section and are ignored", k.name, n))
	}
	return nil
}

func (h *header) read() error {
	cur := h.section.Cursor()
	q := readPrime(cur, "q")
	r := readPrime(cur, "r")
	countsAt := cur.At()
	wires := cur.Uint32("the number of wires")
	public := cur.Uint32("the number of public inputs")
	domain := cur.Uint32("the domain's size")
	if cur.Err() != nil {
		return cur.Err()
	}
	id, ok := curve.FromScalarModulus(r)
	if !ok || id.BaseModulus().Cmp(q) != 0 {
		return h.section.Errorf(0, "the primes q = %s and r = %s are those of no supported curve", abbreviate(q),
			abbreviate(r)).WithFix("use a key on BN254 (bn128) or BLS12-381 (bls12381)")
	}
	h.curve, h.wires, h.public, h.domain = id, int(wires), int(public), int(domain)
	switch {
	case wires == 0:
		return h.section.Errorf(countsAt, "the key has no wires, but wire 0 is always there")
	case public >= wires:
		return h.section.Errorf(countsAt+4, "%d public inputs do not fit into %d wires with the one", public, wires)
	case domain < 2 || bits.OnesCount32(domain) != 1:
		return h.section.Errorf(countsAt+8, "the domain's size %d is not a power of two of at least 2", domain)
	case uint64(domain) < uint64(public)+1:
		return h.section.Errorf(countsAt+8, "the domain's size %d is too small for %d public inputs", domain, public)
	case bits.TrailingZeros32(domain) > twoAdicity(id):
		return h.section.Errorf(countsAt+8, "the domain's size 2^%d exceeds 2^%d, the most that %s has",
			bits.TrailingZeros32(domain), twoAdicity(id), id)
	}
	h.pointsAt = cur.At()
	g1, g2 := id.G1Bytes(), id.G2Bytes()
	h.alphaG1 = cur.Bytes(g1, "alpha in G1")
	h.betaG1 = cur.Bytes(g1, "beta in G1")
	h.betaG2 = cur.Bytes(g2, "beta in G2")
	h.gammaG2 = cur.Bytes(g2, "gamma in G2")
	h.deltaG1 = cur.Bytes(g1, "delta in G1")
	h.deltaG2 = cur.Bytes(g2, "delta in G2")
	return cur.End()
}

// readPrime reads a length and a little-endian prime of that length.
func readPrime(cur *binfile.Cursor, name string) *big.Int {
	n := cur.Uint32("the size of the prime " + name)
	b := bytes.Clone(cur.Bytes(int(n), "the prime "+name))
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// abbreviate keeps a number from the file short in messages.
func abbreviate(n *big.Int) string {
	s := n.String()
	if len(s) > 24 {
		return fmt.Sprintf("%s…%s (%d digits)", s[:8], s[len(s)-8:], len(s))
	}
	return s
}

// twoAdicity is the largest k for which 2^k divides r-1.
func twoAdicity(id curve.ID) int {
	r := id.ScalarModulus()
	return int(new(big.Int).Sub(r, big.NewInt(1)).TrailingZeroBits())
}

// placeSections finds the sections of points and coefficients and checks that their sizes are exactly what the header's
// counts want.
func (k *Key) placeSections(c *binfile.Container) error {
	h := &k.header
	g1, g2 := uint64(h.curve.G1Bytes()), uint64(h.curve.G2Bytes())
	wires, public, domain := uint64(h.wires), uint64(h.public), uint64(h.domain)
	for _, s := range []struct {
		id          uint32
		to          **binfile.Section
		count, size uint64
		why         string
	}{
		{sectionIC, &k.ic, public + 1, g1, "public inputs and the one"},
		{sectionA, &k.points[groth16.SectionA], wires, g1, "wires"},
		{sectionB1, &k.points[groth16.SectionB1], wires, g1, "wires"},
		{sectionB2, &k.points[groth16.SectionB2], wires, g2, "wires"},
		{sectionL, &k.points[groth16.SectionL], wires - public - 1, g1, "private wires"},
		{sectionH, &k.points[groth16.SectionH], domain, g1, "points of the domain"},
	} {
		section, err := c.Section(s.id)
		if err != nil {
			return err
		}
		if err := section.Expect(s.count*s.size, "%d %s of %d bytes each", s.count, s.why, s.size); err != nil {
			return err
		}
		*s.to = section
	}
	section, err := c.Section(sectionCoefficients)
	if err != nil {
		return err
	}
	cur := section.Cursor()
	n := cur.Uint32("the number of coefficients")
	if cur.Err() != nil {
		return cur.Err()
	}
	const entry = coefficientHead + curve.ScalarBytes
	if err := section.Expect(4+uint64(n)*entry, "%d coefficients of %d bytes each and their number", n, entry); err != nil {
		return err
	}
	k.coefficients = section
	return nil
}
