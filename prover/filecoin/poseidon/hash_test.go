package poseidon_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/filecoin/poseidon"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
)

func bytesLE(e fr.Element) []byte {
	b := e.Bytes()
	slices.Reverse(b[:])
	return b[:]
}

func fromHex(t testing.TB, le string) fr.Element {
	t.Helper()
	b, err := hex.DecodeString(le)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(b)
	var e fr.Element
	if err := e.SetBytesCanonical(b); err != nil {
		t.Fatal(err)
	}
	return e
}

// The values are those of neptune 11 and, for the constants, of supraseal's files, for every arity that Filecoin uses.
var published = []struct {
	arity, elements int
	constants       string
	hash            string // of 0, 1, …, arity-1 under the Merkle tag
}{
	{2, 372, "fc71c797c2fd445f511fce65625312bbcfd6cd6efb8e6f81d36be0317ed44727", "ffe7029a363c202e9da6059d33a9fba661e1ef02d90f9e736ba5765ed7086539"},
	{4, 650, "cfb0245dfc2424697dc1038c47bfe6a9826e8777d380787b011ac38878110667", "5d076266ff149801ec2713bf05466bfb99932279653cdb008a84e5a9104ba558"},
	{8, 1260, "4a7eacdb40d5de8deea941af668547a3b4ad261f47bc3886deba3a0ad0ae8621", "e6a5386df534992ad9aec49c9d2e684b777067114200011255dea5a31d619423"},
	{11, 1752, "0ec8f8f08d5d2e4721134043c6506446ae75ab01b14bcf8b19898ec1d942b150", "6331692bc3bbe3cec18fb0ccd8dcf3097ae8eb32e237a56c287f22e5b2c10f0c"},
	{16, 2720, "58946e276969e216e5719324b2f32c4e8648b9956788ee9889b4ab74d7f2c7e1", "376d266040c791126f0a68306dbc8d5b631e876f5afbc2c18aae813366e23a2d"},
	{24, 4400, "6f0e8f313d074ca3b5256b10e5ad75e2cea010934438fa3e6fae8aeed3af7c6d", "21b385f56935efd7b1158846f679e7c39f3d3f78bf396f0615ae111f83b8be63"},
	{36, 7474, "cdbefc5772e987247f15b42b2e4f554aa64a93b2dcdbe1caf8c386e1bb833ca3", "40814efa6d6073443caca8f88d36cd75aabb103ce0300a545f5d6e2a08039369"},
}

