package cpu_test

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark/frontend"

	"github.com/cuzk-dev/cuzk/prover/curve"
	prover "github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
)

// chain multiplies a number with itself and adds it, again and again: one constraint a step, with full-size values.
type chain struct {
	length int
	Start  frontend.Variable
	End    frontend.Variable `gnark:",public"`
}

func (c *chain) Define(api frontend.API) error {
	x := c.Start
	for range c.length {
		x = api.Add(api.Mul(x, x), c.Start)
	}
	api.AssertIsEqual(x, c.End)
	return nil
}

// newChain solves the chain in plain integers.
func newChain(t testing.TB, id curve.ID, length int) *gnarkCircuit {
	start := id.ScalarModulus()
	start.Rsh(start, 1)
	end := start
	for range length {
		next := new(big.Int).Mul(end, end)
		end = next.Add(next, start).Mod(next, id.ScalarModulus())
	}
	return newGnarkCircuit(t, id, &chain{length: length}, &chain{Start: start, End: end})
}

func submit(t testing.TB, b *cpu.Backend, key prover.Key, a prover.Assignment, r, s curve.Scalar) *prover.Proof {
	t.Helper()
	ticket, err := b.Submit(t.Context(), key, a, r, s, prover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := ticket.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

func TestProvesGnarkCircuits(t *testing.T) {
	for _, id := range curve.All {
		t.Run(string(id), func(t *testing.T) {
			g := newChain(t, id, 100)
			b := cpu.New(cpu.Config{})
			key, err := b.LoadKey(t.Context(), g.open(t), prover.Budget{})
			if err != nil {
				t.Fatal(err)
			}
			defer key.Close()
			g.verifies(t, submit(t, b, key, g.evaluate, random(t, id), random(t, id)))

			bits := newBits(t, id, 5)
			bitsKey, err := b.LoadKey(t.Context(), bits.open(t), prover.Budget{})
			if err != nil {
				t.Fatal(err)
			}
			defer bitsKey.Close()
			bits.verifies(t, submit(t, b, bitsKey, bits.evaluate, random(t, id), random(t, id)))
		})
	}
}
