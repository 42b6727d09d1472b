package constraints

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/gadget"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/internal/reference"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/filecoin/poseidon"
)

// golden are gadgets as the reference's tests build them, with what the reference says of them: constraints from its own
// tests, the rest and the digests from its constraint system.
var golden = []struct {
	name               string
	build              func(*Gadgets)
	aux, constraints   int // zero, here and below, where the reference's is not known
	entries            [3]int
	occurInA, occurInB int
	digest             string
}{
	{"poseidon 2", hash(2), 313, 311, [3]int{2119, 313, 386}, 234, 234, "658f013f99360e164ad8e7f96290944601cc064f93c153d9ea7ac1275927175f"},
	{"poseidon 4", hash(4), 381, 377, [3]int{2573, 381, 467}, 285, 285, "2360602a7c4555d454b46891236273f4ae308090bc916fdcef1fb81d00ebbe70"},
	{"poseidon 8", hash(8), 513, 505, [3]int{3598, 513, 624}, 384, 384, "ab50aeda63344f7125999ef5c4af7777380b9015ec82ad48bac2213e9353b163"},
	{"poseidon 11", hash(11), 609, 598, [3]int{4462, 609, 738}, 456, 456, "e94a28106cbb9a718e525f0f2593ce3b138350047854ebcc3c83472ed482a6f6"},
	{"poseidon 16", hash(16), 777, 761, [3]int{}, 0, 0, ""},
	{"poseidon 24", hash(24), 1033, 1009, [3]int{}, 0, 0, ""},
	{"poseidon 36", hash(36), 1421, 1385, [3]int{}, 0, 0, ""},
	{"SHA-256 of 512 bits", func(g *Gadgets) { g.sha256(g.bits(512)) }, 45340, 45386, [3]int{103935, 45418, 96380}, 45340, 11500,
		"39b920088193af138e8d3494179b1d9a20442bb23e28e65028b068c6a9e48771"},
	{"compression of 512 bits", func(g *Gadgets) { g.compress(g.bits(512), initial()) }, 26326, 26352, [3]int{59456 + 1024, 25872 + 512, 56886}, 0, 0,
		"a91be46c89fe4cb18f85d99956bf9b1afe0a96d1b6c960a30d4e9dcafcf501ba"},
	{"insertion 2", insertion(1), 5, 3, [3]int{}, 0, 0, "06c4ea733273a2492dccbb474c4524aba2fbceb23a4fea4ed9d4ebaf2bc6cb9d"},
	{"insertion 4", insertion(2), 14, 10, [3]int{}, 0, 0, "3f4286ec27c857ed4e66c6c161b0d4edf02e30cb205d5ad9f51506a85c4489a3"},
	{"insertion 8", insertion(3), 33, 25, [3]int{}, 0, 0, "388411775426aa6b4bf4c7f22daab123b623e50ed2b77dbc1525984e4a810a66"},
	{"selection of 8", func(g *Gadgets) { gadget.Select(System(g), g.nums(8), g.bits(3)) }, 18, 10, [3]int{}, 0, 0, ""},
	{"label", label, 0, 532025, [3]int{}, 0, 0, ""},
}

func hash(arity int) func(*Gadgets) {
	return func(g *Gadgets) { g.Poseidon(poseidon.MerkleTag(arity), g.nums(arity)) }
}

func insertion(bits int) func(*Gadgets) {
	return func(g *Gadgets) {
		index := g.bits(bits)
		siblings := g.nums(1<<bits - 1)
		gadget.Insert(System(g), g.Alloc(), index, siblings)
	}
}

// label is that of the reference's test: 37 parents and the replica id of 256 allocated bits each; node and layer are
// constants.
func label(g *Gadgets) {
	chunks := [][]Boolean{g.bits(256), g.LabelHeader(1, make([]Boolean, 64))}
	for range 37 {
		chunks = append(chunks, g.bits(256))
	}
	g.SHA256(chunks)
}

func (g *Gadgets) nums(n int) []Var {
	out := make([]Var, n)
	for i := range out {
		out[i] = g.Alloc()
	}
	return out
}

func initial() (state [8]word) {
	for i, value := range gadget.SHA256Initial {
		state[i] = constantWord(value)
	}
	return state
}

