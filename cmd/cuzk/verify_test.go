package main_test

import (
	"encoding/binary"
	"encoding/json"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
)

// The scalar fields' orders, from the curves' specifications.
var orders = map[string]string{
	"bn128":    "21888242871839275222246405745257275088548364400416034343698204186575808495617",
	"bls12381": "52435875175126190479447740508185965837690552500527637822603658699938581184513",
}

// The base fields' primes.
var primes = map[string]string{
	"bn128":    "21888242871839275222246405745257275088696311157297823662689037894645226208583",
	"bls12381": "4002409555221667393417789825735904156556882819939007885332058136124031650490837864442687629129015664037894272559787",
}

func add(t *testing.T, a, b string) string {
	t.Helper()
	x, ok1 := new(big.Int).SetString(a, 10)
	y, ok2 := new(big.Int).SetString(b, 10)
	if !ok1 || !ok2 {
		t.Fatalf("not numbers: %s, %s", a, b)
	}
	return x.Add(x, y).String()
}

func TestVerifyAcceptsProofsOfOthers(t *testing.T) {
	circomFixtures(t, func(t *testing.T, folder string) {
		succeed(t, folder, "verify", "vk.json", "public.json", "proof.json")
		succeed(t, folder, "verify", "circuit_final.zkey", "public.json", "proof.json")
		r := succeed(t, folder, "verify", "--output", "json", "--verifying-key", "vk.json", "--public", "public.json", "--proof", "proof.json")
		var got struct{ Verified bool }
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || !got.Verified {
			t.Errorf("%v: %s", err, r.stdout)
		}
	})
	for _, curve := range []string{"bn254", "bls12_381"} {
		folder := fixtures(t, "gnark", curve, "mulchain_1000")
		succeed(t, folder, "verify", "vk.bin", "public.bin", "proof.bin")
		succeed(t, folder, "verify", "vk.bin", "public.bin", "proof.raw.bin")
		succeed(t, folder, "verify", "--curve", curve, "vk.bin", "witness.bin", "proof.bin")
	}
}

