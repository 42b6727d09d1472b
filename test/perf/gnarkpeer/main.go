// Command gnarkpeer proves with gnark's own Groth16 prover, as a peer that cuzk is measured against.
//
//	gnarkpeer setup -dir DIR -curve bn254 -constraints 65530   # files for both provers
//	gnarkpeer prove -dir DIR -curve bn254 -runs 3              # proves, prints JSON
//
// The circuit is a chain x → x² + k, the same as test/perf's circom circuit: one constraint a step.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/logger"
	"github.com/rs/zerolog"
)

// chain is x → x² + k, Steps times.
type chain struct {
	K   frontend.Variable `gnark:",public"`
	Out frontend.Variable `gnark:",public"`
	X   frontend.Variable

	steps int
}

// Define makes one constraint a step and one for the output.
func (c *chain) Define(api frontend.API) error {
	x := c.X
	for range c.steps {
		x = api.Add(api.Mul(x, x), c.K)
	}
	api.AssertIsEqual(x, c.Out)
	return nil
}

func main() {
	logger.Set(zerolog.New(io.Discard))
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gnarkpeer:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: gnarkpeer setup|prove [flags]")
	}
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	dir := fs.String("dir", ".", "folder of the circuit's files")
	curveName := fs.String("curve", "bn254", "bn254 or bls12_381")
	steps := fs.Int("constraints", 65530, "length of the chain")
	runs := fs.Int("runs", 1, "proofs to make")
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	id, err := ecc.IDFromString(*curveName)
	if err != nil {
		return err
	}
	switch args[0] {
	case "setup":
		return setup(*dir, id, *steps)
	case "prove":
		return prove(*dir, id, *runs)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func setup(dir string, id ecc.ID, steps int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	r := id.ScalarField()
	ccs, err := frontend.Compile(r, r1cs.NewBuilder, &chain{steps: steps})
	if err != nil {
		return err
	}
	pk, vk, err := groth16.Setup(ccs)
	if err != nil {
		return err
	}
	x, k := big.NewInt(3), big.NewInt(5)
	for range steps {
		x.Mul(x, x)
		x.Add(x, k)
		x.Mod(x, r)
	}
	w, err := frontend.NewWitness(&chain{K: 5, X: 3, Out: x}, r)
	if err != nil {
		return err
	}
	public, err := w.Public()
	if err != nil {
		return err
	}
	slog.Info("Made a circuit and its keys", "constraints", ccs.GetNbConstraints(), "curve", id.String())
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"ccs.bin", func(w io.Writer) error { _, err := ccs.WriteTo(w); return err }},
		{"pk.bin", func(w io.Writer) error { _, err := pk.WriteRawTo(w); return err }},
		{"pk.dump.bin", pk.WriteDump},
		{"vk.bin", func(w io.Writer) error { _, err := vk.WriteTo(w); return err }},
		{"witness.bin", func(out io.Writer) error { _, err := w.WriteTo(out); return err }},
		{"public.bin", func(out io.Writer) error { _, err := public.WriteTo(out); return err }},
	} {
		if err := writeFile(filepath.Join(dir, f.name), f.write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// result is what prove prints.
type result struct {
	// Load is reading key, constraint system and witness.
	Load cost `json:"load"`
	// Proofs is groth16.Prove of each run, solving included.
	Proofs []cost `json:"proofs"`
}

// cost of a piece of work, in milliseconds.
type cost struct {
	Wall float64 `json:"wallMilliseconds"`
	CPU  float64 `json:"cpuMilliseconds"`
}

func measure(work func() error) (cost, error) {
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return cost{}, err
	}
	start := time.Now()
	if err := work(); err != nil {
		return cost{}, err
	}
	wall := time.Since(start)
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		return cost{}, err
	}
	cpu := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	return cost{Wall: float64(wall.Microseconds()) / 1e3, CPU: float64(cpu) / 1e6}, nil
}

func prove(dir string, id ecc.ID, runs int) error {
	ccs, pk, vk := groth16.NewCS(id), groth16.NewProvingKey(id), groth16.NewVerifyingKey(id)
	w, err := witness.New(id.ScalarField())
	if err != nil {
		return err
	}
	var res result
	res.Load, err = measure(func() error {
		for _, f := range []struct {
			name string
			read func(io.Reader) error
		}{
			{"ccs.bin", func(r io.Reader) error { _, err := ccs.ReadFrom(r); return err }},
			{"pk.dump.bin", pk.ReadDump}, // gnark's quickest way
			{"vk.bin", func(r io.Reader) error { _, err := vk.ReadFrom(r); return err }},
			{"witness.bin", func(r io.Reader) error { _, err := w.ReadFrom(r); return err }},
		} {
			if err := readFile(filepath.Join(dir, f.name), f.read); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	public, err := w.Public()
	if err != nil {
		return err
	}
	for range runs {
		var proof groth16.Proof
		c, err := measure(func() (err error) { proof, err = groth16.Prove(ccs, pk, w); return err })
		if err != nil {
			return err
		}
		if err := groth16.Verify(proof, vk, public); err != nil {
			return err
		}
		res.Proofs = append(res.Proofs, c)
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

func readFile(path string, read func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}
