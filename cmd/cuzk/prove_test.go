package main_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProve(t *testing.T) {
	circomFixtures(t, func(t *testing.T, folder string) {
		out := t.TempDir()
		proof, public := filepath.Join(out, "proof.json"), filepath.Join(out, "public.json")
		succeed(t, folder, "prove", "circuit_final.zkey", "witness.wtns", proof, public)
		succeed(t, folder, "verify", "vk.json", public, proof)
		if d := cmp.Diff(string(read(t, filepath.Join(folder, "public.json"))), string(read(t, public))); d != "" {
			t.Errorf("public.json (-snarkjs +cuzk):\n%s", d)
		}
		// The same circuit, as flags and with the constraint system; over the files that are there.
		first := read(t, proof)
		constraints := filepath.Base(folder) + ".r1cs"
		succeed(t, folder, "prove", "--proving-key", "circuit_final.zkey", "--witness", "witness.wtns", "--constraint-system", constraints,
			"--verifying-key", "vk.json", "--backend", "cpu", "--threads", "1", "--proof", proof, "--public", public)
		succeed(t, folder, "verify", "vk.json", public, proof)
		unchanged(t, out, "proof.json", "public.json")
		// r and s are new each time, so no part of the proof is the same.
		var a, b map[string]any
		if err := json.Unmarshal(first, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(read(t, proof), &b); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"pi_a", "pi_b", "pi_c"} {
			if cmp.Equal(a[part], b[part]) {
				t.Errorf("%s is the same in two proofs", part)
			}
		}
	})
}

func TestProveGnark(t *testing.T) {
	for _, curve := range []string{"bn254", "bls12_381"} {
		folder := fixtures(t, "gnark", curve, "mulchain_1000")
		for _, key := range []string{"pk.bin", "pk.raw.bin", "pk.dump.bin"} {
			out := t.TempDir()
			proof, public := filepath.Join(out, "proof.bin"), filepath.Join(out, "public.bin")
			r := succeed(t, folder, "prove", "--output", "json", "--curve", curve, "--proving-key", key, "--constraint-system", "ccs.bin", "--witness", "witness.bin",
				"--verifying-key", "vk.bin", "--proof", proof, "--public", public)
			succeed(t, folder, "verify", "vk.bin", public, proof)
			if d := cmp.Diff(read(t, filepath.Join(folder, "public.bin")), read(t, public)); d != "" {
				t.Errorf("public.bin (-gnark +cuzk):\n%s", d)
			}
			var printed struct {
				Verified bool
				Backend  string
			}
			if err := json.Unmarshal([]byte(r.stdout), &printed); err != nil || !printed.Verified || printed.Backend != "cpu" {
				t.Errorf("printed %+v, %v", printed, err)
			}
		}
		// Other forms.
		out := t.TempDir()
		proof, public := filepath.Join(out, "proof.json"), filepath.Join(out, "public.json")
		succeed(t, folder, "prove", "--proving-key", "pk.dump.bin", "--constraint-system", "ccs.bin", "--witness", "witness.bin",
			"--verifying-key", "vk.bin", "--proof-format", "snarkjs", "--proof", proof, "--public", public)
		succeed(t, folder, "verify", "vk.bin", public, proof)
		// Without a verifying key the proof is written, and the log says what was not done.
		r := succeed(t, folder, "prove", "--output", "json", "--proving-key", "pk.dump.bin", "--constraint-system", "ccs.bin", "--witness", "witness.bin",
			"--proof", proof, "--public", public)
		if !strings.Contains(r.stderr, "without having been verified") || !strings.Contains(r.stdout, `"verified": false`) {
			t.Errorf("no word that the proof is not verified:\n%s%s", r.stdout, r.stderr)
		}
		succeed(t, folder, "verify", "vk.bin", public, proof)
	}
}

