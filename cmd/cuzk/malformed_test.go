package main_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a message must name, beside the file, for each damaged file. What a good reader does with the file is in
// EXPECT.tsv, which was written before the reader.
var damages = map[string][]string{
	"z01_empty.zkey":               {"empty"},
	"z02_truncated_half.zkey":      {"truncated"},
	"z03_truncated_last_byte.zkey": {"truncated"},
	"z05_bad_magic.zkey":           {"offset 0", "zkey"},
	"z06_version99.zkey":           {"offset 4", "version 99"},
	"z07_nsections_plus1.zkey":     {"section"},
	"z08_dup_section5.zkey":        {"section 5", "2 times"},
	"z09_missing_section9.zkey":    {"section 9", "missing"},
	"z10_section_size_2_63.zkey":   {"section", "bytes"},
	"z11_domain_not_pow2.zkey":     {"section 2", "power of two"},
	"z13_nvars_plus1.zkey":         {"section", "wires"},
	"z14_npublic_gt_nvars.zkey":    {"section 2", "public inputs"},
	"z15_coef_row_oob.zkey":        {"section 4", "row"},
	"z17_coef_matrix2.zkey":        {"section 4", "matrix"},
	"z18_ncoefs_too_big.zkey":      {"section 4", "coefficients"},
	"z20_A0_infinity.zkey":         {"verify"},
	"z21_A0_x_ge_q.zkey":           {"section 5", "prime"},
	"z22_H0_swapped_H1.zkey":       {"verify"},
	"z23_protocol_plonk.zkey":      {"section 1", "PLONK"},
	"z24_unknown_prime.zkey":       {"section 2", "prime"},
	"w01_empty.wtns":               {"empty"},
	"w02_truncated.wtns":           {"truncated"},
	"w03_count_plus1.wtns":         {"section 2", "elements"},
	"w04_elem_plus_r.wtns":         {"section 2", "canonical"},
	"w09_version3.wtns":            {"offset 4", "version 3"},
	"w10_wrong_prime.wtns":         {"section 1", "prime"},
	"w12_all_zero.wtns":            {"section 2", "element 0 must be 1"},
}

func TestDamagedFiles(t *testing.T) {
	for _, curve := range []string{"bn128", "bls12381"} {
		folder := fixtures(t, "malformed", curve)
		table := strings.TrimSpace(string(read(t, filepath.Join(folder, "EXPECT.tsv"))))
		for line := range strings.SplitSeq(table, "\n") {
			name, expect, ok := strings.Cut(line, "\t")
			if !ok {
				t.Fatalf("EXPECT.tsv: %q", line)
			}
			t.Run(curve+"/"+name, func(t *testing.T) {
				key, witness := filepath.Join(folder, "z00_ok.zkey"), filepath.Join(folder, "w00_ok.wtns")
				code := 4
				if strings.HasSuffix(name, ".wtns") {
					witness, code = filepath.Join(folder, name), 3
				} else {
					key = filepath.Join(folder, name)
				}
				out := t.TempDir()
				if strings.HasPrefix(expect, "valid") || expect == "reject or warn" {
					r := succeed(t, out, "prove", key, witness, "proof.json", "public.json")
					succeed(t, out, "verify", filepath.Join(folder, "z00_ok.zkey"), "public.json", "proof.json")
					if expect == "reject or warn" && !strings.Contains(r.stderr, name) {
						t.Errorf("no warning names the file:\n%s", r.stderr)
					}
					return
				}
				texts := append([]string{}, damages[name]...)
				if strings.HasPrefix(expect, "self-verify") {
					code = 5
				} else {
					texts = append(texts, filepath.Join(folder, name))
				}
				if len(damages[name]) == 0 {
					t.Errorf("no message is stated for %s (%s)", name, expect)
				}
				fail(t, out, code, texts, "prove", key, witness, "proof.json", "public.json")
				unchanged(t, out)
				// What is there already stays.
				write(t, filepath.Join(out, "proof.json"), []byte("precious"))
				fail(t, out, code, texts, "prove", key, witness, "proof.json", "public.json")
				unchanged(t, out, "proof.json")
				if got := string(read(t, filepath.Join(out, "proof.json"))); got != "precious" {
					t.Errorf("proof.json now holds %q", got)
				}
			})
		}
	}
}

