package snarkjs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

type documents struct{ key, proof, public []byte }

func load(t *testing.T, folder string) documents {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	return documents{key: read("vk.json"), proof: read("proof.json"), public: read("public.json")}
}

// verify is what a user of three documents sees.
func verify(v *groth16.Verifier, proof, public []byte) error {
	id := v.Key().Curve
	p, err := snarkjs.ParseProof(proof, id)
	if err != nil {
		return err
	}
	inputs, err := snarkjs.ParsePublic(public, id)
	if err != nil {
		return err
	}
	return v.Verify(p, inputs)
}

func verifier(t *testing.T, key []byte) *groth16.Verifier {
	t.Helper()
	vk, err := snarkjs.ParseVerifyingKey(key)
	if err != nil {
		t.Fatal(err)
	}
	v, err := groth16.NewVerifier(vk, "")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAcceptsProofsOfSnarkjs(t *testing.T) {
	fixture.Circom(t, func(t *testing.T, _, _, folder string) {
		d := load(t, folder)
		if err := verify(verifier(t, d.key), d.proof, d.public); err != nil {
			t.Error(err)
		}
	})
}

func TestWritesWhatSnarkjsWrites(t *testing.T) {
	fixture.Circom(t, func(t *testing.T, name, _, folder string) {
		d := load(t, folder)
		id, err := curve.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := snarkjs.ParseProof(d.proof, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := snarkjs.FormatProof(proof, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(d.proof), string(got)); diff != "" {
			t.Errorf("proof.json (-snarkjs +ours):\n%s", diff)
		}
		public, err := snarkjs.ParsePublic(d.public, id)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = snarkjs.FormatPublic(public, false); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(d.public), string(got)); diff != "" {
			t.Errorf("public.json (-snarkjs +ours):\n%s", diff)
		}
		vk, err := snarkjs.ParseVerifyingKey(d.key)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = snarkjs.FormatVerifyingKey(vk, true); err != nil {
			t.Fatal(err)
		}
		again, err := snarkjs.ParseVerifyingKey(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(vk, again); diff != "" {
			t.Errorf("the key read back differs:\n%s", diff)
		}
	})
}

// Every digit of every number, changed, must make the verifier refuse.
func TestRefusesEveryChangedDigit(t *testing.T) {
	fixture.Circom(t, func(t *testing.T, _, _, folder string) {
		d := load(t, folder)
		v := verifier(t, d.key)
		changed := 0
		each := func(document []byte, try func([]byte) error) {
			quoted := false
			for i, c := range document {
				if c == '"' {
					quoted = !quoted
				}
				// Numbers alone: strings that begin with a letter are names ("bn128").
				if !quoted || c < '0' || c > '9' || !inNumber(document, i) {
					continue
				}
				other := append([]byte(nil), document...)
				other[i] = '0' + (c-'0'+1)%10
				changed++
				err := try(other)
				if err == nil {
					t.Fatalf("accepted with byte %d changed from %c to %c", i, c, other[i])
				}
				if class := failure.ClassOf(err); class != failure.Verification && class != failure.Input {
					t.Fatalf("byte %d: class %s: %v", i, class, err)
				}
			}
		}
		each(d.proof, func(p []byte) error { return verify(v, p, d.public) })
		each(d.public, func(p []byte) error { return verify(v, d.proof, p) })
		if changed < 8*70 {
			t.Fatalf("only %d digits were changed", changed)
		}
	})
}

func inNumber(document []byte, i int) bool {
	start := strings.LastIndexByte(string(document[:i]), '"') + 1
	return document[start] >= '0' && document[start] <= '9'
}

func TestRefusesByName(t *testing.T) {
	d := load(t, fixture.Path(t, "circom", "bn128", "mulchain_1"))
	v := verifier(t, d.key)
	const p = "21888242871839275222246405745257275088696311157297823662689037894645226208583"
	proof := func(old, new string) func() error {
		if !strings.Contains(string(d.proof), old) {
			t.Fatalf("the proof has no %q", old)
		}
		return func() error { return verify(v, []byte(strings.Replace(string(d.proof), old, new, 1)), d.public) }
	}
	public := func(text string) func() error { return func() error { return verify(v, d.proof, []byte(text)) } }
	parsed, err := snarkjs.ParseProof(d.proof, curve.BN254)
	if err != nil {
		t.Fatal(err)
	}
	ax := curve.BN254.Coordinates(parsed.A)[0].String()
	b := curve.BN254.Coordinates(parsed.B)
	c := curve.BN254.Coordinates(parsed.C)
	for _, test := range []struct {
		name  string
		try   func() error
		class failure.Class
		want  string
	}{
		{"coordinate not below p", proof(`"`+ax+`"`, `"`+p+`"`), failure.Verification, "pi_a[0]: the coordinate is not below p"},
		{"alias of a coordinate", proof(b[2].String(), "2"+b[2].String()+"0"), failure.Verification, "pi_b[1][0]: the coordinate is not below p"},
		{"negative", proof(`"`+ax+`"`, `"-1"`), failure.Input, "pi_a[0]: the number is negative"},
		{"hexadecimal", proof(`"`+ax+`"`, `"0x10"`), failure.Input, "pi_a[0]: the number is hexadecimal"},
		{"plus sign", proof(`"`+ax+`"`, `"+1"`), failure.Input, "pi_a[0]: want decimal digits alone"},
		{"space", proof(`"`+ax, `" `+ax), failure.Input, "pi_a[0]: want decimal digits alone"},
		{"underscore", proof(`"`+ax+`"`, `"1_0"`), failure.Input, "pi_a[0]: want decimal digits alone"},
		{"exponent", proof(`"`+ax+`"`, `"1e3"`), failure.Input, "pi_a[0]: want decimal digits alone"},
		{"empty", proof(`"`+ax+`"`, `""`), failure.Input, "pi_a[0]: want a decimal number, got an empty string"},
		{"bare number", proof(`"`+ax+`"`, ax), failure.Input, "pi_a[0]: want a decimal number in quotes, got a bare number"},
		{"leading zero", proof(`"`+ax, `"0`+ax), failure.Input, "pi_a[0]: the number has a leading zero"},
		{"endless number", proof(`"`+ax+`"`, `"1`+strings.Repeat("0", 30000)+`"`), failure.Verification, "pi_a[0]: the number has 30001 digits"},
		{"off the curve", proof(`"`+c[1].String()+`"`, `"1"`), failure.Verification, "pi_c: the point is not on the curve"},
		{"affine, without z", proof(`"`+c[1].String()+"\",\n  \"1\"", `"`+c[1].String()+`"`), failure.Input, "pi_c: want 3 items, got 2"},
		{"z is not one", proof(`"`+c[1].String()+"\",\n  \"1\"", `"`+c[1].String()+`", "2"`), failure.Input, `pi_c[2]: the third coordinate must be "1"`},
		{"zero as affine", proof(`"`+c[0].String()+"\",\n  \""+c[1].String(), `"0", "0`), failure.Verification, "pi_c: the point is not on the curve"},
		{"infinite A", proof(`"`+ax+"\",\n  \""+curve.BN254.Coordinates(parsed.A)[1].String()+"\",\n  \"1\"", `"0","1","0"`), failure.Verification, "pi_a: the point is the point at infinity"},
		{"PLONK", proof("groth16", "plonk"), failure.Input, `protocol: want groth16, got "plonk"`},
		{"other curve", proof("bn128", "bls12381"), failure.Verification, "curve: it is on BLS12-381, but BN254 is wanted"},
		{"unknown curve", proof("bn128", "secp256k1"), failure.Input, `curve: unknown curve "secp256k1"`},
		{"missing member", proof("pi_b", "pi_x"), failure.Input, "pi_b: missing"},
		{"member twice", proof(`"pi_b"`, `"pi_a"`), failure.Input, "pi_a: appears twice"},
		{"no JSON", proof("{", "<"), failure.Input, "it is not JSON"},
		{"trailing", func() error { return verify(v, append(d.proof[:len(d.proof):len(d.proof)], "{}"...), d.public) }, failure.Input, "something after the end"},
		{"truncated", func() error { return verify(v, d.proof[:200], d.public) }, failure.Input, "the JSON ends early"},
		{"too long", func() error { return verify(v, make([]byte, 1<<17), d.public) }, failure.Input, "it has 131072 bytes"},
		{"too deep", func() error { return verify(v, []byte(strings.Repeat("[", 1000)), d.public) }, failure.Input, "nested more than"},
		{"list", func() error { return verify(v, []byte("[]"), d.public) }, failure.Input, "want an object, got a list"},
		{"null", func() error { return verify(v, []byte("null"), d.public) }, failure.Input, "want an object, got null"},

		{"public alias", public(`["21888242871839275222246405745257275088548364400416034343698204186575808495631","5"]`), failure.Verification, "[0]: the number is not below r"},
		{"public r itself", public(`["14","21888242871839275222246405745257275088548364400416034343698204186575808495617"]`), failure.Verification, "[1]: the number is not below r"},
		{"public negative", public(`["-1","5"]`), failure.Input, "[0]: the number is negative"},
		{"public hexadecimal", public(`["0xe","5"]`), failure.Input, "[0]: the number is hexadecimal"},
		{"public bare number", public(`["14",5]`), failure.Input, "[1]: want a decimal number in quotes, got a bare number"},
		{"public missing", public(`["14"]`), failure.Verification, "there are 1 public inputs, the verifying key wants 2"},
		{"public surplus", public(`["14","5","0"]`), failure.Verification, "there are 3 public inputs, the verifying key wants 2"},
		{"public swapped", public(`["5","14"]`), failure.Verification, "the proof does not verify"},
		{"public object", public(`{"a":"1"}`), failure.Input, "want a list, got an object"},
		{"public nested", public(`[["14"],"5"]`), failure.Input, "[0]: want a decimal number in quotes, got a list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.try()
			if err == nil {
				t.Fatal("accepted")
			}
			if class := failure.ClassOf(err); class != test.class {
				t.Errorf("class %s, want %s", class, test.class)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q lacks %q", err, test.want)
			}
		})
	}
}

// A point of the curve outside the subgroup must be refused: on BLS12-381 both groups have a cofactor, on BN254 G2.
func TestRefusesPointsOutsideTheSubgroup(t *testing.T) {
	for _, test := range []struct{ curve, point, from, to string }{
		{curve: "bls12381", point: "pi_a"},
		{curve: "bls12381", point: "pi_b"},
		{curve: "bls12381", point: "pi_c"},
		{curve: "bn128", point: "pi_b"},
	} {
		t.Run(test.curve+"/"+test.point, func(t *testing.T) {
			d := load(t, fixture.Path(t, "circom", test.curve, "no_public"))
			v := verifier(t, d.key)
			outside := pointsOutside[test.curve]
			text := string(d.proof)
			start := strings.Index(text, `"`+test.point+`"`)
			end := start + strings.Index(text[start:], "\n ]")
			replacement := outside.g1
			if test.point == "pi_b" {
				replacement = outside.g2
			}
			text = text[:start] + `"` + test.point + `": ` + replacement[:len(replacement)-1] + text[end+2:]
			err := verify(v, []byte(text), d.public)
			if !errors.Is(err, curve.ErrNotInSubgroup) {
				t.Errorf("got %v", err)
			}
			if !strings.Contains(err.Error(), test.point+": ") {
				t.Errorf("%q does not name %s", err, test.point)
			}
		})
	}
}

func TestParseVerifyingKeyRefusesByName(t *testing.T) {
	d := load(t, fixture.Path(t, "circom", "bn128", "mulchain_1"))
	vk, err := snarkjs.ParseVerifyingKey(d.key)
	if err != nil {
		t.Fatal(err)
	}
	id := vk.Curve
	first := func(p []byte, i int) string { return `"` + id.Coordinates(p)[i].String() + `"` }
	for _, test := range []struct{ name, old, new, want string }{
		{"IC off the curve", first(vk.IC[1], 0), `"1"`, "IC[1]: the point is not on the curve"},
		{"IC number", first(vk.IC[2], 1), `"x"`, "IC[2][1]: want decimal digits alone"},
		{"count", `"nPublic": 2`, `"nPublic": 3`, "IC: there are 3 points, nPublic says 3"},
		{"huge count", `"nPublic": 2`, `"nPublic": 4294967295`, "nPublic: want a count"},
		{"fraction", `"nPublic": 2`, `"nPublic": 2.5`, "nPublic: want a count"},
		{"text count", `"nPublic": 2`, `"nPublic": "2"`, "nPublic: want a number, got a string"},
		{"no gamma", `"vk_gamma_2"`, `"gamma"`, "vk_gamma_2: missing"},
		{"beta off the curve", first(vk.BetaG2, 2), `"7"`, "vk_beta_2: the point is not on the curve"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(string(d.key), test.old) {
				t.Fatalf("the key has no %s", test.old)
			}
			_, err := snarkjs.ParseVerifyingKey([]byte(strings.Replace(string(d.key), test.old, test.new, 1)))
			if err == nil {
				t.Fatal("accepted")
			}
			if failure.ClassOf(err) != failure.Key || !strings.Contains(err.Error(), test.want) {
				t.Errorf("class %s, error %q, want Key and %q", failure.ClassOf(err), err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"pi_a":["1","2","1"],"pi_b":[["0","0"],["1","0"],["0","0"]],"pi_c":["0","1","0"],"protocol":"groth16","curve":"bn128"}`))
	f.Add([]byte(`["1","2"]`))
	f.Add([]byte(`{"protocol":"groth16","curve":"bls12381","nPublic":0,"vk_alpha_1":["0","1","0"],"IC":[["0","1","0"]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := snarkjs.ParseProof(data, ""); err == nil {
			text, err := snarkjs.FormatProof(p, true)
			if err != nil {
				t.Fatal(err)
			}
			again, err := snarkjs.ParseProof(text, p.Curve)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p, again); diff != "" {
				t.Error(diff)
			}
		}
		_, _ = snarkjs.ParsePublic(data, curve.BN254)
		_, _ = snarkjs.ParseVerifyingKey(data)
	})
}
