package main_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// windowFiles makes parameters of a window PoSt of 2 KiB, and the input of three sectors: two partitions.
func windowFiles(t *testing.T) (folder string, statement []string) {
	t.Helper()
	folder = t.TempDir()
	succeed(t, folder, "params", "generate", "window-post", "--sector-size", "2KiB", "--params-dir", "params", "--insecure-known-secret", "test")
	r := succeed(t, folder, "fabricate", "window-post", "--sector-size", "2KiB", "--sectors", "3", "--output", "json", "window")
	var made struct{ Randomness string }
	if err := json.Unmarshal([]byte(r.stdout), &made); err != nil {
		t.Fatal(err)
	}
	return folder, []string{"--miner", "f01000", "--randomness", made.Randomness, "--sectors", "window/sectors.json", "--params-dir", "params"}
}

func TestProveWindowPoSt(t *testing.T) {
	folder, statement := windowFiles(t)
	path := func(name string) string { return filepath.Join(folder, name) }
	prove := func(args ...string) []string {
		return append(append([]string{"prove", "window-post"}, statement...), args...)
	}
	verify := func(name string, args ...string) []string {
		return append(append([]string{"verify", "window-post", name, "--registered-proof", "StackedDrgWindow2KiBV1_1"}, statement...), args...)
	}

	r := succeed(t, folder, prove("--vanilla", "window", "--proof", "proof.bin", "--output", "json")...)
	var out struct {
		Circuit, Parameters, Backend, Proof string
		Verified, Whole                     bool
		Partitions                          []struct {
			Partition, PublicInputs int
			Milliseconds            struct{ Stages map[string]float64 }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatal(err)
	}
	proof := read(t, path("proof.bin"))
	if out.Circuit != "window-post" || out.Parameters != windowName || !out.Verified || !out.Whole || len(out.Partitions) != 2 ||
		out.Proof != base64.StdEncoding.EncodeToString(proof) || len(proof) != 2*192 || out.Partitions[1].PublicInputs != 22 || out.Partitions[1].Milliseconds.Stages["synth"] == 0 {
		t.Errorf("result:\n%s", r.stdout)
	}
	succeed(t, folder, verify("proof.bin")...)

	// The other partition's vanilla proofs are not needed for one.
	succeed(t, folder, prove("--vanilla", "window/vanilla-3.bin", "--partition-index", "1", "--proof", "part.bin")...)
	part := read(t, path("part.bin"))
	succeed(t, folder, verify("part.bin", "--partition-index", "1")...)
	fail(t, folder, 5, []string{"part.bin"}, verify("part.bin", "--partition-index", "0")...)
	write(t, path("together.bin"), append(slices.Clone(proof[:192]), part...))
	succeed(t, folder, verify("together.bin")...)
	write(t, path("swapped.bin"), append(slices.Clone(part), proof[:192]...))
	fail(t, folder, 5, []string{"swapped.bin: partition 0"}, verify("swapped.bin")...)

	fail(t, folder, 3, []string{"partitions [1]", "--partition-index"}, prove("--vanilla", "window/vanilla-3.bin", "--proof", "no.bin")...)
	fail(t, folder, 2, []string{"partition 0", "[1]"}, prove("--vanilla", "window/vanilla-3.bin", "--partition-index", "0", "--proof", "no.bin")...)
	fail(t, folder, 2, []string{"2 partitions"}, prove("--vanilla", "window", "--partition-index", "2", "--proof", "no.bin")...)
	if _, err := os.Stat(path("no.bin")); err == nil {
		t.Error("a proof was written that was refused")
	}
}

// fabricated is what `cuzk fabricate` prints.
type fabricated struct {
	RegisteredProof, Variant, Randomness, ProverID string
	Ticket, Seed, CommD, CommR                     string
	CommROld, CommRNew, CommDNew                   string
	Sectors                                        []struct{ SectorNumber uint64 }
}

// fabricate makes an input.
func fabricate(t *testing.T, folder string, args ...string) *fabricated {
	t.Helper()
	r := succeed(t, folder, append([]string{"fabricate", "--output", "json"}, args...)...)
	f := &fabricated{}
	if err := json.Unmarshal([]byte(r.stdout), f); err != nil {
		t.Fatal(err)
	}
	return f
}

// generate makes parameters in the folder params.
func generate(t *testing.T, folder, circuit, size string) {
	t.Helper()
	succeed(t, folder, "params", "generate", circuit, "--sector-size", size, "--params-dir", "params", "--insecure-known-secret", "test")
}

func TestProveWinningPoSt(t *testing.T) {
	folder := t.TempDir()
	generate(t, folder, "winning-post", "2KiB")
	made := fabricate(t, folder, "winning-post", "--sector-size", "2KiB", "winning")
	statement := []string{"--miner", "f01000", "--randomness", made.Randomness, "--sectors", "winning/sectors.json", "--params-dir", "params"}
	succeed(t, folder, append([]string{"prove", "winning-post", "--vanilla", "winning/vanilla-1.bin", "--proof", "proof.bin"}, statement...)...)
	verify := append([]string{"verify", "winning-post", "proof.bin", "--registered-proof", made.RegisteredProof}, statement...)
	succeed(t, folder, verify...)
	fail(t, folder, 5, []string{"proof.bin"}, with(verify, "randomness", strings.Repeat("07", 32))...)

	// All of Filecoin's software finds parameters by this variable.
	elsewhere := without(verify, "params-dir")
	t.Setenv("FIL_PROOFS_PARAMETER_CACHE", filepath.Join(folder, "none"))
	fail(t, folder, 2, []string{"none", "cannot be opened"}, elsewhere...)
	t.Setenv("FIL_PROOFS_PARAMETER_CACHE", filepath.Join(folder, "params"))
	succeed(t, folder, elsewhere...)
}

// snapFlags are what verifying an update takes.
func (f *fabricated) snapFlags() []string {
	out := []string{"--comm-r-old", f.CommROld, "--comm-r-new", f.CommRNew, "--comm-d-new", f.CommDNew, "--params-dir", "params"}
	if f.RegisteredProof != "" {
		out = append(out, "--registered-proof", f.RegisteredProof)
	}
	if f.Variant != "" {
		out = append(out, "--"+f.Variant)
	}
	return out
}

func TestProveSnapDealsWithPoseidon(t *testing.T) {
	folder := t.TempDir()
	generate(t, folder, "snap-deals-poseidon", "2KiB")
	made := fabricate(t, folder, "snap-deals", "--sector-size", "2KiB", "--poseidon", "vanilla.json")
	if made.Variant != "poseidon" || made.RegisteredProof != "StackedDrg2KiBV1" {
		t.Errorf("%+v", made)
	}
	statement := made.snapFlags()
	r := succeed(t, folder, append([]string{"prove", "snap-deals", "--vanilla", "vanilla.json", "--proof", "proof.bin", "--output", "json"}, without(statement, "registered-proof")...)...)
	if !strings.Contains(r.stdout, `"circuit":"snap-deals-poseidon"`) && !strings.Contains(r.stdout, `"circuit": "snap-deals-poseidon"`) {
		t.Errorf("result:\n%s", r.stdout)
	}
	verify := append([]string{"verify", "snap-deals", "proof.bin"}, statement...)
	if r := succeed(t, folder, verify...); !strings.Contains(r.stdout, "StackedDrg2KiBV1 with Poseidon") {
		t.Errorf("result:\n%s", r.stdout)
	}
	for _, flag := range []string{"comm-r-old", "comm-r-new", "comm-d-new"} {
		fail(t, folder, 5, []string{"proof.bin"}, with(verify, flag, strings.Repeat("01", 32))...)
	}
	// Without the flag it is another circuit, whose parameters are not there.
	plain := slices.DeleteFunc(slices.Clone(verify), func(s string) bool { return s == "--poseidon" })
	fail(t, folder, 2, []string{"v28-empty-sector-update-merkletree", "cannot be opened"}, plain...)
	fail(t, folder, 2, []string{"exclude each other"}, append(verify, "--test-shape")...)
	fail(t, folder, 3, []string{"the circuit's shape"}, "prove", "snap-deals", "--vanilla", curioSnap(t, folder), "--poseidon", "--proof", "no.bin")
}

// curioSnap is an update in Curio's form, which tells the registered circuit.
func curioSnap(t *testing.T, folder string) string {
	t.Helper()
	fabricate(t, folder, "snap-deals", "--sector-size", "2KiB", "snap.json")
	return "snap.json"
}

// Circuits of SHA-256, whose parameters take minutes: a seal and an update of two partitions each, and an update of Curio's.
func TestProveSealsAndUpdates(t *testing.T) {
	if os.Getenv("CUZK_TEST_LONG") == "" {
		t.Skip("takes minutes: set CUZK_TEST_LONG=1")
	}
	folder := t.TempDir()
	swap := func(proof string) string {
		data := read(t, filepath.Join(folder, proof))
		write(t, filepath.Join(folder, "swapped.bin"), append(slices.Clone(data[192:]), data[:192]...))
		return "swapped.bin"
	}
	t.Run("porep", func(t *testing.T) {
		generate(t, folder, "porep", "2KiB")
		made := fabricate(t, folder, "porep", "--sector-size", "2KiB", "--test-shape", "c1.json")
		statement := []string{"--miner", "f01000", "--sector-number", "1", "--test-shape", "--params-dir", "params"}
		succeed(t, folder, append([]string{"prove", "porep", "c1.json", "--proof", "seal.bin"}, statement...)...)
		verify := append([]string{"verify", "porep", "seal.bin", "--registered-proof", made.RegisteredProof, "--ticket", made.Ticket, "--seed", made.Seed,
			"--comm-d", made.CommD, "--comm-r", made.CommR}, statement...)
		succeed(t, folder, verify...)
		verify[2] = swap("seal.bin")
		fail(t, folder, 5, []string{"swapped.bin", "partition 0"}, verify...)
	})
	t.Run("snap-deals", func(t *testing.T) {
		generate(t, folder, "snap-deals", "2KiB")
		made := fabricate(t, folder, "snap-deals", "--sector-size", "2KiB", "snap.json")
		succeed(t, folder, "prove", "snap-deals", "--vanilla", "snap.json", "--proof", "snap.bin", "--params-dir", "params")
		succeed(t, folder, append([]string{"verify", "snap-deals", "snap.bin"}, made.snapFlags()...)...)
	})
	t.Run("snap-deals of two partitions", func(t *testing.T) {
		generate(t, folder, "snap-deals", "16KiB")
		made := fabricate(t, folder, "snap-deals", "--test-shape", "two.json")
		statement := made.snapFlags()
		succeed(t, folder, append([]string{"prove", "snap-deals", "--vanilla", "two.json", "--proof", "two.bin"}, statement...)...)
		succeed(t, folder, append([]string{"verify", "snap-deals", "two.bin"}, statement...)...)
		fail(t, folder, 5, []string{"swapped.bin", "partition 0"}, append([]string{"verify", "snap-deals", swap("two.bin")}, statement...)...)
	})
}

// Parameters of another circuit are refused before anything is computed: by their name, and by their lengths.
func TestProveRefusesOtherParameters(t *testing.T) {
	folder := t.TempDir()
	tiny := read(t, fixtures(t, "filecoin", "params", "post_tiny.params"))
	r := succeed(t, folder, "fabricate", "winning-post", "--sector-size", "2KiB", "--output", "json", "winning")
	var made struct{ Randomness string }
	if err := json.Unmarshal([]byte(r.stdout), &made); err != nil {
		t.Fatal(err)
	}
	prove := []string{
		"prove", "winning-post", "--miner", "1000", "--randomness", made.Randomness, "--sectors", "winning/sectors.json", "--vanilla", "winning", "--proof", "proof.bin",
	}
	fail(t, folder, 4, []string{"are not there", "--params-dir"}, append(prove, "--params-dir", "params")...)
	for name, texts := range map[string][]string{windowName + ".params": {"name of another circuit's parameters"}, "other.params": {"ic", "133"}} {
		write(t, filepath.Join(folder, name), tiny)
		fail(t, folder, 4, append(texts, name), append(prove, "--params", name)...)
	}
	fail(t, folder, 2, []string{"--vanilla is missing"}, slices.DeleteFunc(slices.Clone(prove), func(s string) bool { return s == "--vanilla" || s == "winning" })...)
}

// What flags say and the input denies is refused before parameters are looked for.
func TestProveRefusesContradictions(t *testing.T) {
	folder := t.TempDir()
	succeed(t, folder, "fabricate", "porep", "--sector-size", "2KiB", "--sector-number", "7", "c1.json")
	succeed(t, folder, "fabricate", "porep", "--sector-size", "2KiB", "--sector-number", "7", "--format", "bincode", "c1.bin")
	succeed(t, folder, "fabricate", "porep", "--sector-size", "2KiB", "--test-shape", "test.json")
	succeed(t, folder, "fabricate", "snap-deals", "--sector-size", "2KiB", "snap.json")
	other := strings.Repeat("01", 32)
	prove := func(file string, args ...string) []string {
		return append([]string{"prove", "porep", file, "--proof", "proof.bin", "--params-dir", "absent"}, args...)
	}
	for _, valid := range [][]string{
		prove("c1.json", "--miner", "f01000"), prove("c1.json", "--prover-id", "e807"+strings.Repeat("0", 60), "--sector-number", "7", "--registered-proof", "5"),
		prove("c1.bin", "--miner", "t01000", "--sector-number", "7", "--registered-proof", "StackedDrg2KiBV1_1"),
		prove("test.json", "--miner", "f01000", "--test-shape", "--partition-index", "1"),
		{"prove", "snap-deals", "--vanilla", "snap.json", "--proof", "proof.bin", "--params-dir", "absent"},
	} {
		fail(t, folder, 4, []string{"the parameters of this circuit are not there"}, valid...)
	}
	for _, c := range []struct {
		code int
		text string
		args []string
	}{
		{2, "--miner is missing", prove("c1.json")},
		{3, "replica_id", prove("c1.json", "--miner", "f01001")},
		{3, "the sector is 7, but 8", prove("c1.json", "--miner", "f01000", "--sector-number", "8")},
		{3, "the registered proof is StackedDrg2KiBV1_1", prove("c1.json", "--miner", "f01000", "--registered-proof", "0")},
		{3, "the ticket", prove("c1.json", "--miner", "f01000", "--ticket", other)},
		{3, "the seed", prove("c1.json", "--miner", "f01000", "--seed", other)},
		{3, "comm_d", prove("c1.json", "--miner", "f01000", "--comm-d", other)},
		{3, "comm_r", prove("c1.json", "--miner", "f01000", "--comm-r", other)},
		{2, "does not tell the registered proof", prove("c1.bin", "--miner", "f01000", "--sector-number", "7")},
		{2, "does not tell the sector's number", prove("c1.bin", "--miner", "f01000", "--registered-proof", "5")},
		{2, "non-interactive", prove("c1.bin", "--miner", "f01000", "--sector-number", "7", "--registered-proof", "15")},
		{3, "is for sectors of 2KiB", prove("c1.bin", "--miner", "f01000", "--sector-number", "7", "--registered-proof", "8")},
		{3, "vanilla_proofs", prove("test.json", "--miner", "f01000")},
		{2, "partitions", prove("c1.json", "--miner", "f01000", "--partition-index", "1")},
		{3, "the old comm_r", []string{"prove", "snap-deals", "--vanilla", "snap.json", "--comm-r-old", other, "--proof", "proof.bin"}},
		{2, "--proof is missing", []string{"prove", "snap-deals", "--vanilla", "snap.json"}},
		{2, "does not exist", []string{"prove", "winning-post", "--miner", "1000", "--randomness", other, "--sectors", "absent.json", "--vanilla", "snap.json", "--proof", "proof.bin"}},
	} {
		fail(t, folder, c.code, []string{c.text}, c.args...)
	}
	data := read(t, filepath.Join(folder, "c1.json"))
	for name, damaged := range map[string][]byte{"empty.json": nil, "half.json": data[:len(data)/2], "short.bin": read(t, filepath.Join(folder, "c1.bin"))[:1000]} {
		write(t, filepath.Join(folder, name), damaged)
		fail(t, folder, 3, []string{name}, prove(name, "--miner", "f01000", "--sector-number", "7", "--registered-proof", "5")...)
	}
}

func TestCircuit(t *testing.T) {
	r := succeed(t, ".", "circuit", "info", "window-post", "--sector-size", "2KiB", "--output", "json")
	var info struct {
		Inputs, Aux, Constraints, Rows, Domain int
		Entries                                struct{ A, B, C int }
		Density                                struct{ A, B int }
		Parameters                             struct {
			Name      string
			Published bool
			Bytes     int64
		}
		Memory struct{ Witness, Processor int64 }
	}
	if err := json.Unmarshal([]byte(r.stdout), &info); err != nil {
		t.Fatal(err)
	}
	if info.Inputs != 23 || info.Aux != 22128 || info.Constraints != 21866 || info.Rows != 21889 || info.Domain != 1<<15 ||
		info.Entries.A != 150262 || info.Entries.B != 22230 || info.Entries.C != 27456 || info.Density.A != 16770 || info.Density.B != 16028 ||
		info.Parameters.Name != windowName || !info.Parameters.Published || info.Parameters.Bytes != 11501496 || info.Memory.Witness == 0 || info.Memory.Processor == 0 {
		t.Errorf("%+v", info)
	}
	r = succeed(t, ".", "circuit", "info", "winning-post", "--sector-size", "32GiB")
	for _, want := range []string{"370590", "375210", "192050232 bytes", "2^19", "f65cddbca7106bac1a8b92148badb4d96f488d56c233bd59b0d0a6919445cf4f"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in:\n%s", want, r.stdout)
		}
	}
	r = succeed(t, ".", "circuit", "digest", "window-post", "--sector-size", "2KiB")
	if want := "14279e1c38053fa35eab6f56dbf1c5ef337b533f2c42fd3d7b4e7a116796b331  window-post 2KiB\n"; r.stdout != want {
		t.Errorf("%s, want %s", r.stdout, want)
	}
	fail(t, ".", 2, []string{"no circuit"}, "circuit", "digest", "post", "--sector-size", "2KiB")
	fail(t, ".", 2, []string{"--sector-size is missing"}, "circuit", "info", "porep")
}

