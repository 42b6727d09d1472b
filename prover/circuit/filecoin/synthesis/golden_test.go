package synthesis

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// goldenCase is what the reference says of a case.
type goldenCase struct {
	CommROld hexNode `json:"comm_r_old"`
	CommRNew hexNode `json:"comm_r_new"`
	CommDNew hexNode `json:"comm_d_new"`
	Groth16  struct {
		Partitions []struct {
			PublicInputs []hexNode         `json:"public_inputs_le"`
			Hashes       map[string]string `json:"hashes"`
		} `json:"partitions"`
	} `json:"groth16"`
}

type hexNode filecoin.Node

func (n *hexNode) UnmarshalText(text []byte) error {
	parsed, err := filecoin.ParseNode(string(text))
	*n = hexNode(parsed)
	return err
}

func caseFile(t testing.TB, name string) []byte { return fixture.Read(t, "filecoin", "cases", name) }

func readCase(t testing.TB, name string) *goldenCase {
	t.Helper()
	c := &goldenCase{}
	if err := json.Unmarshal(caseFile(t, name+".json"), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// assigned is a partition with its structure and witness.
type assigned struct {
	name, files string // of the case, and of the partition's files
	partition   int
	structure   *structure.Structure
	witness     *witness.Witness
}

func poRepCase(t testing.TB, name string) assigned {
	t.Helper()
	c, err := vanilla.ReadCommit1(context.Background(), name, caseFile(t, name+".c1.api.json"), vanilla.CommitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := recorded(c.Shape)
	w, err := AssignPoRep(context.Background(), s.Layout(), c, 0)
	if err != nil {
		t.Fatal(err)
	}
	return assigned{name, name, 0, s, w}
}

func poStCase(t testing.TB, name, files string, partition int, shape filecoin.PoStShape, sectors ...int) assigned {
	t.Helper()
	var proofs []*vanilla.PoSt
	for _, n := range sectors {
		p, err := vanilla.ReadPoSt(name, caseFile(t, fmt.Sprintf("%s.vanilla-%d.bincode", name, n)), shape)
		if err != nil {
			t.Fatal(err)
		}
		proofs = append(proofs, p)
	}
	s := recorded(shape)
	w, err := AssignPoSt(context.Background(), s.Layout(), shape, proofs)
	if err != nil {
		t.Fatal(err)
	}
	return assigned{name, files, partition, s, w}
}

func snapCase(t testing.TB) assigned {
	t.Helper()
	c := readCase(t, "snap")
	statement := &snap.Statement{Shape: filecoin.SnapShapeOf(2*kib, false),
		CommROld: filecoin.Node(c.CommROld), CommRNew: filecoin.Node(c.CommRNew), CommDNew: filecoin.Node(c.CommDNew)}
	v, err := vanilla.ReadSnap("snap", caseFile(t, "snap.vanilla-p0.bincode"), statement.Shape)
	if err != nil {
		t.Fatal(err)
	}
	s := recorded(statement.Shape)
	w, err := AssignSnap(context.Background(), s.Layout(), statement, v, 0)
	if err != nil {
		t.Fatal(err)
	}
	return assigned{"snap", "snap", 0, s, w}
}

func TestWitnessAndEvaluationAreTheReferences(t *testing.T) {
	window, winning := filecoin.WindowPoStShape(2*kib), filecoin.WinningPoStShape(2*kib)
	tiny := filecoin.PoStShape{Sector: 2 * kib, Slots: 1, Challenges: 1}
	for name, build := range map[string]func(t testing.TB) assigned{
		"post-tiny": func(t testing.TB) assigned { return poStCase(t, "post-tiny", "post-tiny", 0, tiny, 1) },
		"window, V1": func(t testing.TB) assigned {
			return poStCase(t, "window-v1-2sectors", "window-v1-2sectors", 0, window, 1, 2)
		},
		"window, full": func(t testing.TB) assigned {
			return poStCase(t, "window-v1_2-3sectors", "window-v1_2-3sectors-p0", 0, window, 1, 2)
		},
		"window, rest": func(t testing.TB) assigned {
			return poStCase(t, "window-v1_2-3sectors", "window-v1_2-3sectors-p1", 1, window, 3)
		},
		"winning": func(t testing.TB) assigned { return poStCase(t, "winning", "winning", 0, winning, 2) },
		"snap":    snapCase,
		"porep":   func(t testing.TB) assigned { return poRepCase(t, "porep-v1_1") },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "porep" || name == "snap" {
				skipLarge(t)
			}
			c := build(t)
			defer c.witness.Free()
			compare(t, &c)
		})
	}
}

// compare compares a partition with what the reference computed.
func compare(t *testing.T, c *assigned) {
	s, w := c.structure, c.witness
	want := readCase(t, c.name).Groth16.Partitions[c.partition]
	for i, input := range want.PublicInputs {
		if got := filecoin.NodeOf(w.Inputs[i+1]); got != filecoin.Node(input) {
			t.Errorf("public input %d is %s, want %s", i+1, got, filecoin.Node(input))
		}
	}
	if len(w.Inputs) != len(want.PublicInputs)+1 {
		t.Errorf("%d public inputs, want %d", len(w.Inputs)-1, len(want.PublicInputs))
	}
	if err := s.Check(t.Context(), w); err != nil {
		t.Error(err)
	}
	evaluated, err := Evaluate(t.Context(), s, w)
	if err != nil {
		t.Fatal(err)
	}
	defer evaluated.Free()
	read := func(v groth16.Vector) []fr.Element {
		out := make([]curve.Scalar, v.Len())
		if err := v.Read(t.Context(), 0, out); err != nil {
			t.Fatal(err)
		}
		return elements(out)
	}
	variables := read(evaluated.Witness)[s.Inputs:]
	a, b := read(evaluated.A), read(evaluated.B)
	compareVector(t, c.files+".aux", variables, want.Hashes["aux_sha256"])
	compareVector(t, c.files+".a", a, want.Hashes["a_sha256"])
	compareVector(t, c.files+".b", b, want.Hashes["b_sha256"])
	compareVector(t, c.files+".c", read(evaluated.C), want.Hashes["c_sha256"])
	compareMatrices(t, c, evaluated)
	compareCompressed(t, c, a, b)
	compareQueries(t, c, variables)
}

// compareMatrices compares the evaluations with those of the system written out.
func compareMatrices(t *testing.T, c *assigned, a *Assignment) {
	t.Helper()
	m, err := c.structure.Matrices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := make([]curve.Scalar, m.Wires)
	if err := a.Witness.Read(t.Context(), 0, w); err != nil {
		t.Fatal(err)
	}
	var out [3][]curve.Scalar
	for i := range out {
		out[i] = make([]curve.Scalar, m.Constraints)
	}
	if err := m.Evaluate(t.Context(), w, out[0], out[1], out[2]); err != nil {
		t.Fatal(err)
	}
	for i, v := range []groth16.Vector{a.A, a.B, a.C} {
		if want := v.(vector); !slices.Equal(out[i], want) {
			t.Errorf("the product with matrix %c, written out, is another one", 'A'+i)
		}
	}
}

// compareCompressed compares the compressed evaluations with the full ones.
func compareCompressed(t *testing.T, c *assigned, a, b []fr.Element) {
	t.Helper()
	compressed, err := c.structure.Compress(t.Context(), c.witness)
	if err != nil {
		t.Fatal(err)
	}
	defer compressed.Free()
	const step = 1000
	var x, y [step]fr.Element
	for first := 0; first < c.structure.Constraints; first += step {
		n := min(step, c.structure.Constraints-first)
		compressed.Expand(first, x[:n], y[:n])
		if !slices.Equal(x[:n], a[first:first+n]) || !slices.Equal(y[:n], b[first:first+n]) {
			t.Fatalf("compressed rows from %d on are not those evaluated", first)
		}
	}
}

// compareQueries compares the scalars of each sum with what densities and variables say.
func compareQueries(t *testing.T, c *assigned, variables []fr.Element) {
	t.Helper()
	s, w := c.structure, c.witness
	all := make(r1cs.Density, (s.Aux+63)/64)
	for i := range all {
		all[i] = 1<<64 - 1
	}
	for name, q := range map[string]struct {
		query   func(context.Context, *witness.Witness) (*structure.Query, error)
		density r1cs.Density
		inputs  int
	}{
		"L": {s.QueryL, all, 0}, "A": {s.QueryA, s.DensityA().Bits(), s.Inputs}, "B": {s.QueryB, s.DensityB().Bits(), 1},
	} {
		got, err := q.query(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		// Both lists are in the order of points.
		point, ones, rest := uint32(0), got.Ones, 0
		add := func(e *fr.Element) {
			switch {
			case len(ones) > 0 && ones[0] == point:
				if !e.IsOne() {
					t.Fatalf("query %s: point %d is among the ones", name, point)
				}
				ones = ones[1:]
			case rest < len(got.Points) && got.Points[rest] == point:
				if e.Bits() != got.Values[rest] {
					t.Fatalf("query %s: point %d has another scalar", name, point)
				}
				rest++
			case !e.IsZero():
				t.Fatalf("query %s lacks point %d", name, point)
			}
			point++
		}
		for i := range q.inputs {
			add(&w.Inputs[i])
		}
		for i := range variables {
			if q.density.Has(i) {
				add(&variables[i])
			}
		}
		if len(ones) > 0 || rest < len(got.Points) {
			t.Errorf("query %s has points that the key has not", name)
		}
	}
}

// compareVector compares a vector with the digests of its blocks of 4,096 elements and that of all.
func compareVector(t *testing.T, file string, vector []fr.Element, digest string) {
	t.Helper()
	const block = 4096
	chunks := caseFile(t, file+".chunks")
	whole := sha256.New()
	for start := 0; start < len(vector); start += block {
		h := sha256.New()
		for _, e := range vector[start:min(start+block, len(vector))] {
			n := filecoin.NodeOf(e)
			h.Write(n[:])
			whole.Write(n[:])
		}
		if len(chunks) < sha256.Size || !bytes.Equal(h.Sum(nil), chunks[:sha256.Size]) {
			t.Errorf("%s differs between elements %d and %d", file, start, start+block)
			return
		}
		chunks = chunks[sha256.Size:]
	}
	if got := hex.EncodeToString(whole.Sum(nil)); len(chunks) > 0 || got != digest {
		t.Errorf("%s has digest %s, want %s, and %d bytes of digests are left over", file, got, digest, len(chunks))
	}
}
