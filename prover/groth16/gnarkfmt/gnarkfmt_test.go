package gnarkfmt_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

var folders = map[curve.ID]string{curve.BN254: "bn254", curve.BLS12381: "bls12_381"}

// public reads gnark's public.bin: u32 public, u32 secret, u32 length, then big-endian elements.
func public(t *testing.T, data []byte) []curve.Scalar {
	t.Helper()
	n := int(binary.BigEndian.Uint32(data[8:]))
	out := make([]curve.Scalar, n)
	for i := range out {
		for limb := range 4 {
			out[i][3-limb] = binary.BigEndian.Uint64(data[12+32*i+8*limb:])
		}
	}
	return out
}

func TestAcceptsProofsOfGnark(t *testing.T) {
	for id, folder := range folders {
		t.Run(string(id), func(t *testing.T) {
			read := func(name string) []byte { return fixture.Read(t, "gnark", folder, "mulchain_1000", name) }
			vk, err := gnarkfmt.ParseVerifyingKey(read("vk.bin"), id)
			if err != nil {
				t.Fatal(err)
			}
			v, err := groth16.NewVerifier(vk, "")
			if err != nil {
				t.Fatal(err)
			}
			inputs := public(t, read("public.bin"))
			for _, form := range []struct {
				name       string
				compressed bool
			}{{"proof.bin", true}, {"proof.raw.bin", false}} {
				data := read(form.name)
				proof, err := gnarkfmt.ParseProof(data, id)
				if err != nil {
					t.Fatalf("%s: %v", form.name, err)
				}
				if err := v.Verify(proof, inputs); err != nil {
					t.Errorf("%s: %v", form.name, err)
				}
				if got := gnarkfmt.FormatProof(proof, form.compressed); !bytes.Equal(got, data) {
					t.Errorf("%s: written back it differs", form.name)
				}
			}
			for _, compressed := range []bool{true, false} {
				data, err := gnarkfmt.FormatVerifyingKey(vk, compressed)
				if err != nil {
					t.Fatal(err)
				}
				if compressed && !bytes.Equal(data, read("vk.bin")) {
					t.Error("vk.bin: written back it differs")
				}
				again, err := gnarkfmt.ParseVerifyingKey(data, id)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(vk, again); diff != "" {
					t.Error(diff)
				}
			}
			// Any bit of any byte changed: refused by the reader or by the verifier.
			data := read("proof.bin")
			for i := range data {
				changed := bytes.Clone(data)
				changed[i] ^= 1 << (i % 8)
				proof, err := gnarkfmt.ParseProof(changed, id)
				if err == nil {
					err = v.Verify(proof, inputs)
				}
				if err == nil {
					t.Errorf("accepted with a bit of byte %d changed", i)
				}
			}
		})
	}
}

func TestRefusesByName(t *testing.T) {
	id := curve.BN254
	proof := fixture.Read(t, "gnark", "bn254", "mulchain_1000", "proof.bin")
	key := fixture.Read(t, "gnark", "bn254", "mulchain_1000", "vk.bin")
	with := func(data []byte, offset int, bytes ...byte) []byte {
		out := append([]byte(nil), data...)
		copy(out[offset:], bytes)
		return out
	}
	parseProof := func(data []byte) func() error {
		return func() error { _, err := gnarkfmt.ParseProof(data, id); return err }
	}
	parseKey := func(data []byte) func() error {
		return func() error { _, err := gnarkfmt.ParseVerifyingKey(data, id); return err }
	}
	raw := fixture.Read(t, "gnark", "bn254", "mulchain_1000", "proof.raw.bin")
	for _, test := range []struct {
		name  string
		try   func() error
		class failure.Class
		want  string
	}{
		{"empty", parseProof(nil), failure.Input, "it is empty"},
		{"truncated", parseProof(proof[:100]), failure.Input, "offset 96: proof: Krs"},
		{"no count", parseProof(proof[:130]), failure.Input, "ends before the number"},
		{"huge count", parseProof(with(proof, 128, 0xff, 0xff, 0xff, 0xff)), failure.Input, "it says that 4294967295 commitment points follow, but 32 bytes are left"},
		{"trailing", parseProof(append(proof[:len(proof):len(proof)], 0)), failure.Input, "1 bytes are left"},
		{"mixed", parseProof(append(raw[:64:64], proof[32:]...)), failure.Input, "compressed and uncompressed points are mixed"},
		{"other curve", func() error { _, err := gnarkfmt.ParseProof(proof, curve.BLS12381); return err }, failure.Input, "check that it is BLS12-381's"},
		{"unknown curve", func() error { _, err := gnarkfmt.ParseProof(proof, "x"); return err }, failure.Usage, "unknown curve"},
		{"key truncated", parseKey(key[:90]), failure.Key, "beta in G2"},
		{"key with huge K", parseKey(with(key, 288, 0x7f, 0xff, 0xff, 0xff)), failure.Key, "it says that 2147483647 K points follow, but 104 bytes are left"},
		{"key with huge lists", parseKey(with(key, 388, 0, 0, 0, 9)), failure.Key, "it says that 9 lists of committed inputs follow"},
		{"key with huge commitments", parseKey(with(key, 392, 1, 0, 0, 0)), failure.Key, "it says that 16777216 commitment keys follow"},
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

func FuzzParse(f *testing.F) {
	f.Add([]byte{0x40, 31: 0})
	f.Add(make([]byte, 400))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, id := range curve.All {
			if p, err := gnarkfmt.ParseProof(data, id); err == nil {
				compressed := id.IsCompressed(data[0])
				if got := gnarkfmt.FormatProof(p, compressed); !bytes.Equal(got, data) {
					t.Errorf("%s: %x is read, but written as %x", id, data, got)
				}
			}
			_, _ = gnarkfmt.ParseVerifyingKey(data, id)
		}
	})
}
