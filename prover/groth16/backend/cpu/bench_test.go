package cpu_test

import (
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/consensys/gnark/backend/groth16"

	"github.com/cuzk-dev/cuzk/prover/curve"
	prover "github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
)

// BenchmarkProve compares the time of a proof with that of gnark's own prover, on a chain of 65,530 multiplications:
// from the solved witness to the proof. gnark's prover solves as well; its time without the solver is reported apart.
func BenchmarkProve(b *testing.B) {
	for _, id := range curve.All {
		for _, length := range []int{65_530} {
			g := newChain(b, id, length)
			b.Run(string(id)+"/"+strconv.Itoa(length)+"/cuzk", func(b *testing.B) {
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
			b.Run(string(id)+"/"+strconv.Itoa(length)+"/gnark", func(b *testing.B) {
				defer reportProcessorTime(b)()
				for b.Loop() {
					if _, err := groth16.Prove(g.system, g.pk, g.witness); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
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
