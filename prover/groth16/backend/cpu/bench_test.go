package cpu_test

import (
	"math/big"
	"syscall"
	"testing"
	"time"

	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"

	"github.com/cuzk-dev/cuzk/prover/curve"
	prover "github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
)

// BenchmarkProve compares a proof with one by gnark's own prover, both from the inputs to the proof, with the same solver:
// on a chain of 65,530 multiplications, whose wires fill the field, and on 65,535 constraints that take numbers apart into
// bits, as hash functions do.
//
//	go test -run '^$' -bench Prove -benchtime 5x ./prover/groth16/backend/cpu
func BenchmarkProve(b *testing.B) {
	for _, id := range curve.All {
		for name, circuit := range map[string]func() *gnarkCircuit{
			"chain": func() *gnarkCircuit { return newChain(b, id, 65_530) },
			"bits":  func() *gnarkCircuit { return newBits(b, id, 257) },
		} {
			b.Run(string(id)+"/"+name, func(b *testing.B) {
				g := circuit()
				b.Run("cuzk", func(b *testing.B) {
					backend := cpu.New(cpu.Config{})
					key, err := backend.LoadKey(b.Context(), g.open(b), prover.Budget{})
					if err != nil {
						b.Fatal(err)
					}
					defer key.Close()
					r, s := random(b, id), random(b, id)
					defer reportProcessorTime(b)()
					for b.Loop() {
						if _, err := g.system.Solve(g.witness); err != nil {
							b.Fatal(err)
						}
						submit(b, backend, key, g.evaluate, r, s)
					}
				})
				b.Run("gnark", func(b *testing.B) {
					defer reportProcessorTime(b)()
					for b.Loop() {
						if _, err := groth16.Prove(g.system, g.pk, g.witness); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}

// bitwise takes numbers apart into bits.
type bitwise struct {
	Numbers []frontend.Variable
	Ones    frontend.Variable `gnark:",public"`
}

func (c *bitwise) Define(api frontend.API) error {
	var ones frontend.Variable = 0
	for _, n := range c.Numbers {
		for _, bit := range api.ToBinary(n) {
			ones = api.Add(ones, bit)
		}
	}
	api.AssertIsEqual(ones, c.Ones)
	return nil
}

// newBits counts the ones in numbers that are 1, 3, 9, … modulo r.
func newBits(t testing.TB, id curve.ID, numbers int) *gnarkCircuit {
	assignment := &bitwise{}
	n, ones := big.NewInt(1), 0
	for range numbers {
		assignment.Numbers = append(assignment.Numbers, new(big.Int).Set(n))
		for i := range n.BitLen() {
			ones += int(n.Bit(i))
		}
		n.Mul(n, big.NewInt(3)).Mod(n, id.ScalarModulus())
	}
	assignment.Ones = ones
	return newGnarkCircuit(t, id, &bitwise{Numbers: make([]frontend.Variable, numbers)}, assignment)
}

// reportProcessorTime reports the processor time of the process a proof, which other load of the machine hardly changes.
func reportProcessorTime(b *testing.B) func() {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := used()
	return func() {
		b.ReportMetric(float64((used()-start).Milliseconds())/float64(b.N), "cpu-ms/op")
	}
}
