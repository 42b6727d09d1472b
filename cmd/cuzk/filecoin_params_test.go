package main_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// windowName is the name of the parameters of a window PoSt of 2 KiB.
const windowName = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0"

func TestParamsDeriveName(t *testing.T) {
	r := succeed(t, ".", "params", "derive-name", "window-post", "--sector-size", "2KiB")
	if want := windowName + ".params\n" + windowName + ".vk\n" + windowName + ".meta\n"; r.stdout != want {
		t.Errorf("got %s, want %s", r.stdout, want)
	}
	fail(t, ".", 2, []string{"no circuit"}, "params", "derive-name", "post", "--sector-size", "2KiB")
	fail(t, ".", 2, []string{"no sector size"}, "params", "derive-name", "porep", "--sector-size", "3KiB")
	fail(t, ".", 2, []string{"--sector-size is missing"}, "params", "derive-name", "porep")
}

// Generated parameters are listed, checked, and found out when they are damaged.
func TestParamsGenerateListAndCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "params")
	generate := []string{"params", "generate", "window-post", "--sector-size", "2KiB", "--params-dir", dir, "--insecure-known-secret", "test"}
	fail(t, ".", 2, []string{"--insecure-known-secret is missing", "can prove anything"}, generate[:7]...)
	fail(t, ".", 2, []string{"there are no published parameters"}, "params", "check", "--params-dir", dir)
	succeed(t, ".", generate...)
	unchanged(t, dir, windowName+".meta", windowName+".params", windowName+".vk")
	fail(t, ".", 2, []string{"is there already", "--force"}, generate...)

	var rows []struct {
		Name, State string
	}
	r := succeed(t, ".", "params", "list", "--present", "--params-dir", dir, "--output", "json")
	if err := json.Unmarshal([]byte(r.stdout), &rows); err != nil || len(rows) != 1 || rows[0].Name != windowName || rows[0].State != "present" {
		t.Errorf("%v: %s", err, r.stdout)
	}
	if r := succeed(t, ".", "params", "list", "--params-dir", dir); strings.Count(r.stdout, "\n") != 23 || strings.Count(r.stdout, "absent") != 21 {
		t.Errorf("a list of\n%s", r.stdout)
	}

	path := filepath.Join(dir, windowName+".params")
	fail(t, ".", 4, []string{path, "that of the published file 7610b9f82bfc88405b7a832b651ce2f6; all points are good", "--unpublished"}, "params", "check", path)
	r = succeed(t, ".", "params", "check", "--params-dir", dir, "--unpublished", "--output", "json")
	var checked []struct {
		Digest            string
		Published, Points bool
	}
	if err := json.Unmarshal([]byte(r.stdout), &checked); err != nil || len(checked) != 2 || checked[0].Published || !checked[0].Points {
		t.Errorf("%v: %s", err, r.stdout)
	}

	meta := filepath.Join(dir, windowName+".meta")
	write(t, meta, []byte(`{"sector_size":8388608}`))
	fail(t, ".", 4, []string{meta, "is for sectors of 8MiB, the parameters beside it are for 2KiB"}, "params", "check", path)
	write(t, meta, []byte(`{"sector_size":2048}`))

	// A verifying key that is there but cannot be read is no absent one.
	vk := filepath.Join(dir, windowName+".vk")
	if err := errors.Join(os.Rename(vk, vk+".kept"), os.Mkdir(vk, 0o700)); err != nil {
		t.Fatal(err)
	}
	fail(t, ".", 2, []string{vk, "is a directory"}, "params", "check", "--unpublished", path)
	if err := os.Remove(vk); err != nil {
		t.Fatal(err)
	}
	succeed(t, ".", "params", "check", "--unpublished", path)
	if err := os.Rename(vk+".kept", vk); err != nil {
		t.Fatal(err)
	}

	// One flipped byte changes the digest, and the point is named. It is found though size and time are as before.
	data := read(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data[868+4+23*96+5*96+50] ^= 1
	write(t, path, data)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	fail(t, ".", 4, []string{path, "section h, point 5 at offset", "not on the curve"}, "params", "check", "--again", path)
	write(t, path, data[:len(data)-1])
	fail(t, ".", 4, []string{path, "section b_g2", "ends too early"}, "params", "check", path)
	if r := succeed(t, ".", "params", "list", "--present", "--params-dir", dir); !strings.Contains(r.stdout, "wrong size") {
		t.Errorf("a list of\n%s", r.stdout)
	}

	// Parameters of another circuit under this name are refused by their lengths.
	write(t, path, read(t, fixtures(t, "filecoin", "params", "post_tiny.params")))
	fail(t, ".", 4, []string{path, "section ic", "has 3 points, the circuit needs 23"}, "params", "check", path)
	fail(t, ".", 2, []string{"no published parameter file"}, "params", "check", fixtures(t, "filecoin", "params", "post_tiny.params"))
	fail(t, ".", 2, []string{"is no parameter file"}, "params", "check", filepath.Join(dir, windowName+".meta"))
}

