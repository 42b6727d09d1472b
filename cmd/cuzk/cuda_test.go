//go:build cuda

// These tests run cuzk with a CUDA library. `make test-cuda` names two: the library on the emulator (CUZK_LIBRARY), which runs
// the kernels of the real one on the processor, and the real one (CUZK_DEVICE_LIBRARY).
package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// library is a path from the environment.
func library(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s does not name a library", variable)
	}
	return path
}

// proveEmulated proves on the emulated device, and wants a proof that was computed there and verifies at the first go.
func proveEmulated(t *testing.T, args ...string) {
	t.Helper()
	library(t, "CUZK_LIBRARY")
	out := t.TempDir()
	r := succeed(t, ".", append([]string{"prove", "--backend", "cuda", "--output", "json",
		"--proof", filepath.Join(out, "proof"), "--public", filepath.Join(out, "public")}, args...)...)
	var result struct {
		Backend      string
		Verified     bool
		Milliseconds struct{ Kernels map[string]float64 }
	}
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
		t.Fatal(err)
	}
	if result.Backend != "cuda" || !result.Verified || result.Milliseconds.Kernels["gpu_total"] == 0 {
		t.Errorf("%+v", result)
	}
	if strings.Contains(r.stderr, "did not verify") {
		t.Errorf("not at the first go:\n%s", r.stderr)
	}
}

var ownCircuits = filepath.Join("..", "..", "test", "circuits")

// One circuit of each kind: all others are proved by the tests of the backend, which need one self-test only.
func TestProvesOnTheEmulator(t *testing.T) {
	t.Run("circom", func(t *testing.T) {
		in := func(name string) string { return filepath.Join(ownCircuits, "bls12381", "multiplier", name) }
		proveEmulated(t, "--proving-key", in("multiplier.zkey"), "--witness", in("witness.wtns"), "--verifying-key", in("vk.json"))
	})
	t.Run("gnark", func(t *testing.T) {
		in := func(name string) string { return filepath.Join(ownCircuits, "gnark", "age", name) }
		proveEmulated(t, "--proving-key", in("pk.bin"), "--constraint-system", in("ccs.bin"), "--witness", in("witness-1.bin"), "--verifying-key", in("vk.bin"))
	})
}

// A witness that does not satisfy the circuit is refused as on the processor, and no device is blamed for it.
func TestRefusesAWrongWitnessOnTheEmulator(t *testing.T) {
	library(t, "CUZK_LIBRARY")
	folder := filepath.Join(ownCircuits, "bn128", "multiplier")
	witness, err := os.ReadFile(filepath.Join(folder, "witness.wtns"))
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	witness[len(witness)-32] ^= 1 // of the last wire, the least byte
	wrong := filepath.Join(out, "wrong.wtns")
	if err := os.WriteFile(wrong, witness, 0o600); err != nil {
		t.Fatal(err)
	}
	message := fail(t, folder, 3, []string{"constraint"}, "prove", "--backend", "cuda", "--constraint-system", "multiplier.r1cs",
		"multiplier.zkey", wrong, filepath.Join(out, "proof"), filepath.Join(out, "public"))
	if strings.Contains(message, "Withdrew") {
		t.Error(message)
	}
}

func TestListsTheEmulatedDevice(t *testing.T) {
	library(t, "CUZK_LIBRARY")
	var list struct {
		Devices []struct{ UUID, SelfTest string }
	}
	if err := json.Unmarshal([]byte(succeed(t, ".", "devices", "--output", "json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Devices) == 0 || list.Devices[0].SelfTest != "passed" || !strings.HasPrefix(list.Devices[0].UUID, "GPU-") {
		t.Errorf("%+v", list)
	}
}

// The real library loads where there is no driver, and says so; cuda ends with the reason, and auto takes the processor.
func TestRealLibraryWithoutADriver(t *testing.T) {
	t.Setenv("CUZK_LIBRARY", library(t, "CUZK_DEVICE_LIBRARY"))
	if run(t, ".", "devices").code == 0 {
		t.Skip("there is a GPU")
	}
	folder, out := filepath.Join(ownCircuits, "bn128", "multiplier"), t.TempDir()
	files := []string{"multiplier.zkey", "witness.wtns", filepath.Join(out, "proof"), filepath.Join(out, "public")}
	fail(t, folder, 6, []string{"there is no NVIDIA GPU to use", "driver 580"}, append([]string{"prove", "--backend", "cuda"}, files...)...)
	r := succeed(t, folder, append([]string{"prove", "--output", "json"}, files...)...)
	if !strings.Contains(r.stderr, "Chose the CPU backend") || !strings.Contains(r.stdout, `"backend": "cpu"`) {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}
