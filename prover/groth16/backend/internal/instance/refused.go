package instance

import (
	"slices"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// small is a circuit of 93 wires.
var small = Shape{Public: 2, Private: 90, Constraints: 30, Density: 10, Small: 40}

// refusal is what an error must be.
type refusal struct {
	class failure.Class
	want  string
}

func (r refusal) check(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("it was accepted")
	}
	if class := failure.ClassOf(err); class != r.class || !strings.Contains(err.Error(), r.want) {
		t.Errorf("class %s, error %q, want %s and %q", class, err, r.class, r.want)
	}
}

// RefusesAssignments wants a backend to refuse assignments that do not fit their key, all with the same words.
func RefusesAssignments(t *testing.T, b groth16.Backend) {
	in := New(t, curve.BN254, groth16.LayoutGnark, small, 1)
	other := New(t, curve.BN254, groth16.LayoutGnark, Shape{Public: 1, Private: 3, Constraints: 100, Density: 50}, 1)
	foreign := New(t, curve.BLS12381, groth16.LayoutGnark, small, 1)
	l, o, f := in.Load(t, b), other.Load(t, b), foreign.Load(t, b)
	packed := func(change func(*groth16.Packed, *Vector)) groth16.Packed {
		p, witness := l.Packed(), in.Canonical()
		change(&p, &witness)
		p.Witness = witness
		return p
	}
	evaluated := func(change func(*groth16.Evaluated)) groth16.Evaluated {
		e := in.Evaluated(groth16.Canonical)
		change(&e)
		return e
	}
	bits := func(change func(*groth16.Packed)) groth16.Packed {
		p := in.Bits(l.Structure)
		change(&p)
		return p
	}
	for _, test := range []struct {
		name string
		a    groth16.Assignment
		r    curve.Scalar
		refusal
	}{
		{"short witness", packed(func(_ *groth16.Packed, w *Vector) { w.Elements = w.Elements[1:] }), curve.Scalar{},
			refusal{failure.Input, "the witness has 92 elements, the key is of a circuit with 93 wires"}},
		{"no one", packed(func(_ *groth16.Packed, w *Vector) { w.Elements[0] = curve.Scalar{2} }), curve.Scalar{},
			refusal{failure.Input, "element 0 of the witness must be 1"}},
		{"no one among the bits", bits(func(p *groth16.Packed) { p.Values = slices.Clone(p.Values); p.Values[0] &^= 1 }), curve.Scalar{},
			refusal{failure.Input, "element 0 of the witness must be 1"}},
		{"bits that do not add up", bits(func(p *groth16.Packed) { p.Witness = Vector{} }), curve.Scalar{},
			refusal{failure.Input, "the witness has 0 elements that are not bits"}},
		{"other structure", packed(func(p *groth16.Packed, _ *Vector) { p.Structure = o.Structure }), curve.Scalar{},
			refusal{failure.Key, "the constraint system has 5 wires, the proving key 93"}},
		{"other curve", packed(func(p *groth16.Packed, _ *Vector) { p.Structure = f.Structure }), curve.Scalar{},
			refusal{failure.Key, "the constraint system is on BLS12-381, the proving key on BN254"}},
		{"no structure", packed(func(p *groth16.Packed, _ *Vector) { p.Structure = nil }), curve.Scalar{},
			refusal{failure.Internal, "a structure of another backend"}},
		{"too many rows", evaluated(func(e *groth16.Evaluated) { e.A = Vector{Elements: make([]curve.Scalar, 1000)} }), curve.Scalar{},
			refusal{failure.Key, "the constraint system has 1000 rows, the proving key's domain holds 32"}},
		{"no C", evaluated(func(e *groth16.Evaluated) { e.C = nil }), curve.Scalar{}, refusal{failure.Input, "the assignment lacks C"}},
		{"uneven rows", evaluated(func(e *groth16.Evaluated) { e.B = Vector{Elements: make([]curve.Scalar, 1)} }), curve.Scalar{},
			refusal{failure.Internal, "different lengths"}},
		{"r not canonical", in.Evaluated(groth16.Canonical), curve.ScalarFromBig(curve.BN254.ScalarModulus()),
			refusal{failure.Internal, "r and s must be canonical"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ticket, err := b.Submit(t.Context(), l.Key, test.a, test.r, curve.Scalar{}, groth16.Options{})
			if err == nil {
				_, err = ticket.Wait(t.Context())
			}
			test.check(t, err)
		})
	}
}

// RefusesKeys wants a backend to refuse keys whose parts do not fit each other, and to leave their sources open.
func RefusesKeys(t *testing.T, b groth16.Backend) {
	for _, test := range []struct {
		name   string
		change func(k *Key)
		want   string
	}{
		{"short A", func(k *Key) { k.Sections[groth16.SectionA] = k.Sections[groth16.SectionA][64:] }, "section A has"},
		{"long B2", func(k *Key) {
			k.Sections[groth16.SectionB2] = append(k.Sections[groth16.SectionB2], make([]byte, 128)...)
		}, "section B2 has"},
		{"short H", func(k *Key) { k.Sections[groth16.SectionH] = k.Sections[groth16.SectionH][64:] }, "section H has"},
		{"few bits", func(k *Key) { k.AbsentBits[groth16.SectionB1] = k.AbsentBits[groth16.SectionB1][:1] },
			"section B1: 1 words tell the absent points of 93 wires"},
		{"domain", func(k *Key) { k.DomainSize = 48 }, "a domain of 48 elements, which is no power of two"},
		{"huge domain", func(k *Key) { k.DomainSize = 1 << 40 }, "more than the field of BN254 allows"},
		{"all public", func(k *Key) { k.PublicInputs = 93 }, "93 wires with 93 public inputs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := New(t, curve.BN254, groth16.LayoutGnark, small, 1)
			test.change(in.Source)
			_, err := b.LoadKey(t.Context(), in.Source, groth16.Budget{})
			refusal{failure.Key, test.want}.check(t, err)
			if in.Source.Closed != 0 {
				t.Error("the source was closed, though it is still the caller's")
			}
		})
	}
}
