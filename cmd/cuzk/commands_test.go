package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInspect(t *testing.T) {
	folder := fixtures(t, "circom", "bn128", "bits")
	r := succeed(t, folder, "inspect", "circuit_final.zkey")
	for _, line := range []string{"BN254", "constraints        4080", "domain size        4096", "sha256:181d5e934852f96a21ec778fdd38c2a4088a5d66f8f4a465e04dab4182fe2908"} {
		if !strings.Contains(r.stdout, line) {
			t.Errorf("no %q in:\n%s", line, r.stdout)
		}
	}
	var got struct {
		Kind  string
		Check *struct{ OK, Remembered bool }
	}
	for i, want := range []bool{false, true} {
		r := succeed(t, folder, "inspect", "--output", "json", "--check", "circuit_final.zkey")
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
			t.Fatal(err)
		}
		if got.Kind != "zkey" || !got.Check.OK || got.Check.Remembered != want {
			t.Errorf("check %d: %s", i, r.stdout)
		}
	}
	r = succeed(t, folder, "inspect", "--output", "json", "--check", "--check-again", "circuit_final.zkey")
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || got.Check.Remembered {
		t.Errorf("%v: %s", err, r.stdout)
	}
	fail(t, folder, 2, []string{"missing FILE"}, "inspect")
	fail(t, folder, 2, []string{"absent"}, "inspect", "absent")
	fail(t, folder, 2, []string{"BN254", "BLS12-381"}, "inspect", "--curve", "bls12381", "vk.json")
}

// A witness is secret: nothing of it is printed.
func TestInspectShowsNoWitness(t *testing.T) {
	folder := fixtures(t, "gnark", "bn254", "mulchain_1000")
	r := succeed(t, folder, "inspect", "--curve", "bn254", "--output", "json", "witness.bin")
	if strings.Contains(r.stdout, "publicInputs\": [") {
		t.Errorf("values of a witness are printed:\n%s", r.stdout)
	}
}

func TestInspectNamesABadPoint(t *testing.T) {
	folder := fixtures(t, "malformed", "bls12381")
	fail(t, folder, 4, []string{"z21_A0_x_ge_q.zkey", "section 5"}, "inspect", "z21_A0_x_ge_q.zkey")
	// On the curve's field, but not on the curve: only the full check sees it.
	data := read(t, filepath.Join(folder, "z00_ok.zkey"))
	all := borders(data)
	at := 0
	for i := 4; i < len(all); i += 4 { // four borders a section: size, content, middle, end
		if data[all[i]-4] == 9 {
			at = all[i+1]
		}
	}
	bad := append([]byte(nil), data...)
	bad[at+16] ^= 1
	path := filepath.Join(t.TempDir(), "bad.zkey")
	write(t, path, bad)
	succeed(t, folder, "inspect", path)
	fail(t, folder, 4, []string{path, "section 9", "point 0"}, "inspect", "--check", path)
}

func TestExportVerifyingKey(t *testing.T) {
	circomFixtures(t, func(t *testing.T, folder string) {
		out := t.TempDir()
		vk := filepath.Join(out, "vk.json")
		succeed(t, folder, "export", "verifying-key", "circuit_final.zkey", vk)
		var ours, theirs map[string]any
		if err := json.Unmarshal(read(t, vk), &ours); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(read(t, filepath.Join(folder, "vk.json")), &theirs); err != nil {
			t.Fatal(err)
		}
		delete(theirs, "vk_alphabeta_12") // follows from the rest
		if d := cmp.Diff(theirs, ours); d != "" {
			t.Errorf("-snarkjs +cuzk:\n%s", d)
		}
		for _, format := range []string{"gnark", "gnark-raw"} {
			bin := filepath.Join(out, format+".bin")
			succeed(t, folder, "export", "verifying-key", "--format", format, "circuit_final.zkey", bin)
			succeed(t, folder, "verify", bin, "public.json", "proof.json")
		}
	})
	folder := fixtures(t, "malformed", "bn128")
	out := t.TempDir()
	fail(t, out, 4, []string{"z02_truncated_half.zkey"}, "export", "verifying-key", filepath.Join(folder, "z02_truncated_half.zkey"), "vk.json")
	fail(t, out, 2, []string{"--format pem"}, "export", "verifying-key", "--format", "pem", filepath.Join(folder, "z00_ok.zkey"), "vk.json")
	unchanged(t, out)
}

