package poseidon

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

const (
	maxWidth = 37
	// maxVariables is Variables of the largest arity.
	maxVariables = 3*36 + 4*37*7 + 4*60 + 1
)

// Variables is the number of variables that a circuit allocates for a hash, beside its inputs.
func (p *Params) Variables() int {
	return 3*p.Arity + 4*p.Width()*(fullRounds-1) + 4*p.PartialRounds + 1
}

// Tree hashes a Merkle tree's children to their node; their number is the arity.
func Tree(children ...fr.Element) fr.Element {
	return For(len(children)).Hash(TreeTag(len(children)), children)
}

// Hash hashes Arity elements under a domain tag.
func (p *Params) Hash(tag fr.Element, inputs []fr.Element) fr.Element {
	var variables [maxVariables]fr.Element
	return p.Assign(tag, inputs, variables[:p.Variables()])
}

// Assign hashes and writes the value of each variable that the circuit allocates, in order: for every S-box x^2, x^4 and
// x^5 plus the next round's constant, with x before them where it was not a variable yet; last the hash itself. The tag's
// S-box in the first round has no variables, for the tag is a constant of the circuit.
func (p *Params) Assign(tag fr.Element, inputs, variables []fr.Element) fr.Element {
	h := hasher{out: variables, constants: p.RoundConstants[p.Width():]}
	var memory [2 * maxWidth]fr.Element
	state, mixed := memory[:p.Width()], memory[maxWidth:maxWidth+p.Width()]
	first := p.RoundConstants[:p.Width()]

	state[0].Add(&tag, &first[0])
	var square, fourth fr.Element
	square.Square(&state[0])
	fourth.Square(&square)
	state[0].Mul(&state[0], &fourth)
	state[0].Add(&state[0], h.constant())
	for i := range inputs {
		state[i+1].Add(&inputs[i], &first[i+1])
		h.sbox(&state[i+1], h.constant())
	}
	p.MDS.mix(state, mixed)
	state, mixed = mixed, state
	for round := 1; round < half; round++ {
		for i := range state {
			h.allocate(&state[i])
			h.sbox(&state[i], h.constant())
		}
		if round == half-1 {
			p.PreSparse.mix(state, mixed)
		} else {
			p.MDS.mix(state, mixed)
		}
		state, mixed = mixed, state
	}
	for i := range p.Sparse {
		h.allocate(&state[0])
		h.sbox(&state[0], h.constant())
		p.Sparse[i].mix(state)
	}
	for round := range half {
		for i := range state {
			h.allocate(&state[i])
			if round == half-1 {
				h.sbox(&state[i], nil)
			} else {
				h.sbox(&state[i], h.constant())
			}
		}
		p.MDS.mix(state, mixed)
		state, mixed = mixed, state
	}
	h.allocate(&state[1])
	return state[1]
}

// hasher writes variables and reads constants in their order.
type hasher struct {
	out, constants []fr.Element
}

func (h *hasher) constant() *fr.Element {
	c := &h.constants[0]
	h.constants = h.constants[1:]
	return c
}

func (h *hasher) allocate(x *fr.Element) {
	h.out[0] = *x
	h.out = h.out[1:]
}

// sbox replaces x by x^5 plus a constant, and writes the three variables.
func (h *hasher) sbox(x, post *fr.Element) {
	square, fourth, fifth := &h.out[0], &h.out[1], &h.out[2]
	h.out = h.out[3:]
	square.Square(x)
	fourth.Square(square)
	fifth.Mul(x, fourth)
	if post != nil {
		fifth.Add(fifth, post)
	}
	*x = *fifth
}

// mix multiplies the state by the sparse matrix, in place.
func (s *Sparse) mix(state []fr.Element) {
	var sum, product fr.Element
	corner := state[0]
	for i := range state {
		product.Mul(&state[i], &s.Column[i])
		sum.Add(&sum, &product)
	}
	for i := range s.Row {
		product.Mul(&corner, &s.Row[i])
		state[i+1].Add(&state[i+1], &product)
	}
	state[0] = sum
}
