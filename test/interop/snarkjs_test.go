//go:build interop

package interop_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/circom"
	"github.com/cuzk-dev/cuzk/test/perf/setup"
)

func TestSnarkjsVerifiesProofsOfCuzk(t *testing.T) {
	var tasks []task
	for _, folder := range circomFolders(t) {
		out := t.TempDir()
		command(t, folder, cuzk, "prove", "circuit_final.zkey", "witness.wtns", filepath.Join(out, "proof.json"), filepath.Join(out, "public.json"))
		command(t, folder, cuzk, "export", "verifying-key", "circuit_final.zkey", filepath.Join(out, "vk.json"))
		for _, vk := range []string{filepath.Join(folder, "vk.json"), filepath.Join(out, "vk.json")} {
			tasks = append(tasks, task{Op: "verify", VK: vk, Public: filepath.Join(out, "public.json"), Proof: filepath.Join(out, "proof.json")})
		}
		if got, want := read(t, filepath.Join(out, "public.json")), read(t, filepath.Join(folder, "public.json")); got != want {
			t.Errorf("%s: public.json is\n%s\nand that of snarkjs\n%s", folder, got, want)
		}
	}
	snarkjs(t, tasks...)
}

func TestCuzkVerifiesProofsOfSnarkjs(t *testing.T) {
	var tasks []task
	out := t.TempDir()
	for i, folder := range circomFolders(t) {
		name := filepath.Join(out, string(rune('a'+i)))
		tasks = append(tasks, task{Op: "prove", Zkey: filepath.Join(folder, "circuit_final.zkey"), Wtns: filepath.Join(folder, "witness.wtns"),
			Public: name + ".public.json", Proof: name + ".proof.json"})
	}
	snarkjs(t, tasks...)
	for i, folder := range circomFolders(t) {
		command(t, folder, cuzk, "verify", "vk.json", tasks[i].Public, tasks[i].Proof)
	}
}

// The flow from input.json, with circuits of the fixtures' sources compiled here and the fixtures' keys: circom2 is the
// same compiler, so that the numbering of wires is the same.
func TestProofFromInput(t *testing.T) {
	for _, c := range []struct{ circuit, prime, input string }{
		{"poseidon_merkle5", "bn128", "poseidon_merkle5_bn128.json"},
		{"poseidon_merkle5", "bls12381", "poseidon_merkle5_bls12381.json"},
		{"bits", "bls12381", "bits.json"},
		{"mulchain_1000", "bn128", "mulchain.json"},
		{"no_public", "bls12381", "no_public.json"},
	} {
		t.Run(c.circuit+"/"+c.prime, func(t *testing.T) {
			folder := fixtures(t, "circom", c.prime, c.circuit)
			dir := compile(t, fixtures(t, "circom", "src"), c.circuit, c.prime)
			command(t, dir, cuzk, "prove", "--proving-key", filepath.Join(folder, "circuit_final.zkey"), "--constraint-system", c.circuit+".r1cs",
				"--wasm", filepath.Join(c.circuit+"_js", c.circuit+".wasm"), "--input", fixtures(t, "circom", "inputs", c.input),
				"--proof", "proof.json", "--public", "public.json")
			snarkjs(t, task{Op: "verify", VK: filepath.Join(folder, "vk.json"), Public: filepath.Join(dir, "public.json"), Proof: filepath.Join(dir, "proof.json")})
		})
	}
}

// SHA-256 of 512 bits: 60,000 constraints, whose key is made here.
func TestSHA256(t *testing.T) {
	dir := compile(t, fixtures(t, "circom", "src"), "sha256_512", "bn128")
	c, err := circom.OpenConstraints(context.Background(), filepath.Join(dir, "sha256_512.r1cs"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := setup.Zkey(c.Matrices, "interop")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "circuit.zkey"), key, 0o644); err != nil {
		t.Fatal(err)
	}
	command(t, dir, cuzk, "prove", "--proving-key", "circuit.zkey", "--wasm", "sha256_512_js/sha256_512.wasm",
		"--input", fixtures(t, "circom", "inputs", "sha256_512.json"), "--proof", "proof.json", "--public", "public.json")
	snarkjs(t, task{Op: "vk", Zkey: filepath.Join(dir, "circuit.zkey"), VK: filepath.Join(dir, "vk.json")},
		task{Op: "verify", VK: filepath.Join(dir, "vk.json"), Public: filepath.Join(dir, "public.json"), Proof: filepath.Join(dir, "proof.json")})
}

// The sample circuits of this repository, with the witness generators made here.
func TestSampleCircuits(t *testing.T) {
	circuits, err := filepath.Abs("../circuits")
	if err != nil {
		t.Fatal(err)
	}
	wasm := t.TempDir()
	command(t, circuits, "./build.sh", "wasm", wasm)
	keys, err := filepath.Glob(filepath.Join(circuits, "b*", "*", "*.zkey"))
	if err != nil || len(keys) == 0 {
		t.Fatalf("no sample keys: %v", err)
	}
	var tasks []task
	for _, key := range keys {
		folder := filepath.Dir(key)
		circuit, prime := filepath.Base(folder), filepath.Base(filepath.Dir(folder))
		out := t.TempDir()
		command(t, folder, cuzk, "prove", "--proving-key", key, "--wasm", filepath.Join(wasm, prime, circuit+".wasm"), "--input", "input.json",
			"--proof", filepath.Join(out, "proof.json"), "--public", filepath.Join(out, "public.json"))
		tasks = append(tasks, task{Op: "vk", Zkey: key, VK: filepath.Join(out, "vk.json")},
			task{Op: "verify", VK: filepath.Join(out, "vk.json"), Public: filepath.Join(out, "public.json"), Proof: filepath.Join(out, "proof.json")})
	}
	snarkjs(t, tasks...)
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