func TestFabricate(t *testing.T) {
	dir := t.TempDir()
	r := succeed(t, dir, "fabricate", "porep", "--sector-size", "2KiB", "--output", "json", "c1.json")
	var got struct {
		Fabricated bool
		CommD      string
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || !got.Fabricated || !strings.HasPrefix(got.CommD, "fc7e928296e5") {
		t.Errorf("%v: %s", err, r.stdout)
	}
	if c1 := string(read(t, filepath.Join(dir, "c1.json"))); !strings.HasPrefix(c1, `{"SectorNum":1,"Phase1Out":"`) {
		t.Errorf("the output begins with %.60s", c1)
	}
	for _, format := range []string{"api-json", "api-bincode", "bincode"} {
		succeed(t, dir, "fabricate", "porep", "--sector-size", "2KiB", "--format", format, "c1."+format)
	}
	succeed(t, dir, "fabricate", "porep", "--sector-size", "2KiB", "--test-shape", "--miner", "t0123", "two.json")
	succeed(t, dir, "fabricate", "window-post", "--sector-size", "2KiB", "--sectors", "3", "window")
	succeed(t, dir, "fabricate", "winning-post", "--sector-size", "2KiB", "winning")
	succeed(t, dir, "fabricate", "snap-deals", "--sector-size", "2KiB", "snap.json")
	unchanged(t, filepath.Join(dir, "window"), "sectors.json", "vanilla-1.bin", "vanilla-2.bin", "vanilla-3.bin")
	unchanged(t, filepath.Join(dir, "winning"), "sectors.json", "vanilla-1.bin")
	for want, args := range map[string][]string{
		"only interactive proofs":    {"porep", "--sector-size", "2KiB", "--registered-proof", "10", "x"},
		"is non-interactive":         {"porep", "--sector-size", "2KiB", "--registered-proof", "15", "x"},
		"is not for sectors of 8MiB": {"porep", "--sector-size", "8MiB", "--registered-proof", "5", "x"},
		"no registered proof is for": {"porep", "--sector-size", "4KiB", "x"},
		"--format":                   {"porep", "--sector-size", "2KiB", "--format", "xml", "x"},
		"is not that of a winning":   {"winning-post", "--sector-size", "2KiB", "--registered-proof", "5", "x"},
		"--sectors 0":                {"window-post", "--sector-size", "2KiB", "--sectors", "0", "x"},
		"must be 1 to 32768":         {"window-post", "--sector-size", "2KiB", "--sectors", "32769", "x"},
		"--sector-size is missing":   {"snap-deals", "x"},
		"missing C1":                 {"porep", "--sector-size", "2KiB"},
		"of 2KiB, the registered":    {"porep", "--sector-size", "8MiB", "--test-shape", "x"},
	} {
		fail(t, dir, 2, []string{want}, append([]string{"fabricate"}, args...)...)
	}
}