func TestProveRefuses(t *testing.T) {
	circom := fixtures(t, "circom", "bn128", "mulchain_1000")
	other := fixtures(t, "circom", "bn128", "bits")
	bls := fixtures(t, "circom", "bls12381", "mulchain_1000")
	gnark := fixtures(t, "gnark", "bn254", "mulchain_1000")
	in := filepath.Join
	key, witness := in(circom, "circuit_final.zkey"), in(circom, "witness.wtns")
	outputs := []string{"--proof", "proof", "--public", "public"}
	for name, tc := range map[string]struct {
		code int
		text []string
		args []string
	}{
		"no arguments":               {2, []string{"PROVING_KEY is missing"}, nil},
		"three arguments":            {2, []string{"3 arguments", "PROVING_KEY WITNESS PROOF PUBLIC"}, []string{key, witness, "proof"}},
		"swapped files":              {2, []string{"circom witness", "not a proving key"}, []string{witness, key, "proof", "public"}},
		"no witness":                 {2, []string{"a witness is missing"}, append([]string{"--proving-key", key}, outputs...)},
		"input without wasm":         {2, []string{"--input needs --wasm"}, append([]string{"--proving-key", key, "--input", "x.json"}, outputs...)},
		"witness and input":          {2, []string{"--witness and --input exclude each other"}, append([]string{"--proving-key", key, "--witness", witness, "--wasm", "x.wasm", "--input", "x.json"}, outputs...)},
		"absent key":                 {2, []string{"absent.zkey", "does not exist"}, []string{"absent.zkey", witness, "proof", "public"}},
		"absent witness":             {2, []string{"absent.wtns", "does not exist"}, []string{key, "absent.wtns", "proof", "public"}},
		"a folder as key":            {2, []string{circom, "is not a file"}, []string{circom, witness, "proof", "public"}},
		"key of another circuit":     {3, []string{witness, "another circuit"}, []string{in(other, "circuit_final.zkey"), witness, "proof", "public"}},
		"witness on another curve":   {3, []string{"BLS12-381", "BN254"}, []string{key, in(bls, "witness.wtns"), "proof", "public"}},
		"another curve asked for":    {4, []string{"BN254", "BLS12-381"}, []string{"--curve", "bls12381", key, witness, "proof", "public"}},
		"r1cs of another circuit":    {4, []string{"bits.r1cs", "another circuit"}, []string{"--constraint-system", in(other, "bits.r1cs"), key, witness, "proof", "public"}},
		"vk of another circuit":      {4, []string{in(other, "vk.json")}, []string{"--verifying-key", in(other, "vk.json"), key, witness, "proof", "public"}},
		"unknown curve":              {2, []string{"bw6"}, []string{"--curve", "bw6", key, witness, "proof", "public"}},
		"unknown backend":            {2, []string{"--backend gpu"}, []string{"--backend", "gpu", key, witness, "proof", "public"}},
		"no CUDA library":            {6, []string{"libcuzk.so", "--backend cpu"}, []string{"--backend", "cuda", key, witness, "proof", "public"}},
		"unknown flag":               {2, []string{"--speed"}, []string{"--speed", key, witness, "proof", "public"}},
		"gnark's hash for circom":    {2, []string{"--commitment-hash is for gnark"}, []string{"--commitment-hash", "sha256", key, witness, "proof", "public"}},
		"gnark without constraints":  {2, []string{"--constraint-system"}, []string{in(gnark, "pk.bin"), in(gnark, "witness.bin"), "proof", "public"}},
		"gnark's witness for circom": {3, []string{in(gnark, "witness.bin"), "wtns"}, []string{key, in(gnark, "witness.bin"), "proof", "public"}},
		"circom's witness for gnark": {3, []string{witness}, []string{"--constraint-system", in(gnark, "ccs.bin"), in(gnark, "pk.bin"), witness, "proof", "public"}},
		"wrong digest":               {4, []string{key, "digest differs"}, []string{"--digest", "proving-key=sha256:" + strings.Repeat("0", 64), key, witness, "proof", "public"}},
		"digest of no file":          {2, []string{"--digest wasm"}, []string{"--digest", "wasm=sha256:" + strings.Repeat("0", 64), key, witness, "proof", "public"}},
		"a scheme nobody knows":      {2, []string{"ftp", "https"}, []string{"ftp://host/key.zkey", witness, "proof", "public"}},
		"nowhere to download to":     {2, []string{"no cache folder", "--cache-dir"}, []string{"--cache-dir", "", "https://localhost/key.zkey", witness, "proof", "public"}},
		"memory limit":               {2, []string{"8 apples"}, []string{"--memory-limit", "8 apples", key, witness, "proof", "public"}},
		"too little memory":          {8, []string{key, "for the key and", "but there are 1.0 KiB", "--memory-limit"}, []string{"--memory-limit", "1KiB", key, witness, "proof", "public"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			fail(t, out, tc.code, tc.text, append([]string{"prove"}, tc.args...)...)
			unchanged(t, out)
		})
	}
}

