package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// goldenCase is a case of the reference's, as far as a verifier needs it.
type goldenCase struct {
	SealProof  string `json:"registered_seal_proof"`
	PoStProof  string `json:"registered_post_proof"`
	Ticket     string `json:"ticket"`
	Seed       string `json:"seed"`
	CommD      string `json:"comm_d"`
	CommR      string `json:"comm_r"`
	CommROld   string `json:"comm_r_old"`
	CommRNew   string `json:"comm_r_new"`
	CommDNew   string `json:"comm_d_new"`
	Randomness string `json:"randomness"`
	Sectors    []struct {
		ID    uint64 `json:"sector_id"`
		CommR string `json:"comm_r"`
	} `json:"sectors"`
}

// filecoinCase reads a case and the flags that verify its proofs.
func filecoinCase(t *testing.T, command, name, vk string) (folder string, args []string) {
	t.Helper()
	folder = fixtures(t, "filecoin", "cases")
	var c goldenCase
	if err := json.Unmarshal(read(t, filepath.Join(folder, name+".json")), &c); err != nil {
		t.Fatal(err)
	}
	args = []string{"verify", command, name + ".proof1.bin", "--verifying-key", fixtures(t, "filecoin", "params", vk)}
	switch command {
	case "porep":
		args = append(args, "--registered-proof", c.SealProof, "--miner", "f01000", "--sector-number", "1", "--ticket", c.Ticket, "--seed", c.Seed,
			"--comm-d", c.CommD, "--comm-r", c.CommR)
	case "snap-deals":
		args = append(args, "--registered-proof", "0", "--comm-r-old", c.CommROld, "--comm-r-new", c.CommRNew, "--comm-d-new", c.CommDNew)
	default:
		var sectors []string
		for _, s := range slices.Backward(c.Sectors) {
			sectors = append(sectors, fmt.Sprintf(`{"sector_number": %d, "comm_r": %q}`, s.ID, s.CommR))
		}
		list := filepath.Join(t.TempDir(), "sectors.json")
		write(t, list, []byte("["+strings.Join(sectors, ",")+"]"))
		args = append(args, "--registered-proof", c.PoStProof, "--randomness", c.Randomness, "--sectors", list)
	}
	return folder, args
}

var filecoinCases = []struct{ command, name, vk string }{
	{"porep", "porep-v1_1", "porep_2KiB.vk"}, {"window-post", "window-v1-2sectors", "window_2KiB.vk"},
	{"window-post", "window-v1_2-3sectors", "window_2KiB.vk"}, {"winning-post", "winning", "winning_2KiB.vk"}, {"snap-deals", "snap", "snap_2KiB.vk"},
}

func TestVerifyFilecoinProofsOfTheReference(t *testing.T) {
	for _, c := range filecoinCases {
		folder, args := filecoinCase(t, c.command, c.name, c.vk)
		if r := succeed(t, folder, args...); !strings.Contains(r.stderr, "not the published one") {
			t.Errorf("%s: a key for tests passes for a published one: %s", c.name, r.stderr)
		}
		r := succeed(t, folder, append([]string{"--output", "json"}, args...)...)
		var got struct {
			Verified              bool
			PublishedVerifyingKey bool
			Circuit               string
		}
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || !got.Verified || got.PublishedVerifyingKey || got.Circuit != c.command {
			t.Errorf("%s: %v: %s", c.name, err, r.stdout)
		}
	}
}

// Commitments are accepted as the chain writes them too.
func TestVerifyFilecoinTakesCIDs(t *testing.T) {
	folder, args := filecoinCase(t, "porep", "porep-v1_1", "porep_2KiB.vk")
	for flag, kind := range map[string]filecoin.Commitment{"comm-d": filecoin.Unsealed, "comm-r": filecoin.Sealed} {
		n, err := filecoin.ParseNode(args[slices.Index(args, "--"+flag)+1])
		if err != nil {
			t.Fatal(err)
		}
		args = with(args, flag, kind.CID(n))
	}
	succeed(t, folder, args...)
}

