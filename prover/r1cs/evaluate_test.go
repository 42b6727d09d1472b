package r1cs

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// system is a constraint system over big integers, from which both the matrices and the expected values are made.
type system struct {
	curve         curve.ID
	wires, public int
	rows          [3][]map[uint32]*big.Int // A, B, C: wire to canonical coefficient
}

// matrices puts the system into the form under test; order gives each row's entries in an order of its own.
func (s *system) matrices(order *rand.Rand) *Matrices {
	var d Dictionary
	var out [3]*Matrix
	for i, rows := range s.rows {
		x := &Matrix{Start: []uint32{0}}
		for _, row := range rows {
			wires := make([]uint32, 0, len(row))
			for wire := range row {
				wires = append(wires, wire)
			}
			order.Shuffle(len(wires), func(a, b int) { wires[a], wires[b] = wires[b], wires[a] })
			for _, wire := range wires {
				x.Wire = append(x.Wire, wire)
				x.Coefficient = append(x.Coefficient, d.Number(montgomery(s.curve, row[wire])))
			}
			x.Start = append(x.Start, uint32(len(x.Wire)))
		}
		out[i] = x
	}
	return &Matrices{Curve: s.curve, Wires: s.wires, Public: s.public, Constraints: len(s.rows[0]),
		A: out[0], B: out[1], C: out[2], Coefficients: d.Values()}
}

func montgomery(id curve.ID, x *big.Int) curve.Scalar {
	y := new(big.Int).Lsh(x, 256)
	return curve.ScalarFromBig(y.Mod(y, id.ScalarModulus()))
}

func random(rng *rand.Rand, id curve.ID) *big.Int {
	x := new(big.Int)
	for range 5 {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
	}
	return x.Mod(x, id.ScalarModulus())
}

// randomSystem has coefficients of all kinds: 0, 1, -1, small and large; empty rows too.
func randomSystem(rng *rand.Rand, id curve.ID, wires, constraints, entries int) *system {
	s := &system{curve: id, wires: wires, public: 2}
	r := id.ScalarModulus()
	for i := range s.rows {
		for range constraints {
			row := make(map[uint32]*big.Int)
			for range rng.IntN(entries + 1) {
				kinds := []*big.Int{new(big.Int), big.NewInt(1), new(big.Int).Sub(r, big.NewInt(1)),
					big.NewInt(1 << 20), random(rng, id)}
				row[uint32(rng.IntN(wires))] = kinds[rng.IntN(len(kinds))]
			}
			s.rows[i] = append(s.rows[i], row)
		}
	}
	return s
}

func (s *system) product(matrix, row int, w []*big.Int) *big.Int {
	sum := new(big.Int)
	for wire, c := range s.rows[matrix][row] {
		sum.Add(sum, new(big.Int).Mul(c, w[wire]))
	}
	return sum.Mod(sum, s.curve.ScalarModulus())
}

func TestEvaluateAgreesWithBigIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, id := range curve.All {
		const wires, constraints = 50, rowsPerStep + 100
		s := randomSystem(rng, id, wires, constraints, 3)
		m := s.matrices(rng)
		w := []*big.Int{big.NewInt(1)}
		for len(w) < wires {
			w = append(w, random(rng, id))
		}
		forms := map[string]func(*big.Int) curve.Scalar{
			"canonical":  curve.ScalarFromBig,
			"Montgomery": func(x *big.Int) curve.Scalar { return montgomery(id, x) },
		}
		for name, form := range forms {
			witness := make([]curve.Scalar, wires)
			for i := range w {
				witness[i] = form(w[i])
			}
			var got, want [3][]curve.Scalar
			for i := range got {
				got[i] = make([]curve.Scalar, constraints)
				for row := range constraints {
					want[i] = append(want[i], form(s.product(i, row, w)))
				}
			}
			if err := m.Evaluate(t.Context(), witness, got[0], got[1], got[2]); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", id, name, diff)
			}
		}
	}
}

// satisfiable is a system of squarings, w[i+2] = w[i+1]² + w[i+1], with its witness.
func satisfiable(id curve.ID, constraints int) (*system, []*big.Int) {
	s := &system{curve: id, wires: constraints + 2, public: 1}
	w := []*big.Int{big.NewInt(1), big.NewInt(3)}
	minus := new(big.Int).Sub(id.ScalarModulus(), big.NewInt(1))
	for i := range constraints {
		x := uint32(i + 1)
		s.rows[0] = append(s.rows[0], map[uint32]*big.Int{x: big.NewInt(1)})
		s.rows[1] = append(s.rows[1], map[uint32]*big.Int{x: big.NewInt(1)})
		s.rows[2] = append(s.rows[2], map[uint32]*big.Int{x + 1: big.NewInt(1), x: minus})
		y := new(big.Int).Mul(w[x], w[x])
		y.Add(y, w[x])
		w = append(w, y.Mod(y, id.ScalarModulus()))
	}
	return s, w
}

func TestSatisfiedNamesTheFirstConstraint(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, id := range curve.All {
		const constraints = rowsPerStep + 5
		s, w := satisfiable(id, constraints)
		m := s.matrices(rng)
		for name, form := range map[string]func(*big.Int) curve.Scalar{
			"canonical":  curve.ScalarFromBig,
			"Montgomery": func(x *big.Int) curve.Scalar { return montgomery(id, x) },
		} {
			witness := make([]curve.Scalar, len(w))
			for i := range w {
				witness[i] = form(w[i])
			}
			if err := m.Satisfied(t.Context(), witness); err != nil {
				t.Errorf("%s, %s: a good witness is refused: %v", id, name, err)
			}
			for _, bad := range []int{0, 1, rowsPerStep, constraints - 1} {
				// Wire i+2 is the result of constraint i.
				keep := witness[bad+2]
				witness[bad+2] = form(big.NewInt(5))
				err := m.Satisfied(t.Context(), witness)
				witness[bad+2] = keep
				e, ok := err.(*failure.Error)
				if !ok || e.Constraint != int64(bad) || e.Class != failure.Input {
					t.Errorf("%s, %s: got %v, want an input error on constraint %d", id, name, err, bad)
				}
			}
		}
	}
}

func TestEvaluateRefusesWrongLengths(t *testing.T) {
	s, _ := satisfiable(curve.BN254, 4)
	m := s.matrices(rand.New(rand.NewPCG(1, 1)))
	if err := m.Evaluate(t.Context(), make([]curve.Scalar, 5), nil, nil, nil); err == nil {
		t.Error("a witness that is too short is accepted")
	}
	if err := m.Evaluate(t.Context(), make([]curve.Scalar, 6), make([]curve.Scalar, 3), nil, nil); err == nil {
		t.Error("a result that is too short is accepted")
	}
	m.C = nil
	if err := m.Evaluate(t.Context(), make([]curve.Scalar, 6), nil, nil, make([]curve.Scalar, 4)); err == nil {
		t.Error("a result of a matrix that is not there is accepted")
	}
	if err := m.Satisfied(t.Context(), make([]curve.Scalar, 6)); err == nil {
		t.Error("satisfaction is decided without C")
	}
}
