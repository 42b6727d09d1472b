package poseidon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

// golden has, for each arity, the number of constants, the digest of all and the hash of 0, 1, …, arity-1 under the tag of
// a Merkle tree, as the reference implementation gives them.
var golden = map[int]struct {
	elements       int
	digest, hashLE string
}{
	2:  {372, "fc71c797c2fd445f511fce65625312bbcfd6cd6efb8e6f81d36be0317ed44727", "ffe7029a363c202e9da6059d33a9fba661e1ef02d90f9e736ba5765ed7086539"},
	4:  {650, "cfb0245dfc2424697dc1038c47bfe6a9826e8777d380787b011ac38878110667", "5d076266ff149801ec2713bf05466bfb99932279653cdb008a84e5a9104ba558"},
	8:  {1260, "4a7eacdb40d5de8deea941af668547a3b4ad261f47bc3886deba3a0ad0ae8621", "e6a5386df534992ad9aec49c9d2e684b777067114200011255dea5a31d619423"},
	11: {1752, "0ec8f8f08d5d2e4721134043c6506446ae75ab01b14bcf8b19898ec1d942b150", "6331692bc3bbe3cec18fb0ccd8dcf3097ae8eb32e237a56c287f22e5b2c10f0c"},
	16: {2720, "58946e276969e216e5719324b2f32c4e8648b9956788ee9889b4ab74d7f2c7e1", "376d266040c791126f0a68306dbc8d5b631e876f5afbc2c18aae813366e23a2d"},
	24: {4400, "6f0e8f313d074ca3b5256b10e5ad75e2cea010934438fa3e6fae8aeed3af7c6d", "21b385f56935efd7b1158846f679e7c39f3d3f78bf396f0615ae111f83b8be63"},
	36: {7474, "cdbefc5772e987247f15b42b2e4f554aa64a93b2dcdbe1caf8c386e1bb833ca3", "40814efa6d6073443caca8f88d36cd75aabb103ce0300a545f5d6e2a08039369"},
}

func littleEndian(e fr.Element) []byte {
	b := e.Bytes()
	slices.Reverse(b[:])
	return b[:]
}

func element(t *testing.T, le string) fr.Element {
	t.Helper()
	b, err := hex.DecodeString(le)
	if err != nil || len(b) != fr.Bytes {
		t.Fatalf("no element: %q", le)
	}
	slices.Reverse(b)
	var e fr.Element
	if err := e.SetBytesCanonical(b); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConstantsAreTheReferences(t *testing.T) {
	for arity, want := range golden {
		p := For(arity)
		all := slices.Concat(p.RoundConstants, slices.Concat(p.MDS...), slices.Concat(p.PreSparse...))
		for _, s := range p.Sparse {
			all = slices.Concat(all, s.Column, s.Row)
		}
		h := sha256.New()
		for _, e := range all {
			h.Write(littleEndian(e))
		}
		if got := hex.EncodeToString(h.Sum(nil)); len(all) != want.elements || got != want.digest {
			t.Errorf("arity %d: %d constants of digest %s, want %d of %s", arity, len(all), got, want.elements, want.digest)
		}
	}
}

func TestHashIsTheReferences(t *testing.T) {
	for arity, want := range golden {
		inputs := make([]fr.Element, arity)
		for i := range inputs {
			inputs[i].SetUint64(uint64(i))
		}
		if got := hex.EncodeToString(littleEndian(Tree(inputs...))); got != want.hashLE {
			t.Errorf("arity %d: %s, want %s", arity, got, want.hashLE)
		}
	}
}

// The reference's own test of its hasher: limbs of the hash of (1, 0), and of the node above it and the hash of (0, 1).
func TestTreeOfFour(t *testing.T) {
	var zero, one fr.Element
	one.SetOne()
	left, right := Tree(one, zero), Tree(zero, one)
	for _, c := range []struct {
		got  fr.Element
		want [4]uint64
	}{
		{left, [4]uint64{0xb339ff6079800b5e, 0xec5907b3dc3094af, 0x93c003cc74a24f26, 0x042f94ffbe786bc3}},
		{Tree(left, right), [4]uint64{0xefbb8be3e291e671, 0x77cc72b8cb2b5ad2, 0x30eb6385ae6b74ae, 0x1effebb7b26ad9eb}},
	} {
		if got := c.got.Bits(); got != c.want {
			t.Errorf("%x, want %x", got, c.want)
		}
	}
}

// unoptimised is Poseidon as it is defined: constants of every round, S-boxes, the same matrix each time.
func unoptimised(p *Params, tag fr.Element, inputs []fr.Element) fr.Element {
	state := append([]fr.Element{tag}, inputs...)
	for round, constants := range roundConstants(p.Width(), p.PartialRounds) {
		state = add(state, constants)
		boxes := len(state)
		if round >= half && round < half+p.PartialRounds {
			boxes = 1
		}
		for i := range boxes {
			var fourth fr.Element
			fourth.Square(&state[i])
			fourth.Square(&fourth)
			state[i].Mul(&state[i], &fourth)
		}
		state = p.MDS.times(state)
	}
	return state[1]
}

func TestHashEqualsTheUnoptimisedPermutation(t *testing.T) {
	for arity := range golden {
		p := For(arity)
		inputs := make([]fr.Element, arity)
		for i := range inputs {
			inputs[i].MustSetRandom()
		}
		tag := CustomTag(uint64(arity))
		if got, want := p.Hash(tag, inputs), unoptimised(p, tag, inputs); got != want {
			t.Errorf("arity %d: %s, want %s", arity, got.String(), want.String())
		}
	}
}

func TestHashVectors(t *testing.T) {
	var file struct {
		Poseidon []struct {
			Arity     int    `json:"arity"`
			DomainTag string `json:"domain_tag_le"`
			Name      string `json:"name"`
			Vectors   []struct {
				Hash   string   `json:"hash_le"`
				Inputs []string `json:"inputs_le"`
			} `json:"vectors"`
		} `json:"poseidon"`
	}
	if err := json.Unmarshal(fixture.Read(t, "filecoin", "hash-vectors.json"), &file); err != nil {
		t.Fatal(err)
	}
	for _, set := range file.Poseidon {
		for i, v := range set.Vectors {
			var inputs []fr.Element
			for _, text := range v.Inputs {
				inputs = append(inputs, element(t, text))
			}
			got := For(set.Arity).Hash(element(t, set.DomainTag), inputs)
			if got != element(t, v.Hash) {
				t.Errorf("%s, vector %d: %x, want %s", set.Name, i, littleEndian(got), v.Hash)
			}
		}
	}
	if len(file.Poseidon) == 0 {
		t.Error("no vectors")
	}
}

func TestTags(t *testing.T) {
	if got := TreeTag(11); got.Uint64() != 2047 {
		t.Errorf("tag of arity 11 is %s, want 2047", got.String())
	}
	if got := CustomTag(1); got.Uint64() != 1<<40 {
		t.Errorf("first custom tag is %s, want 2^40", got.String())
	}
}

func BenchmarkHash(b *testing.B) {
	for _, arity := range []int{2, 8, 11} {
		b.Run(fmt.Sprint(arity), func(b *testing.B) {
			inputs := make([]fr.Element, arity)
			p, tag := For(arity), TreeTag(arity)
			for b.Loop() {
				p.Hash(tag, inputs)
			}
		})
	}
}