func TestBenchSynth(t *testing.T) {
	folder := t.TempDir()
	bench := []string{"bench", "synth", "winning-post", "--sector-size", "2KiB", "--runs", "3", "--warmup", "1", "--check"}
	r := succeed(t, folder, append(bench, "--output", "json")...)
	type times struct{ Wall, Cores float64 }
	var report struct {
		Constraints                                                 int
		Checked, PeakBytes, StructureBytes, WitnessBytes, EvalBytes int64
		Warmup, Measurements                                        []struct{ Witness, Evaluate times }
		Witness, Evaluate                                           struct {
			Wall, Cores struct{ Median, Min, Max float64 }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatal(err)
	}
	if report.Constraints != 90750 || report.Checked != 90750 || report.PeakBytes == 0 || report.WitnessBytes == 0 || len(report.Warmup) != 1 ||
		len(report.Measurements) != 3 || report.Witness.Wall.Median == 0 || report.Evaluate.Wall.Max < report.Evaluate.Wall.Min {
		t.Errorf("report:\n%s", r.stdout)
	}
	write(t, filepath.Join(folder, "before.json"), []byte(r.stdout))
	r = succeed(t, folder, append(bench, "--compare", "before.json", "--threads", "1")...)
	for _, want := range []string{"against before.json", "note: number of threads was", "and is 1 now", "95 % interval", "witness cores", "all 90750 constraints hold"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in:\n%s", want, r.stdout)
		}
	}
	fail(t, folder, 2, []string{"before.json", "form was compressed then and is written out now"}, append(bench, "--compare", "before.json", "--full")...)
	fail(t, folder, 2, []string{"before.json", "sector size was 2KiB then and is 8MiB now"}, "bench", "synth", "winning-post", "--sector-size", "8MiB", "--compare", "before.json")
	fail(t, folder, 2, []string{"before.json", "circuit was winning-post then"}, "bench", "synth", "porep", "--sector-size", "2KiB", "--compare", "before.json")
	write(t, filepath.Join(folder, "other.json"), []byte("{}"))
	fail(t, folder, 2, []string{"other.json", "not a report"}, append(bench, "--compare", "other.json")...)
	fail(t, folder, 2, []string{"a proof has 1"}, append(bench, "--partitions", "2")...)
}
