package gnarkkey

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	groth16bls "github.com/consensys/gnark/backend/groth16/bls12-381"
	groth16bn "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	cuzk "github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/internal/progresstest"
)

// keyFixture is a proving key of gnark 0.14 in three encodings.
func keyFixture(t testing.TB, id curve.ID, name string) string {
	t.Helper()
	return fixture.Path(t, "gnark", map[curve.ID]string{curve.BN254: "bn254", curve.BLS12381: "bls12_381"}[id], "mulchain_1000", name)
}

// committing has two commitments, of private and of public wires, and unused inputs: the point of Spare in section K is
// infinity.
type committing struct {
	X, Y, Z frontend.Variable
	Spare   frontend.Variable
	P       frontend.Variable `gnark:",public"`
	Unused  frontend.Variable `gnark:",public"`
}

func (c *committing) Define(api frontend.API) error {
	committer := api.(frontend.Committer)
	first, err := committer.Commit(c.X, c.Y, c.P)
	if err != nil {
		return err
	}
	second, err := committer.Commit(c.Z, first)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(first, second)
	api.AssertIsEqual(api.Mul(c.X, c.Y, c.Z), c.P)
	return nil
}

type encodings struct {
	id                    curve.ID
	key                   groth16.ProvingKey
	system                constraint.ConstraintSystem
	compressed, raw, dump []byte
}

func setUp(t testing.TB, id curve.ID) encodings {
	t.Helper()
	system, err := frontend.Compile(id.ScalarModulus(), r1cs.NewBuilder, &committing{})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := groth16.Setup(system)
	if err != nil {
		t.Fatal(err)
	}
	e := encodings{id: id, key: key, system: system}
	write := func(to func(io.Writer) (int64, error)) []byte {
		var b bytes.Buffer
		if _, err := to(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	e.compressed = write(key.WriteTo)
	e.raw = write(key.WriteRawTo)
	e.dump = write(func(w io.Writer) (int64, error) { return 0, key.WriteDump(w) })
	return e
}

func (e encodings) all() map[Encoding][]byte {
	return map[Encoding][]byte{Compressed: e.compressed, Raw: e.raw, Dump: e.dump}
}

func openBytes(t testing.TB, data []byte) (*Key, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pk.bin")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := Open(path, Options{})
	if err == nil {
		t.Cleanup(func() { _ = k.Close() })
	}
	return k, err
}

func memory[P any](points []P) []byte {
	if len(points) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&points[0])), len(points)*int(unsafe.Sizeof(points[0])))
}

// sections is what gnark's own reader holds in memory, which is the raw form.
func sections(pk groth16.ProvingKey) map[string][]byte {
	switch pk := pk.(type) {
	case *groth16bn.ProvingKey:
		m := map[string][]byte{"A": memory(pk.G1.A), "B1": memory(pk.G1.B), "B2": memory(pk.G2.B), "K": memory(pk.G1.K), "Z": memory(pk.G1.Z),
			"vertices": slices.Concat(pk.G1.Alpha.X.Marshal(), pk.G1.Beta.X.Marshal(), pk.G1.Delta.X.Marshal(), pk.G2.Beta.Y.A1.Marshal(), pk.G2.Delta.X.A0.Marshal())}
		for i, c := range pk.CommitmentKeys {
			m[fmt.Sprint("basis", i)], m[fmt.Sprint("sigma", i)] = memory(c.Basis), memory(c.BasisExpSigma)
		}
		return m
	case *groth16bls.ProvingKey:
		m := map[string][]byte{"A": memory(pk.G1.A), "B1": memory(pk.G1.B), "B2": memory(pk.G2.B), "K": memory(pk.G1.K), "Z": memory(pk.G1.Z),
			"vertices": slices.Concat(pk.G1.Alpha.X.Marshal(), pk.G1.Beta.X.Marshal(), pk.G1.Delta.X.Marshal(), pk.G2.Beta.Y.A1.Marshal(), pk.G2.Delta.X.A0.Marshal())}
		for i, c := range pk.CommitmentKeys {
			m[fmt.Sprint("basis", i)], m[fmt.Sprint("sigma", i)] = memory(c.Basis), memory(c.BasisExpSigma)
		}
		return m
	}
	return nil
}

