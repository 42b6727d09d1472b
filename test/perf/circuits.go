package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/test/perf/setup"
)

// chainSteps is the length of the multiplier chain: with its public inputs it just fits a domain of 2^16.
const chainSteps = 65530

// chainSource is the multiplier chain for circom.
const chainSource = `pragma circom 2.0.0;
template Chain(N) {
    signal input x;
    signal input k;
    signal output out;
    signal s[N+1];
    s[0] <== x;
    for (var i = 0; i < N; i++) { s[i+1] <== s[i]*s[i] + k; }
    out <== s[N];
}
component main {public [k]} = Chain(%d);
`

// shaSource hashes 512 bits with circomlib's SHA-256.
const shaSource = `pragma circom 2.0.0;
include "circomlib/circuits/sha256/sha256.circom";
component main = Sha256(512);
`

// lab is the folder with all that is measured.
type lab struct {
	options
	snarkjs   string
	gnarkpeer string
}

// prepare makes what is not there yet. Each circuit's folder appears only when it is whole.
func prepare(o options) (*lab, error) {
	if err := os.MkdirAll(o.cache, 0o755); err != nil {
		return nil, err
	}
	l := &lab{options: o}
	node, err := output("bash", filepath.Join(o.root, "test/interop/npm.sh"))
	if err != nil {
		return nil, fmt.Errorf("test/interop/npm.sh: %w", err)
	}
	l.snarkjs = filepath.Join(node, "node_modules/snarkjs/build/cli.cjs")
	l.gnarkpeer = filepath.Join(o.cache, "gnarkpeer")
	if err := command(o.root, "go", "build", "-o", l.gnarkpeer, "./test/perf/gnarkpeer"); err != nil {
		return nil, err
	}
	if err := l.make("gnark", func(dir string) error {
		return command("", l.gnarkpeer, "setup", "-dir", dir, "-curve", "bn254", "-constraints", fmt.Sprint(chainSteps))
	}); err != nil {
		return nil, err
	}
	bits := make([]string, 512)
	for i := range bits {
		bits[i] = fmt.Sprint(i % 2) // a bit costs the same whatever it is
	}
	for _, c := range []struct {
		name, source string
		input        any
	}{
		{"chain", fmt.Sprintf(chainSource, chainSteps), map[string]string{"x": "3", "k": "5"}},
		{"sha256_512", shaSource, map[string][]string{"in": bits}},
	} {
		if err := l.make(c.name, func(dir string) error { return l.circom(node, dir, c.name, c.source, c.input) }); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// make fills a folder of the cache unless it is there.
func (l *lab) make(name string, fill func(dir string) error) error {
	dest := filepath.Join(l.cache, name)
	if _, err := os.Stat(dest); err == nil {
		return nil
	}
	slog.Info("Making circuit and keys, once", "name", name)
	tmp, err := os.MkdirTemp(l.cache, "."+name+"-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		return err
	}
	return os.Rename(tmp, dest)
}

// circom compiles a circuit, makes its key and a witness.
func (l *lab) circom(node, dir, name, source string, input any) error {
	// circom2 sees only what lies below the working folder.
	if err := os.CopyFS(filepath.Join(dir, "circomlib"), os.DirFS(filepath.Join(node, "node_modules/circomlib"))); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+".circom"), []byte(source), 0o644); err != nil {
		return err
	}
	data, err := json.Marshal(input)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "input.json"), data, 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"node", filepath.Join(node, "node_modules/circom2/cli.js"), name + ".circom", "--r1cs", "--wasm", "-l", "."},
		{"node", name + "_js/generate_witness.js", name + "_js/" + name + ".wasm", "input.json", "witness.wtns"},
	} {
		if err := command(dir, args[0], args[1:]...); err != nil {
			return err
		}
	}
	constraints, err := circom.OpenConstraints(context.Background(), filepath.Join(dir, name+".r1cs"))
	if err != nil {
		return err
	}
	key, err := setup.Zkey(constraints.Matrices, name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "circuit.zkey"), key, 0o644); err != nil {
		return err
	}
	if err := command(dir, "node", l.snarkjs, "zkey", "export", "verificationkey", "circuit.zkey", "vk.json"); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, "circomlib"))
}

