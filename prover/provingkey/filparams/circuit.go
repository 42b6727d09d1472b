package filparams

import (
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Circuit is what a parameter file has to fit: the numbers of a circuit's variables and rows, and which of the variables
// have a point in the file.
type Circuit struct {
	// Inputs counts the one and the public inputs, Aux all other wires, which follow them.
	Inputs, Aux int
	// Constraints of the circuit itself, without the row that bellman adds for each input.
	Constraints int
	// A and B tell of each wire whether it occurs in the matrix. Inputs always occur in A: in the rows that are added.
	A, B r1cs.Density
}

// CircuitOf is the circuit of a constraint system that ends with the rows that are added for inputs.
func CircuitOf(m *r1cs.Matrices) *Circuit {
	inputs := m.Public + 1
	return &Circuit{Inputs: inputs, Aux: m.Wires - inputs, Constraints: m.Constraints - inputs, A: m.Density(m.A), B: m.Density(m.B)}
}

// CircuitOfAux is the circuit whose densities are known for the wires that are no inputs, one bit each, and in whose B
// the one alone of the inputs occurs: any of Filecoin's.
func CircuitOfAux(inputs, aux, constraints int, a, b r1cs.Density) *Circuit {
	c := &Circuit{Inputs: inputs, Aux: aux, Constraints: constraints, A: shifted(a, aux, inputs), B: shifted(b, aux, inputs)}
	for i := range inputs {
		c.A[i/64] |= 1 << (i % 64)
	}
	c.B[0] |= 1
	return c
}

// shifted moves bits up.
func shifted(d r1cs.Density, n, by int) r1cs.Density {
	out := make(r1cs.Density, (n+by+63)/64)
	word, shift := by/64, by%64
	for i, x := range d {
		out[word+i] |= x << shift
		if high := x >> (64 - shift); shift > 0 && high != 0 {
			out[word+i+1] |= high
		}
	}
	return out
}

// Domain is the size of the evaluation domain: the least power of two with a place for all rows.
func (c *Circuit) Domain() int { return 1 << bits.Len(uint(c.Constraints+c.Inputs-1)) }

// Lengths are those of the circuit's parameter file.
func (c *Circuit) Lengths() filecoin.Lengths {
	return filecoin.Lengths{IC: c.Inputs, H: c.Domain() - 1, L: c.Aux, A: c.A.Count(), B: c.B.Count()}
}

// absent is the complement of a density.
func (c *Circuit) absent(d r1cs.Density) []uint64 {
	wires := c.Inputs + c.Aux
	out := make([]uint64, len(d))
	for i, word := range d {
		out[i] = ^word
	}
	if rest := wires % 64; rest > 0 {
		out[len(out)-1] &= 1<<rest - 1
	}
	return out
}