func ownSections(t *testing.T, k *Key) map[string][]byte {
	t.Helper()
	m := map[string][]byte{}
	for name, s := range map[string]cuzk.Section{"A": cuzk.SectionA, "B1": cuzk.SectionB1, "B2": cuzk.SectionB2, "K": cuzk.SectionL, "Z": cuzk.SectionH} {
		points, err := k.Points(s)
		if err != nil {
			t.Fatal(err)
		}
		m[name] = points
	}
	for i := range k.Commitments() {
		basis, sigma, err := k.CommitmentKey(i)
		if err != nil {
			t.Fatal(err)
		}
		m[fmt.Sprint("basis", i)], m[fmt.Sprint("sigma", i)] = basis, sigma
	}
	size := k.id.BaseBytes()
	big := func(n *big.Int) []byte { return n.FillBytes(make([]byte, size)) }
	co := k.id.Coordinates
	m["vertices"] = slices.Concat(big(co(k.AlphaG1())[0]), big(co(k.BetaG1())[0]), big(co(k.DeltaG1())[0]), big(co(k.BetaG2())[3]), big(co(k.DeltaG2())[0]))
	return m
}

func absent(bits []uint64, wires int) []bool {
	flags := make([]bool, wires)
	for i := range flags {
		flags[i] = bits != nil && bits[i/64]>>(i%64)&1 == 1
	}
	return flags
}

func infinities(pk groth16.ProvingKey) (a, b []bool) {
	switch pk := pk.(type) {
	case *groth16bn.ProvingKey:
		return pk.InfinityA, pk.InfinityB
	case *groth16bls.ProvingKey:
		return pk.InfinityA, pk.InfinityB
	}
	return nil, nil
}