// with replaces the value of a flag.
func with(args []string, flag, value string) []string {
	out := slices.Clone(args)
	out[slices.Index(out, "--"+flag)+1] = value
	return out
}

// without leaves a flag out.
func without(args []string, flag string) []string {
	at := slices.Index(args, "--"+flag)
	return slices.Concat(args[:at], args[at+2:])
}

func TestVerifyFilecoinRefusesOtherStatements(t *testing.T) {
	other := strings.Repeat("01", 32)
	for _, c := range filecoinCases {
		folder, args := filecoinCase(t, c.command, c.name, c.vk)
		for _, flag := range []string{"miner", "sector-number", "ticket", "seed", "comm-d", "comm-r", "randomness", "comm-r-old", "comm-r-new", "comm-d-new"} {
			if !slices.Contains(args, "--"+flag) {
				continue
			}
			value := other
			if flag == "miner" || flag == "sector-number" {
				value = "3"
			}
			fail(t, folder, 5, []string{"does not verify"}, with(args, flag, value)...)
			fail(t, folder, 2, []string{"--" + flag}, without(args, flag)...)
		}
		fail(t, folder, 2, []string{"--registered-proof is missing"}, without(args, "registered-proof")...)
		wrong := slices.Clone(args)
		wrong[2] = c.name + ".json"
		fail(t, folder, 3, []string{c.name + ".json", "the proof has"}, wrong...)
		fail(t, folder, 4, []string{"another circuit"}, with(args, "verifying-key", fixtures(t, "filecoin", "params", "post_tiny.vk"))...)
	}
}

func TestVerifyPartitionsOfAWindowPoSt(t *testing.T) {
	folder, args := filecoinCase(t, "window-post", "window-v1_2-3sectors", "window_2KiB.vk")
	whole := read(t, filepath.Join(folder, args[2]))
	part := filepath.Join(t.TempDir(), "part.bin")
	write(t, part, whole[192:])
	args[2] = part
	succeed(t, folder, append(slices.Clone(args), "--partition-index", "1")...)
	fail(t, folder, 5, []string{"does not verify"}, append(slices.Clone(args), "--partition-index", "0")...)
	fail(t, folder, 2, []string{"the sectors make 2 partitions"}, append(slices.Clone(args), "--partition-index", "2")...)
	fail(t, folder, 3, []string{"192 bytes, those of 2 partitions have 384"}, args...)
}

func TestVerifyFilecoinRefusesFlagsThatDoNotFit(t *testing.T) {
	folder, args := filecoinCase(t, "porep", "porep-v1_1", "porep_2KiB.vk")
	for want, bad := range map[string][]string{
		"is non-interactive":        with(args, "registered-proof", "15"),
		"no registered proof":       with(args, "registered-proof", "StackedDrg3KiBV1"),
		"no miner's id address":     with(args, "miner", "f2abc"),
		"of different miners":       append(slices.Clone(args), "--prover-id", strings.Repeat("07", 32)),
		"comm_d is zero":            with(args, "comm-d", strings.Repeat("00", 32)),
		"is not below the modulus":  with(args, "comm-r", strings.Repeat("ff", 32)),
		"--ticket":                  with(args, "ticket", "12"),
		"of 2KiB, the registered":   append(with(args, "registered-proof", "6"), "--test-shape"),
		"--comm-r: \"baga6ea4seaqa": with(args, "comm-r", "baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq"),
	} {
		fail(t, folder, 2, []string{want}, bad...)
	}
	fail(t, folder, 2, []string{"v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138", "cannot be opened"},
		append(without(args, "verifying-key"), "--params-dir", t.TempDir())...)
}

// entryOf is a claim of a batch, of the arguments that verify it alone.
func entryOf(args []string) map[string]any {
	entry := map[string]any{"proof": args[2]}
	for i := 3; i < len(args); i += 2 {
		if flag := strings.TrimPrefix(args[i], "--"); flag != "verifying-key" {
			entry[flag] = args[i+1]
		}
	}
	return entry
}