// A witness that does not satisfy the circuit: with the .r1cs the constraint is named, without it what to hand in.
// Without a library that can be used, auto takes the processor and says why.
func TestBackendAutoSaysWhyItTakesTheProcessor(t *testing.T) {
	t.Setenv("CUZK_LIBRARY", filepath.Join(t.TempDir(), "libcuzk.so"))
	folder := filepath.Join("..", "..", "test", "circuits", "bn128", "multiplier")
	out := t.TempDir()
	r := succeed(t, folder, "prove", "--output", "json", "multiplier.zkey", "witness.wtns", filepath.Join(out, "proof.json"), filepath.Join(out, "public.json"))
	if !strings.Contains(r.stderr, "Chose the CPU backend") || !strings.Contains(r.stderr, "libcuzk.so") || !strings.Contains(r.stdout, `"backend": "cpu"`) {
		t.Errorf("it does not say why:\n%s%s", r.stdout, r.stderr)
	}
	fail(t, folder, 6, []string{"libcuzk.so", "CUZK_LIBRARY"}, "devices")
}

func TestProveRefusesAnUnsatisfiedWitness(t *testing.T) {
	folder := fixtures(t, "circom", "bn128", "mulchain_1000")
	data := bytes.Clone(read(t, filepath.Join(folder, "witness.wtns")))
	// Section 2 begins behind 12 + 12 + 40 + 12 bytes. By the .r1cs, constraint 496 is w499² = w500 − w2, and the first
	// with wire 500.
	data[76+32*500] ^= 1
	out := t.TempDir()
	bad := filepath.Join(out, "bad.wtns")
	write(t, bad, data)
	key, constraints := filepath.Join(folder, "circuit_final.zkey"), filepath.Join(folder, "mulchain_1000.r1cs")
	fail(t, out, 3, []string{"mulchain_1000.r1cs", "constraint 496", "does not satisfy"}, "prove", "--constraint-system", constraints, key, bad, "proof.json", "public.json")
	r := run(t, out, "prove", "--output", "json", key, bad, "proof.json", "public.json")
	if r.code == 0 || !strings.Contains(r.stdout, ".r1cs") {
		t.Errorf("exit code %d, no word of the .r1cs:\n%s", r.code, r.stdout)
	}
	unchanged(t, out, "bad.wtns")
}

func TestProveFetchesURIs(t *testing.T) {
	folder := fixtures(t, "circom", "bn128", "mulchain_1")
	server := httptest.NewTLSServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	out := t.TempDir()
	// The server's certificate is known to nobody: the error may pass, and nothing is written.
	cmd := []string{"prove", server.URL + "/circuit_final.zkey?token=hunter2", filepath.Join(folder, "witness.wtns"), "proof.json", "public.json"}
	done := make(chan result, 1)
	c := exec.Command(program, cmd...)
	c.Dir = out
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = c.Wait(); done <- result{code: c.ProcessState.ExitCode()} }()
	// It tries again with growing pauses; we do not wait for the end of that.
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.code != 143 && r.code != -1 {
		t.Errorf("exit code %d\n%s", r.code, stderr.String())
	}
	if strings.Contains(stderr.String(), "hunter2") {
		t.Errorf("the query is shown:\n%s", stderr.String())
	}
	unchanged(t, out)
}

// SIGTERM and SIGINT while a proof is computed: exit codes 143 and 130, and no file.
func TestProveStopsAtSignals(t *testing.T) {
	folder := fixtures(t, "circom", "bls12381", "bits")
	for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		out := t.TempDir()
		write(t, filepath.Join(out, "proof.json"), []byte("precious"))
		cmd := exec.Command(program, "prove", "--threads", "1", "--log-format", "json", filepath.Join(folder, "circuit_final.zkey"), filepath.Join(folder, "witness.wtns"), "proof.json", "public.json")
		cmd.Dir = out
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The log tells when the key is loaded and the proof is under way.
		seen := make(chan string, 1)
		rest := make(chan string, 1)
		go func() {
			var log bytes.Buffer
			buf := make([]byte, 4096)
			told := false
			for {
				n, err := stderr.Read(buf)
				log.Write(buf[:n])
				if !told && strings.Contains(log.String(), `"stage":"queue"`) {
					told = true
					seen <- log.String()
				}
				if err != nil {
					rest <- log.String()
					return
				}
			}
		}()
		select {
		case <-seen:
		case log := <-rest:
			t.Fatalf("ended before it computed:\n%s", log)
		case <-time.After(time.Minute):
			t.Fatal("does not begin to compute")
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		log := <-rest
		_ = cmd.Wait() // the exit code is looked at
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", signal, got, code, log)
		}
		unchanged(t, out, "proof.json")
		if got := string(read(t, filepath.Join(out, "proof.json"))); got != "precious" {
			t.Errorf("%s: proof.json now holds %q", signal, got)
		}
	}
}