func TestBench(t *testing.T) {
	folder := fixtures(t, "circom", "bn128", "mulchain_1000")
	out := t.TempDir()
	r := succeed(t, folder, "bench", "--output", "json", "--runs", "3", "--warmup", "2", "circuit_final.zkey", "witness.wtns")
	type run struct {
		Kind   string
		Stages map[string]float64
	}
	var report struct {
		Backend          string
		PeakBytes        int64
		WarmupRuns, Runs []run
		Total            struct{ Median, Min, Max float64 }
		Stages, Kernels  map[string]struct{ Median, Min, Max float64 }
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.WarmupRuns) != 2 || len(report.Runs) != 3 || report.Backend != "cpu" || report.PeakBytes == 0 {
		t.Errorf("report:\n%s", r.stdout)
	}
	for _, stage := range []string{"queue", "srs", "synth", "gpu", "verify"} {
		s, ok := report.Stages[stage]
		if !ok || s.Min > s.Median || s.Median > s.Max {
			t.Errorf("stage %s: %+v, there %v", stage, s, ok)
		}
	}
	if report.Total.Median <= 0 || report.Total.Median < report.Stages["gpu"].Median {
		t.Errorf("total %+v", report.Total)
	}
	baseline := filepath.Join(out, "before.json")
	write(t, baseline, []byte(r.stdout))
	r = succeed(t, folder, "bench", "--runs", "1", "--warmup", "0", "--compare", baseline, "circuit_final.zkey", "witness.wtns")
	for _, word := range []string{"median", "now/then", "total", "gpu"} {
		if !strings.Contains(r.stdout, word) {
			t.Errorf("no %q in:\n%s", word, r.stdout)
		}
	}
	other := fixtures(t, "circom", "bn128", "bits")
	fail(t, other, 2, []string{baseline, "number of wires was"}, "bench", "--compare", baseline, "circuit_final.zkey", "witness.wtns")
	fail(t, fixtures(t, "circom", "bls12381", "mulchain_1000"), 2, []string{baseline, "curve was BN254 then and is BLS12-381 now"},
		"bench", "--compare", baseline, "circuit_final.zkey", "witness.wtns")
	fail(t, folder, 2, []string{"--runs"}, "bench", "--runs", "0", "circuit_final.zkey", "witness.wtns")
	fail(t, folder, 2, []string{"report of cuzk bench"}, "bench", "--compare", "vk.json", "circuit_final.zkey", "witness.wtns")
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	r := succeed(t, dir, "--help")
	for _, command := range []string{"prove", "verify", "inspect", "export", "bench", "work", "version"} {
		if !strings.Contains(r.stdout, "\n  "+command) {
			t.Errorf("help lacks %s:\n%s", command, r.stdout)
		}
	}
	for _, command := range []string{"prove", "verify", "inspect", "export verifying-key", "bench", "version"} {
		if r := succeed(t, dir, append(strings.Fields(command), "--help")...); !strings.Contains(r.stdout, "Examples:") {
			t.Errorf("%s --help has no examples", command)
		}
	}
	fail(t, dir, 2, []string{"unknown command", "prov"}, "prov")
	fail(t, dir, 2, []string{"--log-format xml"}, "version", "--log-format", "xml")
	fail(t, dir, 2, []string{"--threads -1"}, "version", "--threads", "-1")
	if r := run(t, dir, "version", "--output", "yaml"); r.code != 2 || !strings.Contains(r.stderr, "use text or json") {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
	unchanged(t, dir)
}

func TestVersion(t *testing.T) {
	var v struct{ Version, Go, Gnark string }
	r := succeed(t, t.TempDir(), "version", "--output", "json")
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v.Version == "" || v.Go == "" || !strings.HasPrefix(v.Gnark, "v0.") {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

// Logs are JSON where standard error is no terminal, one record a line, and hold no secret.
func TestLogs(t *testing.T) {
	folder := fixtures(t, "circom", "bn128", "mulchain_1")
	out := t.TempDir()
	r := succeed(t, out, "prove", filepath.Join(folder, "circuit_final.zkey"), filepath.Join(folder, "witness.wtns"), "proof.json", "public.json")
	if r.stdout != "" {
		t.Errorf("standard output without --output json: %q", r.stdout)
	}
	records := 0
	for line := range strings.Lines(r.stderr) {
		var record struct{ Msg, Level string }
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Msg == "" {
			t.Errorf("no record: %q, %v", line, err)
		}
		records++
	}
	if records == 0 {
		t.Error("no log")
	}
	r = succeed(t, out, "prove", "--quiet", filepath.Join(folder, "circuit_final.zkey"), filepath.Join(folder, "witness.wtns"), "proof.json", "public.json")
	if r.stderr != "" {
		t.Errorf("--quiet logs:\n%s", r.stderr)
	}
	if _, err := os.Stat(filepath.Join(out, "public.json")); err != nil {
		t.Error(err)
	}
}