func TestVerifyBatch(t *testing.T) {
	batch := filepath.Join(t.TempDir(), "claims.json")
	list := func(entries ...any) {
		t.Helper()
		data, err := json.Marshal(entries)
		if err != nil {
			t.Fatal(err)
		}
		write(t, batch, data)
	}
	folder, two := filecoinCase(t, "window-post", "window-v1-2sectors", "window_2KiB.vk")
	_, three := filecoinCase(t, "window-post", "window-v1_2-3sectors", "window_2KiB.vk")
	verify := []string{"verify", "window-post", "--batch", batch, "--verifying-key", fixtures(t, "filecoin", "params", "window_2KiB.vk")}
	var entries []any
	for _, args := range [][]string{two, three} {
		for i := range 3 {
			entry := entryOf(args)
			entry["proof"] = strings.Replace(args[2], "proof1", fmt.Sprintf("proof%d", i), 1)
			entries = append(entries, entry)
		}
	}
	list(entries...)
	r := succeed(t, folder, append([]string{"--output", "json"}, verify...)...)
	var got struct {
		Verified           bool
		Circuit            string
		Proofs, Partitions int
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || !got.Verified || got.Circuit != "window-post" || got.Proofs != 6 || got.Partitions != 9 {
		t.Errorf("%v: %s", err, r.stdout)
	}
	if r := succeed(t, folder, verify...); !strings.Contains(r.stdout, "all 6 proofs of "+batch) {
		t.Errorf("result: %s", r.stdout)
	}

	// Flags on the command line hold for all entries that do not say otherwise.
	folder, seal := filecoinCase(t, "porep", "porep-v1_1", "porep_2KiB.vk")
	common := slices.Concat([]string{"verify", "porep", "--batch", batch}, seal[3:])
	list(map[string]any{"proof": "porep-v1_1.proof0.bin"}, map[string]any{"proof": "porep-v1_1.proof2.bin", "sector-number": 1})
	succeed(t, folder, common...)
	list(map[string]any{"proof": "porep-v1_1.proof0.bin"}, map[string]any{"proof": "porep-v1_1.proof2.bin", "sector-number": 2})
	fail(t, folder, 5, []string{"porep-v1_1.proof2.bin", "does not verify"}, common...)
	list(map[string]any{"proof": "porep-v1_1.proof0.bin"}, map[string]any{"proof": "porep-v1_1.json"})
	fail(t, folder, 3, []string{"porep-v1_1.json", "the proof has"}, common...)

	proof := "porep-v1_1.proof0.bin"
	for _, c := range []struct {
		code    int
		text    string
		entries []any
	}{
		{3, "must be 1 to 100000", nil},
		{3, "is no JSON list of objects", []any{"text"}},
		{3, "entry 0: proof is missing", []any{map[string]any{"sector-number": 1}}},
		{3, "entry 1: there is no flag --sector", []any{map[string]any{"proof": proof}, map[string]any{"proof": proof, "sector": 1}}},
		{3, "entry 0: ticket is neither text nor number", []any{map[string]any{"proof": proof, "ticket": []int{1}}}},
		{3, "entry 0: invalid argument", []any{map[string]any{"proof": proof, "sector-number": -1}}},
		{2, "entry 0: --ticket", []any{map[string]any{"proof": proof, "ticket": "12"}}},
		{3, "entry 1: is of another circuit", []any{map[string]any{"proof": proof}, map[string]any{"proof": proof, "registered-proof": 6}}},
	} {
		list(c.entries...)
		fail(t, folder, c.code, []string{c.text}, common...)
	}
	fail(t, folder, 2, []string{"unexpected argument"}, append(common, "proof.bin")...)
	fail(t, folder, 2, []string{"missing PROOF"}, "verify", "porep")
}
