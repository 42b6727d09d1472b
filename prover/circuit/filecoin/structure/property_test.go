package structure

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
)

// program is a random circuit: constraints in a head, copies of a block that use the head's variables and arguments of
// their own, and a tail that uses what the copies return.
type program struct {
	seed   uint64
	copies int
}

// record records the program, with the copies as a block, or one after the other.
func (p *program) record(block bool) *Structure {
	r := NewRecorder()
	rng := rand.New(rand.NewPCG(p.seed, 1))
	head := randomRows(r, rng, []Var{One}, 40)
	arguments := func(i int) []Var {
		rng := rand.New(rand.NewPCG(p.seed, uint64(100+i)))
		return []Var{pick(rng, head[8:], true), pick(rng, head[8:], false)}
	}
	body := func(arguments []Var) []Var {
		rng := rand.New(rand.NewPCG(p.seed, 2))
		own := randomRows(r, rng, append(append([]Var{One}, head[:8]...), arguments...), 70)
		return own[len(own)-6:]
	}
	var results [][]Var
	if block {
		results = r.Block(p.copies, arguments, body)
	} else {
		for i := range p.copies {
			results = append(results, body(arguments(i)))
		}
	}
	randomRows(r, rng, slices.Concat(results...), 30)
	return r.Structure()
}

// pick is one of the variables that is a bit, or is none.
func pick(rng *rand.Rand, vars []Var, bit bool) Var {
	for {
		if v := vars[rng.IntN(len(vars))]; v != One && v.IsBit() == bit {
			return v
		}
	}
}

// randomRows allocates variables and inputs and adds rows about them and the given ones. It returns the variables.
func randomRows(r *Recorder, rng *rand.Rand, outside []Var, n int) []Var {
	var own []Var
	for i := range n {
		switch {
		case i == n/2:
			in := r.Input()
			r.Enforce([]Term{{in, Plus}}, []Term{{One, Plus}}, []Term{{own[0], Plus}})
		case rng.IntN(3) == 0:
			own = append(own, r.Alloc())
		default:
			own = append(own, r.AllocBit())
		}
		all := slices.Concat(outside, own)
		r.Enforce(randomSum(r, rng, all, 6), randomSum(r, rng, all, 3), randomSum(r, rng, all, 5))
	}
	return own
}

// randomSum has few terms, some of one variable, some that cancel; small ones often.
func randomSum(r *Recorder, rng *rand.Rand, vars []Var, most int) []Term {
	var terms []Term
	small := rng.IntN(2) == 0
	for range rng.IntN(most) {
		c := []Coefficient{Plus, Minus, Twice}[rng.IntN(3)]
		v := vars[rng.IntN(len(vars))]
		switch {
		case small && !v.IsBit():
			continue
		case !small && rng.IntN(2) == 0:
			var e fr.Element
			e.SetBigInt(new(big.Int).Lsh(big.NewInt(int64(rng.IntN(9)-4)), uint(rng.IntN(260))))
			c = r.Coefficient(e)
		}
		terms = append(terms, Term{v, c})
	}
	return terms
}

// randomWitness has random elements and bits.
func randomWitness(t *testing.T, rng *rand.Rand, s *Structure) *witness.Witness {
	t.Helper()
	w, err := witness.New(s.Layout())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Free)
	random := func() fr.Element {
		e := fr.NewElement(rng.Uint64())
		return *e.Inverse(&e)
	}
	for part := range w.Parts {
		local := s.Sections[part].Template.bitVariables()
		for i := range w.Parts[part].Copies {
			bits := w.Parts[part].Bits(i)
			for j := range bits {
				bits[j] = rng.Uint64() & local[j]
			}
			for j := range w.Parts[part].Full(i) {
				w.Parts[part].Full(i)[j] = random()
			}
		}
	}
	for i := range w.Inputs[1:] {
		w.Inputs[i+1] = random()
	}
	return w
}

func TestBlocksAreTheirCopiesWrittenOut(t *testing.T) {
	for seed := range uint64(30) {
		p := program{seed, 1 + int(seed*5)}
		blocks, unrolled := p.record(true), p.record(false)
		one, err := blocks.Digest(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := unrolled.Digest(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if one != other {
			t.Errorf("seed %d: a block changes the constraints", seed)
		}
		for _, d := range [][2]*Density{{blocks.DensityA(), unrolled.DensityA()}, {blocks.DensityB(), unrolled.DensityB()}} {
			if diff := cmp.Diff(d[1].Bits(), d[0].Bits()); diff != "" || d[0].Count() != d[0].Bits().Count() {
				t.Errorf("seed %d: a block changes the density, or its count %d is wrong:\n%s", seed, d[0].Count(), diff)
			}
		}
		if blocks.Entries() != unrolled.Entries() {
			t.Errorf("seed %d: %v entries, want %v", seed, blocks.Entries(), unrolled.Entries())
		}
		if diff := cmp.Diff(unrolled.BitVariables(), blocks.BitVariables()); diff != "" {
			t.Errorf("seed %d: a block changes which variables are bits:\n%s", seed, diff)
		}
	}
}

func TestEvaluationIsTheProductWithTheMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for seed := range uint64(20) {
		p := program{seed, 1 + int(seed*5)}
		s := p.record(true)
		w := randomWitness(t, rng, s)
		m, err := s.Matrices(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wires := make([]fr.Element, m.Wires)
		copy(wires, w.Inputs)
		s.Variables(w, 0, wires[s.Inputs:])
		scalars := make([]curve.Scalar, len(wires))
		for i := range wires {
			scalars[i] = curve.Scalar(wires[i])
		}
		var want [3][]curve.Scalar
		got := [3][]fr.Element{make([]fr.Element, s.Constraints), make([]fr.Element, s.Constraints), make([]fr.Element, s.Constraints)}
		for i := range want {
			want[i] = make([]curve.Scalar, m.Constraints)
		}
		if err := m.Evaluate(t.Context(), scalars, want[0], want[1], want[2]); err != nil {
			t.Fatal(err)
		}
		err = s.each(t.Context(), w, wanted{[3]bool{true, true, true}, true}, func(tile *tile) error {
			for q := range tile.copies {
				at := tile.firstRow(q)
				tile.writeDigits(0, q, &tile.a, got[0][at:][:tile.rows])
				tile.writeBits(q, got[1][at:][:tile.rows])
				tile.writeDigits(2, q, &tile.c, got[2][at:][:tile.rows])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if !slices.EqualFunc(got[i], want[i][:s.Constraints], func(e fr.Element, s curve.Scalar) bool { return curve.Scalar(e) == s }) {
				t.Errorf("seed %d: the product with matrix %c is another one", seed, 'A'+i)
			}
		}
		unsatisfied := make(map[int]bool)
		for i := range s.Constraints {
			a, b := fr.Element(want[0][i]), fr.Element(want[1][i])
			if *a.Mul(&a, &b) != fr.Element(want[2][i]) {
				unsatisfied[i] = true
			}
		}
		var wrong *UnsatisfiedError
		if err := s.Check(t.Context(), w); !errors.As(err, &wrong) || !unsatisfied[wrong.Constraint] {
			t.Errorf("seed %d: %v, but %d other constraints are not satisfied", seed, err, len(unsatisfied))
		}
	}
}