// borders lists the offsets at which a part of a file of iden3's format begins or ends.
func borders(data []byte) []int {
	at := []int{0, 4, 8, 12}
	for p := 12; p+12 <= len(data); {
		size := int(binary.LittleEndian.Uint64(data[p+4:]))
		at = append(at, p+4, p+12, p+12+size/2, p+12+size)
		p += 12 + size
	}
	return at
}

func TestFilesTruncatedAtEveryBorder(t *testing.T) {
	folder := fixtures(t, "circom", "bn128", "mulchain_1")
	for file, code := range map[string]int{"circuit_final.zkey": 4, "witness.wtns": 3, "mulchain_1.r1cs": 4} {
		data := read(t, filepath.Join(folder, file))
		for _, n := range borders(data) {
			if n == len(data) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", file, n), func(t *testing.T) {
				out := t.TempDir()
				cut := filepath.Join(t.TempDir(), file)
				write(t, cut, data[:n])
				paths := map[string]string{}
				for _, f := range []string{"circuit_final.zkey", "witness.wtns", "mulchain_1.r1cs"} {
					paths[f] = filepath.Join(folder, f)
				}
				paths[file] = cut
				args := []string{"prove", paths["circuit_final.zkey"], paths["witness.wtns"], "proof.json", "public.json"}
				if file == "mulchain_1.r1cs" {
					args = append(args, "--constraint-system", cut)
				}
				fail(t, out, code, []string{cut}, args...)
				unchanged(t, out)
				inspected := code
				if n < 4 {
					inspected = 2 // nobody can tell what it is
				}
				fail(t, out, inspected, []string{cut}, "inspect", cut)
			})
		}
	}
}

func TestGnarkFilesTruncated(t *testing.T) {
	folder := fixtures(t, "gnark", "bn254", "mulchain_1000")
	for file, code := range map[string]int{"pk.bin": 4, "pk.raw.bin": 4, "pk.dump.bin": 4, "ccs.bin": 4, "witness.bin": 3} {
		data := read(t, filepath.Join(folder, file))
		for _, n := range []int{0, 1, 8, 31, 32, len(data) / 2, len(data) - 1} {
			t.Run(fmt.Sprintf("%s/%d", file, n), func(t *testing.T) {
				out := t.TempDir()
				cut := filepath.Join(t.TempDir(), file)
				write(t, cut, data[:n])
				paths := map[string]string{"pk": "pk.bin", "ccs": "ccs.bin", "witness": "witness.bin"}
				for role, f := range paths {
					paths[role] = filepath.Join(folder, f)
				}
				role, _, _ := strings.Cut(file, ".")
				paths[role] = cut
				fail(t, out, code, []string{cut}, "prove", "--proving-key", paths["pk"], "--constraint-system", paths["ccs"], "--witness", paths["witness"],
					"--verifying-key", filepath.Join(folder, "vk.bin"), "--proof", "proof.bin", "--public", "public.bin")
				unchanged(t, out)
			})
		}
	}
}

func TestWritesNothingWhereItMayNot(t *testing.T) {
	folder := fixtures(t, "circom", "bn128", "mulchain_1")
	key, witness := filepath.Join(folder, "circuit_final.zkey"), filepath.Join(folder, "witness.wtns")
	out := t.TempDir()
	fail(t, out, 2, []string{"absent/proof.json", "make the folder first"}, "prove", key, witness, "absent/proof.json", "public.json")
	fail(t, out, 2, []string{"two results cannot go into one file"}, "prove", key, witness, "same.json", "./same.json")
	fail(t, out, 2, []string{"is a folder"}, "prove", key, witness, ".", "public.json")
	own := filepath.Join(out, "own.wtns")
	write(t, own, read(t, witness))
	fail(t, out, 2, []string{"would overwrite an input"}, "prove", key, own, "own.wtns", "public.json")
	unchanged(t, out, "own.wtns")
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
}