func TestKeyHoldsWhatGnarkHolds(t *testing.T) {
	for _, id := range curve.All {
		e := setUp(t, id)
		for encoding, data := range e.all() {
			t.Run(fmt.Sprintf("%s/%s", id, encoding), func(t *testing.T) {
				k, err := openBytes(t, data)
				if err != nil {
					t.Fatal(err)
				}
				compareWithGnark(t, k, e.key)
				if k.Encoding() != encoding {
					t.Errorf("encoding is %s, want %s", k.Encoding(), encoding)
				}
				if got, want := k.Public(), e.system.GetNbPublicVariables()-1; got != want {
					t.Errorf("%d public inputs, want %d", got, want)
				}
				if err := k.Check(t.Context(), nil); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func compareWithGnark(t *testing.T, k *Key, want groth16.ProvingKey) {
	t.Helper()
	got := ownSections(t, k)
	for name, points := range sections(want) {
		if !bytes.Equal(got[name], points) {
			t.Errorf("%s differs from gnark's: %d bytes against %d", name, len(got[name]), len(points))
		}
	}
	a, b := infinities(want)
	if diff := cmp.Diff(a, absent(k.Absent(cuzk.SectionA), k.Wires())); diff != "" {
		t.Errorf("absent in A (-gnark +cuzk):\n%s", diff)
	}
	if diff := cmp.Diff(b, absent(k.Absent(cuzk.SectionB2), k.Wires())); diff != "" {
		t.Errorf("absent in B (-gnark +cuzk):\n%s", diff)
	}
}

func TestFixturesOfGnark014(t *testing.T) {
	for _, id := range curve.All {
		want := groth16.NewProvingKey(id.ECC())
		f, err := os.Open(keyFixture(t, id, "pk.raw.bin"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := want.ReadFrom(f); err != nil {
			t.Fatal(err)
		}
		for name, encoding := range map[string]Encoding{"pk.bin": Compressed, "pk.raw.bin": Raw, "pk.dump.bin": Dump} {
			t.Run(fmt.Sprintf("%s/%s", id, name), func(t *testing.T) {
				k, err := Open(keyFixture(t, id, name), Options{Curve: id})
				if err != nil {
					t.Fatal(err)
				}
				defer k.Close()
				if err := k.Check(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				compareWithGnark(t, k, want)
				if k.Encoding() != encoding || k.Domain() != 1024 || k.Public() != 2 {
					t.Errorf("encoding %s, domain %d, %d public", k.Encoding(), k.Domain(), k.Public())
				}
			})
		}
	}
}

func TestOtherCurveIsRefused(t *testing.T) {
	_, err := Open(keyFixture(t, curve.BN254, "pk.bin"), Options{Curve: curve.BLS12381})
	wantFailure(t, err, failure.Key, "is for BN254, but BLS12-381 was asked for")
}

func wantFailure(t *testing.T, err error, class failure.Class, text string) {
	t.Helper()
	_ = failureThat(t, err, class, text)
}

// failureThat is wantFailure for those who look further.
func failureThat(t *testing.T, err error, class failure.Class, text string) *failure.Error {
	t.Helper()
	var e *failure.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a failure that says %q", err, text)
	}
	if e.Class != class || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %s failure %q, want %s with %q", e.Class, err, class, text)
	}
	if e.File == "" || !strings.Contains(err.Error(), e.File) {
		t.Fatalf("%q does not name the file", err)
	}
	return e
}

func circuitOf(e encodings) Circuit {
	internal, secret, public := e.system.GetNbVariables()
	c := Circuit{File: "ccs.bin", Curve: e.id, Constraints: e.system.GetNbConstraints(), Wires: internal + secret + public, Public: public - 1}
	for _, g := range e.system.GetCommitments().(constraint.Groth16Commitments) {
		com := Commitment{Wire: uint32(g.CommitmentIndex)}
		for _, w := range g.PrivateCommitted {
			com.Private = append(com.Private, uint32(w))
		}
		c.Commitments = append(c.Commitments, com)
	}
	return c
}

func TestBind(t *testing.T) {
	e := setUp(t, curve.BN254)
	k, err := openBytes(t, e.compressed)
	if err != nil {
		t.Fatal(err)
	}
	good := circuitOf(e)
	if err := k.Bind(good); err != nil {
		t.Fatal(err)
	}
	var want []uint32
	for _, c := range good.Commitments {
		want = append(append(want, c.Private...), c.Wire)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, k.Committed()); diff != "" || len(want) != 7 {
		// x, y, z, two masks and the commitments' own wires
		t.Errorf("committed wires (-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		change func(*Circuit)
		text   string
	}{
		"curve":       {func(c *Circuit) { c.Curve = curve.BLS12381 }, "it is for BN254 and the constraint system for BLS12-381"},
		"wires":       {func(c *Circuit) { c.Wires++ }, "wires and the constraint system"},
		"public":      {func(c *Circuit) { c.Public++ }, "public inputs and the constraint system"},
		"constraints": {func(c *Circuit) { c.Constraints = 100 }, "its domain is"},
		"commitments": {func(c *Circuit) { c.Commitments = nil }, "2 commitment keys and the constraint system 0 commitments"},
		"committed":   {func(c *Circuit) { c.Commitments[0].Private = nil }, "its commitment key 0 is for 3 wires"},
		"public wire": {func(c *Circuit) { c.Commitments[0].Private[0] = 1 }, "commits to wire 1, which is not a private one"},
		"far wire":    {func(c *Circuit) { c.Commitments[0].Wire = 1 << 31 }, "which is not a private one"},
		"twice":       {func(c *Circuit) { c.Commitments[0].Wire = c.Commitments[1].Wire }, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := circuitOf(e)
			c.change(&bad)
			wantFailure(t, k.Bind(bad), failure.Key, c.text)
		})
	}
}

func TestLoadTellsItsProgress(t *testing.T) {
	for encoding, data := range setUp(t, curve.BLS12381).all() {
		k, err := openBytes(t, data)
		if err != nil {
			t.Fatal(err)
		}
		var loaded, checked, digested progresstest.Work
		if err := k.Load(t.Context(), loaded.Tell); err != nil {
			t.Fatal(err)
		}
		if loaded.Total == 0 {
			t.Errorf("%s: nothing was told", encoding)
		}
		loaded.Whole(t, loaded.Total)
		if err := k.Check(t.Context(), checked.Tell); err != nil {
			t.Fatal(err)
		}
		checked.Whole(t, loaded.Total)
		if _, err := k.ComputeDigest(t.Context(), digested.Tell); err != nil {
			t.Fatal(err)
		}
		digested.Whole(t, int64(len(data)))
	}
}

func TestClosedKeyHasNoPoints(t *testing.T) {
	k, err := openBytes(t, setUp(t, curve.BN254).raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Points(cuzk.SectionA); err == nil {
		t.Error("a closed key gave points")
	}
	if _, _, err := k.CommitmentKey(0); err == nil {
		t.Error("a closed key gave a commitment key")
	}
}

func TestNextPowerOfTwoIsGnarks(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 1023, 1024, 1025} {
		if got, want := nextPowerOfTwo(n), int(ecc.NextPowerOfTwo(uint64(n))); got != want {
			t.Errorf("nextPowerOfTwo(%d) = %d, want %d", n, got, want)
		}
	}
}