// edited is a copy of a JSON document with one place changed.
func edited(t *testing.T, path string, edit func(doc any) any) []byte {
	t.Helper()
	var doc any
	if err := json.Unmarshal(read(t, path), &doc); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(edit(doc))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// at sets a place in a document: names of members and indices.
func at(place []any, f func(old any) any) func(any) any {
	return func(doc any) any {
		if len(place) == 0 {
			return f(doc)
		}
		switch key := place[0].(type) {
		case string:
			m := doc.(map[string]any)
			m[key] = at(place[1:], f)(m[key])
		case int:
			l := doc.([]any)
			l[key] = at(place[1:], f)(l[key])
		}
		return doc
	}
}

func to(v any) func(any) any { return func(any) any { return v } }

func TestVerifyRefusesByName(t *testing.T) {
	for _, curve := range []string{"bn128", "bls12381"} {
		folder := fixtures(t, "circom", curve, "mulchain_1000")
		r, q := orders[curve], primes[curve]
		plus := func(n string) func(any) any { return func(old any) any { return add(t, old.(string), n) } }
		for name, tc := range map[string]struct {
			file string // public or proof or vk
			edit func(any) any
			code int
			text []string
		}{
			"public input plus r, its alias": {"public", at([]any{0}, plus(r)), 5, []string{"[0]", "not below r"}},
			"public input of another proof":  {"public", at([]any{0}, to("1")), 5, []string{"does not verify"}},
			"hexadecimal public input":       {"public", at([]any{1}, to("0x5")), 3, []string{"[1]", "hexadecimal"}},
			"negative public input":          {"public", at([]any{1}, to("-5")), 3, []string{"[1]", "negative"}},
			"public input with a plus sign":  {"public", at([]any{1}, to("+5")), 3, []string{"[1]", "decimal digits"}},
			"leading zero":                   {"public", at([]any{1}, to("05")), 3, []string{"[1]", "leading zero"}},
			"number without quotes":          {"public", at([]any{1}, to(5)), 3, []string{"[1]", "in quotes"}},
			"empty number":                   {"public", at([]any{1}, to("")), 3, []string{"[1]", "empty"}},
			"one public input too few":       {"public", to([]any{"1"}), 5, []string{"1 public inputs", "wants 2"}},
			"one public input too many":      {"public", to([]any{"1", "2", "3"}), 5, []string{"3 public inputs", "wants 2"}},
			"public inputs are no list":      {"public", to(map[string]any{}), 3, []string{"list"}},
			"A with a coordinate plus q":     {"proof", at([]any{"pi_a", 0}, plus(q)), 5, []string{"pi_a[0]"}},
			"B with a coordinate plus q":     {"proof", at([]any{"pi_b", 1, 1}, plus(q)), 5, []string{"pi_b[1][1]"}},
			"A not on the curve":             {"proof", at([]any{"pi_a", 0}, to("7")), 5, []string{"pi_a", "not on the curve"}},
			"B not on the curve":             {"proof", at([]any{"pi_b", 0, 0}, to("7")), 5, []string{"pi_b", "not on the curve"}},
			"A at infinity":                  {"proof", at([]any{"pi_a"}, to([]any{"0", "1", "0"})), 5, []string{"pi_a", "infinity"}},
			"B at infinity":                  {"proof", at([]any{"pi_b"}, to([]any{[]any{"0", "0"}, []any{"1", "0"}, []any{"0", "0"}})), 5, []string{"pi_b", "infinity"}},
			"C at infinity":                  {"proof", at([]any{"pi_c"}, to([]any{"0", "1", "0"})), 5, []string{"pi_c", "infinity"}},
			"A without its third coordinate": {"proof", at([]any{"pi_a"}, to([]any{"1", "2"})), 3, []string{"pi_a", "3 items"}},
			"A negated":                      {"proof", at([]any{"pi_a", 1}, func(old any) any { return negated(t, q, old.(string)) }), 5, []string{"does not verify"}},
			"no C":                           {"proof", func(d any) any { delete(d.(map[string]any), "pi_c"); return d }, 3, []string{"pi_c", "missing"}},
			"proof of another protocol":      {"proof", at([]any{"protocol"}, to("plonk")), 3, []string{"plonk"}},
			"proof on another curve":         {"proof", at([]any{"curve"}, to("bw6")), 3, []string{"bw6"}},
			"key with alpha off the curve":   {"vk", at([]any{"vk_alpha_1", 0}, to("7")), 4, []string{"vk_alpha_1", "not on the curve"}},
			"key with gamma at infinity":     {"vk", at([]any{"vk_gamma_2"}, to([]any{[]any{"0", "0"}, []any{"1", "0"}, []any{"0", "0"}})), 4, []string{"gamma", "infinity"}},
			"key with IC off the curve":      {"vk", at([]any{"IC", 1, 0}, to("7")), 4, []string{"IC[1]", "not on the curve"}},
			"key with too few IC":            {"vk", at([]any{"nPublic"}, to(3)), 4, []string{"IC"}},
		} {
			t.Run(curve+"/"+name, func(t *testing.T) {
				paths := map[string]string{}
				for _, f := range []string{"vk", "public", "proof"} {
					paths[f] = filepath.Join(folder, f+".json")
				}
				bad := filepath.Join(t.TempDir(), tc.file+".json")
				write(t, bad, edited(t, paths[tc.file], tc.edit))
				paths[tc.file] = bad
				named := bad
				if tc.code == 5 && tc.file == "public" && tc.text[0] == "does not verify" {
					named = paths["proof"] // which of the two is wrong, nobody can tell
				}
				fail(t, folder, tc.code, append(tc.text, named), "verify", paths["vk"], paths["public"], paths["proof"])
			})
		}
	}
}

func negated(t *testing.T, q, y string) string {
	t.Helper()
	p, _ := new(big.Int).SetString(q, 10)
	v, ok := new(big.Int).SetString(y, 10)
	if !ok {
		t.Fatal(y)
	}
	return p.Sub(p, v).String()
}

// Points on the curve but outside the subgroup, found by trying small x and multiplying by r: see the curve's tests for
// how they are made. On BN254 every point of G1 is in the group, so only G2 has such points.
func TestVerifyRefusesPointsOutsideTheSubgroup(t *testing.T) {
	folder := fixtures(t, "circom", "bls12381", "mulchain_1000")
	// y² = x³ + 4 has y = 2 at x = 0: a point of order 3.
	bad := filepath.Join(t.TempDir(), "proof.json")
	write(t, bad, edited(t, filepath.Join(folder, "proof.json"), at([]any{"pi_a"}, to([]any{"0", "2", "1"}))))
	fail(t, folder, 5, []string{bad, "pi_a", "not in the subgroup"}, "verify", "vk.json", "public.json", bad)
}

func TestVerifyRefusesEachChangedDigit(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the binary a few hundred times")
	}
	folder := fixtures(t, "circom", "bn128", "mulchain_1")
	for _, file := range []string{"proof.json", "public.json"} {
		data := read(t, filepath.Join(folder, file))
		bad := filepath.Join(t.TempDir(), file)
		changed := 0
		for i, c := range data {
			// Every seventh digit here; every digit of every fixture is tried in the package's own tests.
			if c < '0' || c > '9' || i%7 != 0 && len(data) > 200 || insideName(data, i) {
				continue
			}
			other := append([]byte(nil), data...)
			other[i] = '0' + (c-'0'+1)%10
			write(t, bad, other)
			args := map[string][]string{"proof.json": {"verify", "vk.json", "public.json", bad}, "public.json": {"verify", "vk.json", bad, "proof.json"}}[file]
			if r := run(t, folder, args...); r.code != 5 && r.code != 3 {
				t.Errorf("%s with byte %d changed: exit code %d", file, i, r.code)
			}
			changed++
		}
		if changed == 0 {
			t.Errorf("%s: no digit was changed", file)
		}
	}
}