func TestGadgetsAreTheReferences(t *testing.T) {
	for _, want := range golden {
		t.Run(want.name, func(t *testing.T) {
			r := structure.NewRecorder()
			want.build(New(r))
			s := r.Structure()
			if want.aux > 0 && s.Aux != want.aux || s.Constraints != want.constraints {
				t.Errorf("%d variables and %d constraints, want %d and %d", s.Aux, s.Constraints, want.aux, want.constraints)
			}
			if got := s.Entries(); want.entries != [3]int{} && got != want.entries {
				t.Errorf("entries %v, want %v", got, want.entries)
			}
			if a, b := s.DensityA().Count(), s.DensityB().Count(); want.occurInA > 0 && (a != want.occurInA || b != want.occurInB) {
				t.Errorf("%d and %d variables in A and B, want %d and %d", a, b, want.occurInA, want.occurInB)
			}
			digest, err := s.Digest(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(digest[:]); want.digest != "" && got != want.digest {
				t.Errorf("digest %s, want %s", got, want.digest)
			}
		})
	}
}

// The lines of the reference's file that are about hashes alone, in every field.
func TestHashesAreTheReferences(t *testing.T) {
	builds := map[string]func(*Gadgets){
		"poseidon_arity_2": hash(2), "poseidon_arity_4": hash(4), "poseidon_arity_8": hash(8), "poseidon_arity_11": hash(11),
		"sha256_512_allocated_bits": func(g *Gadgets) { g.sha256(g.bits(512)) },
	}
	for _, want := range reference.Structures(t) {
		if !want.IsGadget() {
			continue
		}
		build, ok := builds[want.Circuit]
		if !ok {
			t.Errorf("no hash is known for the line of %s", want.Circuit)
			continue
		}
		delete(builds, want.Circuit)
		r := structure.NewRecorder()
		build(New(r))
		want.Compare(t, r.Structure())
	}
	for name := range builds {
		t.Errorf("the reference's file has no %s", name)
	}
}

// Rows of blocks of SHA-256 as the reference has them, by which bits of message and state are constant.
func TestCompressionDependsOnWhatIsConstant(t *testing.T) {
	element := func(g *Gadgets) []Boolean {
		bits := g.bits(256)
		bits[248] = False
		return bits
	}
	state := func(g *Gadgets) (state [8]word) {
		for i := range state {
			state[i] = word(g.bits(32))
		}
		return state
	}
	padding := make([]Boolean, 512)
	padding[0], padding[512-10] = True, True // a length of 512
	for _, c := range []struct {
		name             string
		message          func(*Gadgets) []Boolean
		state            func(*Gadgets) [8]word
		aux, constraints int
		entries          [3]int
	}{
		{"all allocated", func(g *Gadgets) []Boolean { return g.bits(512) }, state, 26166, 26192, [3]int{60848, 26192, 57686}},
		{"padding", func(*Gadgets) []Boolean { return padding }, state, 19014, 19034, [3]int{43455, 19034, 39494}},
		{"elements", func(g *Gadgets) []Boolean { return append(element(g), element(g)...) },
			func(*Gadgets) [8]word { return initial() }, 25806, 25832, [3]int{59441, 25864, 56862}},
		{"elements, allocated state", func(g *Gadgets) []Boolean { return append(element(g), element(g)...) }, state,
			26158, 26184, [3]int{60833, 26184, 57662}},
	} {
		r := structure.NewRecorder()
		g := New(r)
		before := structure.NewRecorder()
		c.message(New(before))
		c.state(New(before))
		g.compress(c.message(g), c.state(g))
		whole, inputs := r.Structure(), before.Structure()
		got := fmt.Sprint(whole.Aux-inputs.Aux, whole.Constraints-inputs.Constraints)
		if want := fmt.Sprint(c.aux, c.constraints); got != want {
			t.Errorf("%s: %s variables and constraints, want %s", c.name, got, want)
		}
		entries, less := whole.Entries(), inputs.Entries()
		for i := range entries {
			entries[i] -= less[i]
		}
		if entries != c.entries {
			t.Errorf("%s: entries %v, want %v", c.name, entries, c.entries)
		}
	}
}