// comparisons are all that is measured.
func (l *lab) comparisons() []plan {
	var plans []plan
	for _, c := range []struct{ folder, circuit string }{
		{"sha256_512", "SHA-256 of 512 bits, circomlib's circuit, BN254"},
		{"chain", fmt.Sprintf("chain of %d multiplications, circom, BN254", chainSteps)},
	} {
		dir := filepath.Join(l.cache, c.folder)
		plans = append(plans, plan{
			name: "snarkjs, " + c.folder, circuit: c.circuit,
			programs: []program{
				{name: "cuzk", dir: dir, args: []string{l.cuzk, "prove", "--quiet", "--backend", "cpu", "circuit.zkey", "witness.wtns", "proof.json", "public.json"}, after: l.verified(dir)},
				{name: "snarkjs 0.7.6", dir: dir, args: []string{"node", l.snarkjs, "groth16", "prove", "circuit.zkey", "witness.wtns", "proof.snarkjs.json", "public.snarkjs.json"}, after: samePublic(dir)},
			},
			targets: func(ours, theirs side) []target {
				cpu := pairedRatio(ours, theirs, func(s sample) float64 { return s.CPUSeconds })
				memory := pairedRatio(ours, theirs, func(s sample) float64 { return float64(s.PeakBytes) })
				return []target{
					{Text: "CPU time of snarkjs by that of cuzk, at least 6", Value: cpu, Met: cpu >= 6},
					{Text: "peak memory of snarkjs by that of cuzk, more than 1", Value: memory, Met: memory > 1},
				}
			},
		})
	}
	dir := filepath.Join(l.cache, "gnark")
	plans = append(plans, plan{
		name: "gnark, chain", circuit: fmt.Sprintf("chain of %d multiplications, gnark 0.16, BN254, key as dump; whole process: load, solve, prove, verify", chainSteps),
		programs: []program{
			{name: "cuzk", dir: dir, args: []string{l.cuzk, "prove", "--quiet", "--backend", "cpu", "--proving-key", "pk.dump.bin", "--constraint-system", "ccs.bin", "--witness", "witness.bin", "--verifying-key", "vk.bin", "--proof", "proof.bin", "--public", "public.json"}},
			{name: "gnark 0.16", dir: dir, args: []string{l.gnarkpeer, "prove", "-curve", "bn254", "-runs", "1"}, after: proofMade},
		},
		targets: func(ours, theirs side) []target {
			cpu := pairedRatio(ours, theirs, func(s sample) float64 { return s.CPUSeconds })
			return []target{{Text: "CPU time of gnark by that of cuzk, at least 0.85", Value: cpu, Met: cpu >= 0.85}}
		},
	})
	return plans
}

// verified looks at a proof of cuzk with snarkjs's eyes once, and leaves it there for the rest.
func (l *lab) verified(dir string) func([]byte) error {
	done := false
	return func([]byte) error {
		if done {
			return nil
		}
		done = true
		out, err := output("node", l.snarkjs, "groth16", "verify", filepath.Join(dir, "vk.json"), filepath.Join(dir, "public.json"), filepath.Join(dir, "proof.json"))
		if err != nil || !strings.Contains(out, "OK!") {
			return fmt.Errorf("snarkjs refuses the proof: %v %s", err, out) //nolint:errorlint // err may be nil
		}
		return nil
	}
}

// samePublic compares the public inputs that both wrote.
func samePublic(dir string) func([]byte) error {
	return func([]byte) error {
		a, errA := os.ReadFile(filepath.Join(dir, "public.json"))
		b, errB := os.ReadFile(filepath.Join(dir, "public.snarkjs.json"))
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return errors.New("cuzk and snarkjs wrote different public inputs")
		}
		return nil
	}
}

// proofMade checks that gnarkpeer reports a proof.
func proofMade(stdout []byte) error {
	var r struct {
		Proofs []json.RawMessage `json:"proofs"`
	}
	if err := json.Unmarshal(stdout, &r); err != nil || len(r.Proofs) == 0 {
		return fmt.Errorf("no proof reported: %v", err) //nolint:errorlint // err may be nil
	}
	return nil
}