// insideName tells whether a digit belongs to a word, as in "pi_a" or "groth16".
func insideName(data []byte, i int) bool {
	start := i
	for start > 0 && data[start-1] != '"' {
		start--
	}
	return strings.ContainsFunc(string(data[start:i]), func(r rune) bool { return r >= 'a' && r <= 'z' })
}

func TestVerifyRefusesDamagedGnarkFiles(t *testing.T) {
	for _, curve := range []string{"bn254", "bls12_381"} {
		folder := fixtures(t, "gnark", curve, "mulchain_1000")
		for _, tc := range []struct {
			file string
			code int
		}{{"vk.bin", 4}, {"public.bin", 3}, {"proof.bin", 3}, {"proof.raw.bin", 3}} {
			data := read(t, filepath.Join(folder, tc.file))
			bad := filepath.Join(t.TempDir(), tc.file)
			verify := func() []string {
				args := []string{"verify", "--curve", curve, "vk.bin", "public.bin", "proof.bin"}
				for i, a := range args {
					if strings.Split(a, ".")[0] == strings.Split(tc.file, ".")[0] {
						args[i] = bad
					}
				}
				return args
			}
			for _, n := range []int{0, 1, 11, 12, 31, len(data) / 2, len(data) - 1} {
				write(t, bad, data[:n])
				fail(t, folder, tc.code, []string{bad}, verify()...)
			}
			write(t, bad, append(append([]byte(nil), data...), 0))
			fail(t, folder, tc.code, []string{bad}, verify()...)
		}
		// A header that promises 2^32-1 elements.
		bad := filepath.Join(t.TempDir(), "public.bin")
		huge := binary.BigEndian.AppendUint32(nil, 1<<32-1)
		huge = binary.BigEndian.AppendUint32(huge, 0)
		huge = binary.BigEndian.AppendUint32(huge, 1<<32-1)
		write(t, bad, huge)
		fail(t, folder, 3, []string{bad}, "verify", "vk.bin", bad, "proof.bin")
	}
}

func TestVerifyUsage(t *testing.T) {
	folder := fixtures(t, "circom", "bn128", "bits")
	fail(t, folder, 2, []string{"VERIFYING_KEY is missing"}, "verify")
	fail(t, folder, 2, []string{"2 arguments", "VERIFYING_KEY PUBLIC PROOF"}, "verify", "vk.json", "public.json")
	fail(t, folder, 2, []string{"absent.json", "does not exist"}, "verify", "absent.json", "public.json", "proof.json")
	fail(t, folder, 2, []string{"circom constraint system"}, "verify", "bits.r1cs", "public.json", "proof.json")
	fail(t, folder, 2, []string{"--curve says BLS12-381"}, "verify", "--curve", "bls12381", "vk.json", "public.json", "proof.json")
	fail(t, folder, 2, []string{"md5"}, "verify", "--commitment-hash", "md5", "vk.json", "public.json", "proof.json")
}
