package values

import (
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/constraints"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
)

// hashes describes a circuit that hashes numbers, and a label's header in second place where there is one.
func hashes[N, B, W any](s gadget.System[N, B, W], numbers []fr.Element, header bool, out func(N)) {
	var chunks []W
	for i, n := range numbers {
		if i == 1 && header {
			chunks = append(chunks, s.LabelHeader(5, gadget.Bits(s, 1<<40+77, 64)))
		}
		chunks = append(chunks, s.Bytes(s.Num(n)))
	}
	out(s.SHA256(chunks))
}

// The digest is the standard library's, and the constraints of the same description hold, for messages of one block and
// more, with all of their words allocated and not.
func TestSHA256(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		numbers int
		header  bool
	}{{1, false}, {2, false}, {2, true}, {3, false}, {5, true}} {
		numbers := make([]fr.Element, c.numbers)
		var message []byte
		for i := range numbers {
			numbers[i] = fr.Element{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64() >> 2}
			if i == 1 && c.header {
				message = append(message, 0, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 77)
				message = append(message, make([]byte, 20)...)
			}
			message = append(message, littleEndian(numbers[i])...)
		}
		s := constraints.Record(func(s constraints.System) { hashes(s, numbers, c.header, func(constraints.Var) {}) })
		var got fr.Element
		w, err := Assign(t.Context(), s.Layout(), func(s System) { hashes(s, numbers, c.header, func(n fr.Element) { got = n }) })
		if err != nil {
			t.Fatal(err)
		}
		want := sha256.Sum256(message)
		want[31] &= 0x3f
		if !slices.Equal(littleEndian(got), want[:]) {
			t.Errorf("%+v: %x, want %x", c, littleEndian(got), want)
		}
		if err := s.Check(t.Context(), w); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		w.Free()
	}
}

func littleEndian(e fr.Element) []byte {
	b := e.Bytes()
	slices.Reverse(b[:])
	return b[:]
}

func TestAWitnessOfAnotherCircuitIsRefused(t *testing.T) {
	one := constraints.Record(func(s constraints.System) { s.Num(fr.Element{}); s.Bit(false) })
	for name, describe := range map[string]func(System){
		"too little":       func(s System) { s.Num(fr.Element{}) },
		"too many bits":    func(s System) { s.Num(fr.Element{}); gadget.Bits(s, 1, 200) },
		"too many numbers": func(s System) { s.Num(fr.Element{}); s.Num(fr.Element{}); s.Bit(true) },
		"an input":         func(s System) { s.Input(s.Num(fr.Element{})); s.Bit(true) },
		"a block": func(s System) {
			s.Num(fr.Element{})
			s.Bit(true)
			s.Blocks(1, gadget.NoArguments[fr.Element, bool], func(System, int, gadget.Arguments[fr.Element, bool]) []fr.Element { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			if w, err := Assign(t.Context(), one.Layout(), describe); err == nil {
				w.Free()
				t.Error("was accepted")
			}
		})
	}
}