func TestConstantsArePublishedOnes(t *testing.T) {
	for _, want := range published {
		c := poseidon.Of(want.arity)
		all := slices.Concat(append([][]fr.Element{c.Round}, slices.Concat(c.MDS, c.PreSparse)...)...)
		for _, s := range c.Sparse {
			all = append(append(all, s.Column...), s.Row...)
		}
		h := sha256.New()
		for _, e := range all {
			h.Write(bytesLE(e))
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want.constants || len(all) != want.elements {
			t.Errorf("arity %d: %d elements of digest %s, want %d of %s", want.arity, len(all), got, want.elements, want.constants)
		}
	}
}

func TestHashOfPublishedVectors(t *testing.T) {
	for _, want := range published {
		inputs := make([]fr.Element, want.arity)
		for i := range inputs {
			inputs[i] = fr.NewElement(uint64(i))
		}
		if got := hex.EncodeToString(bytesLE(poseidon.Node(inputs))); got != want.hash {
			t.Errorf("arity %d: %s, want %s", want.arity, got, want.hash)
		}
	}
	// filecoin-hashers' own test: limbs of H(1,0) and of H(H(1,0), H(0,1)).
	zero, one := fr.NewElement(0), fr.NewElement(1)
	left, right := poseidon.Node([]fr.Element{one, zero}), poseidon.Node([]fr.Element{zero, one})
	both := poseidon.Node([]fr.Element{left, right})
	got := fmt.Sprintf("%016x", [][4]uint64{left.Bits(), both.Bits()})
	want := fmt.Sprintf("%016x", [][4]uint64{
		{0xb339ff6079800b5e, 0xec5907b3dc3094af, 0x93c003cc74a24f26, 0x042f94ffbe786bc3},
		{0xefbb8be3e291e671, 0x77cc72b8cb2b5ad2, 0x30eb6385ae6b74ae, 0x1effebb7b26ad9eb},
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHashOfReferenceVectors(t *testing.T) {
	var file struct {
		Poseidon []struct {
			Name    string `json:"name"`
			Arity   int    `json:"arity"`
			Tag     string `json:"domain_tag_le"`
			Vectors []struct {
				Inputs []string `json:"inputs_le"`
				Hash   string   `json:"hash_le"`
			} `json:"vectors"`
		} `json:"poseidon"`
	}
	if err := json.Unmarshal(fixture.Read(t, "filecoin", "hash-vectors.json"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Poseidon) != 5 {
		t.Fatalf("%d kinds of vectors, want 5", len(file.Poseidon))
	}
	for _, kind := range file.Poseidon {
		for i, v := range kind.Vectors {
			var inputs []fr.Element
			for _, s := range v.Inputs {
				inputs = append(inputs, fromHex(t, s))
			}
			got := poseidon.Of(kind.Arity).Hash(fromHex(t, kind.Tag), inputs)
			if got != fromHex(t, v.Hash) {
				t.Errorf("%s, vector %d: %x, want %s", kind.Name, i, bytesLE(got), v.Hash)
			}
		}
	}
}

// The trace is that of a circuit: x, x², x⁴ and the rest are consistent with each other, and it ends in the hash.
func TestTraceIsConsistent(t *testing.T) {
	for _, arity := range []int{2, 4, 8, 11} {
		c := poseidon.Of(arity)
		inputs := make([]fr.Element, arity)
		for i := range inputs {
			inputs[i] = fr.NewElement(uint64(3 + 7*i))
		}
		trace := make([]fr.Element, c.TraceLen())
		hash := c.Trace(poseidon.MerkleTag(arity), inputs, trace)
		if hash != c.Hash(poseidon.MerkleTag(arity), inputs) || trace[len(trace)-1] != hash {
			t.Errorf("arity %d: the trace does not end in the hash", arity)
		}
		square := func(x fr.Element) fr.Element { return *new(fr.Element).Square(&x) }
		for i := range arity {
			var x fr.Element
			x.Add(&inputs[i], &c.Round[i+1])
			if s := trace[3*i:]; s[0] != square(x) || s[1] != square(s[0]) {
				t.Errorf("arity %d: first S-box %d", arity, i)
			}
		}
		boxes := trace[3*arity : len(trace)-1]
		if len(boxes)%4 != 0 {
			t.Fatalf("arity %d: %d values of S-boxes", arity, len(boxes))
		}
		for ; len(boxes) > 0; boxes = boxes[4:] {
			if boxes[1] != square(boxes[0]) || boxes[2] != square(boxes[1]) {
				t.Fatalf("arity %d: an S-box with %d values left", arity, len(boxes))
			}
		}
	}
}

// The trace is that of the permutation as the circuit has it, with sparse matrices in partial rounds.
func TestTraceIsThatOfSparseMatrices(t *testing.T) {
	for _, want := range published {
		c := poseidon.Of(want.arity)
		var inputs []fr.Element
		for i := range want.arity {
			x := fr.NewElement(uint64(2 + i))
			inputs = append(inputs, *x.Inverse(&x))
		}
		trace := make([]fr.Element, c.TraceLen())
		c.Trace(poseidon.MerkleTag(want.arity), inputs, trace)
		if diff := cmp.Diff(sparseTrace(c, poseidon.MerkleTag(want.arity), inputs), trace); diff != "" {
			t.Errorf("arity %d (-want +got):\n%s", want.arity, diff)
		}
	}
}

// sparseTrace is Trace by the definition of Constants.
func sparseTrace(c *poseidon.Constants, tag fr.Element, inputs []fr.Element) (trace []fr.Element) {
	constants := c.Round
	next := func() (k fr.Element) {
		if len(constants) > 0 {
			k, constants = constants[0], constants[1:]
		}
		return k
	}
	sbox := func(x fr.Element) fr.Element {
		var x2, x4, x5 fr.Element
		x2.Square(&x)
		x4.Square(&x2)
		k := next()
		x5.Mul(&x4, &x).Add(&x5, &k)
		trace = append(trace, x, x2, x4, x5)
		return x5
	}
	product := func(state []fr.Element, entry func(i, j int) fr.Element) []fr.Element {
		out := make([]fr.Element, len(state))
		for i := range state {
			for j := range out {
				t := entry(i, j)
				out[j].Add(&out[j], t.Mul(&t, &state[i]))
			}
		}
		return out
	}
	dense := func(m poseidon.Matrix) func(i, j int) fr.Element {
		return func(i, j int) fr.Element { return m[i][j] }
	}
	sparse := func(s *poseidon.Sparse) func(i, j int) fr.Element {
		return func(i, j int) (e fr.Element) {
			switch {
			case j == 0:
				return s.Column[i]
			case i == 0:
				return s.Row[j-1]
			case i == j:
				e.SetOne()
			}
			return e
		}
	}
	state := append([]fr.Element{tag}, inputs...)
	for i := range state {
		k := next()
		state[i].Add(&state[i], &k)
	}
	full := func() {
		for i := range state {
			state[i] = sbox(state[i])
		}
	}
	const half = poseidon.FullRounds / 2
	for round := range half {
		full()
		m := c.MDS
		if round == half-1 {
			m = c.PreSparse
		}
		state = product(state, dense(m))
	}
	for i := range c.Sparse {
		state[0] = sbox(state[0])
		state = product(state, sparse(&c.Sparse[i]))
	}
	for range half {
		full()
		state = product(state, dense(c.MDS))
	}
	// Of the first round, the circuit has neither the tag's S-box nor what the others take, which are inputs.
	first := trace[4 : 4*len(state)]
	rest := trace[4*len(state):]
	trace = nil
	for ; len(first) > 0; first = first[4:] {
		trace = append(trace, first[1:4]...)
	}
	return append(append(trace, rest...), state[1])
}

// Constraint counts of the reference's circuit: the trace is as long.
func TestTraceLengthIsTheCircuitsCount(t *testing.T) {
	for arity, want := range map[int]int{2: 311, 4: 377, 8: 505, 11: 598, 16: 761, 24: 1009, 36: 1385} {
		if got := poseidon.Of(arity).TraceLen(); got != want {
			t.Errorf("arity %d: %d, want %d", arity, got, want)
		}
	}
}

func BenchmarkNode(b *testing.B) {
	for _, arity := range []int{2, 8, 11} {
		b.Run(fmt.Sprint(arity), func(b *testing.B) {
			inputs := make([]fr.Element, arity)
			poseidon.Of(arity)
			b.ReportAllocs()
			for b.Loop() {
				inputs[0] = poseidon.Node(inputs)
			}
		})
	}
}
