package r1cs

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// specifiedDigest follows Digest's documentation word by word.
func specifiedDigest(s *system) [32]byte {
	le := binary.LittleEndian
	message := append([]byte("cuzk r1cs 1\n"), string(s.curve)+"\x00"...)
	for _, n := range []int{s.wires, s.public, len(s.rows[0])} {
		message = le.AppendUint64(message, uint64(n))
	}
	message = append(message, 1)
	for _, rows := range s.rows {
		for block := range slices.Chunk(rows, 65536) {
			var text []byte
			for _, row := range block {
				var wires []uint32
				for wire, c := range row {
					if c.Sign() != 0 {
						wires = append(wires, wire)
					}
				}
				slices.Sort(wires)
				text = le.AppendUint32(text, uint32(len(wires)))
				for _, wire := range wires {
					text = le.AppendUint32(text, wire)
					c := row[wire].FillBytes(make([]byte, 32))
					slices.Reverse(c)
					text = append(text, c...)
				}
			}
			sum := sha256.Sum256(text)
			message = append(message, sum[:]...)
		}
	}
	return sha256.Sum256(message)
}

func digest(t *testing.T, m *Matrices) [32]byte {
	t.Helper()
	d, err := m.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDigestIsTheDocumentedOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	// Rows beyond a block of 65,536 on one curve; a few on the other.
	for id, rows := range map[curve.ID]int{curve.BN254: 65536 + 300, curve.BLS12381: 300} {
		s := randomSystem(rng, id, 40, 300, 3)
		for i := range s.rows {
			s.rows[i] = slices.Repeat(s.rows[i], rows/300+1)[:rows]
		}
		want := specifiedDigest(s)
		for range 2 {
			if got := digest(t, s.matrices(rng)); got != want {
				t.Errorf("%s: digest %x, want %x", id, got, want)
			}
		}
	}
}

func TestDigestAddsUpRepeatedWires(t *testing.T) {
	s, _ := satisfiable(curve.BN254, 2)
	once := s.matrices(rand.New(rand.NewPCG(1, 1)))
	twice := s.matrices(rand.New(rand.NewPCG(1, 1)))
	// Row 1 of A, wire 2 times 1, becomes wire 2 times 3 and wire 2 times -2.
	var d Dictionary
	for _, c := range twice.Coefficients {
		d.Number(c)
	}
	minus := new(big.Int).Sub(s.curve.ScalarModulus(), big.NewInt(2))
	three, minusTwo := d.Number(montgomery(s.curve, big.NewInt(3))), d.Number(montgomery(s.curve, minus))
	twice.A = &Matrix{Start: []uint32{0, 1, 3}, Wire: []uint32{1, 2, 2}, Coefficient: []uint32{once.A.Coefficient[0], three, minusTwo}}
	twice.Coefficients = d.Values()
	if digest(t, once) != digest(t, twice) {
		t.Error("a coefficient in two parts changes the digest")
	}
	if row, err := once.FirstDifferentRow(t.Context(), twice, 2); row != -1 || err != nil {
		t.Errorf("row %d differs (%v), want none", row, err)
	}
}

func TestDigestAndComparisonSeeEveryChange(t *testing.T) {
	for name, change := range map[string]func(*Matrices){
		"wire":        func(m *Matrices) { m.A.Wire[7] = 3 },
		"coefficient": func(m *Matrices) { m.B.Coefficient[7] = uint32(len(m.Coefficients)) - 1 },
		"row":         func(m *Matrices) { m.A.Start[8]-- },
	} {
		s, _ := satisfiable(curve.BLS12381, 20)
		rng := rand.New(rand.NewPCG(1, 1))
		m, changed := s.matrices(rng), s.matrices(rng)
		changed.Coefficients = append(changed.Coefficients, montgomery(s.curve, big.NewInt(77)))
		if digest(t, m) != digest(t, changed) {
			t.Errorf("%s: a coefficient that is not used changes the digest", name)
		}
		change(changed)
		if digest(t, m) == digest(t, changed) {
			t.Errorf("%s: the digest does not change", name)
		}
		row, err := m.FirstDifferentRow(t.Context(), changed, 20)
		if err != nil || (row != 7 && row != 6) {
			t.Errorf("%s: row %d differs (%v), want 7", name, row, err)
		}
	}
	s, _ := satisfiable(curve.BN254, 5)
	m := s.matrices(rand.New(rand.NewPCG(1, 1)))
	shorter, _ := satisfiable(curve.BN254, 4)
	if row, err := m.FirstDifferentRow(t.Context(), shorter.matrices(rand.New(rand.NewPCG(1, 1))), 5); row != 4 || err != nil {
		t.Errorf("row %d (%v), want 4, the first that the other system has not", row, err)
	}
}

func TestDensityIsTheSetOfWiresThatOccur(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	s := randomSystem(rng, curve.BN254, 200, 60, 6)
	m := s.matrices(rng)
	for i, x := range []*Matrix{m.A, m.B, m.C} {
		occurs := make(map[int]bool)
		for _, row := range s.rows[i] {
			for wire, c := range row {
				if c.Sign() != 0 {
					occurs[int(wire)] = true
				}
			}
		}
		d := m.Density(x)
		if d.Count() != len(occurs) {
			t.Errorf("%d wires, want %d", d.Count(), len(occurs))
		}
		for wire := range s.wires {
			if d.Has(wire) != occurs[wire] {
				t.Errorf("wire %d: %t, want %t", wire, d.Has(wire), occurs[wire])
			}
		}
	}
}

func TestDictionaryNumbersInOrderOfFirstUse(t *testing.T) {
	var d Dictionary
	rng := rand.New(rand.NewPCG(9, 9))
	var seen []curve.Scalar
	for range 3000 {
		s := curve.Scalar{uint64(rng.IntN(500)), 0, 0, uint64(rng.IntN(2))}
		want := slices.Index(seen, s)
		if want < 0 {
			want = len(seen)
			seen = append(seen, s)
		}
		if got := d.Number(s); got != uint32(want) {
			t.Fatalf("%v has number %d, want %d", s, got, want)
		}
	}
	if !slices.Equal(seen, d.Values()) {
		t.Error("the values are not in the order of their numbers")
	}
}
