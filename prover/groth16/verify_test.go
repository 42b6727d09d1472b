package groth16_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

func TestVerifyRefusesByName(t *testing.T) {
	id := curve.BLS12381
	g := newTheirs(t, id, 0)
	good := g.prove(t)
	v, err := groth16.NewVerifier(g.key(t), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(good, g.public); err != nil {
		t.Fatal(err)
	}
	unreduced := bytes.Clone(good.A)
	for i := range 48 {
		unreduced[i] = 0xff
	}
	for _, test := range []struct {
		name   string
		change func(p *groth16.Proof)
		public []curve.Scalar
		want   string
	}{
		{"infinite A", func(p *groth16.Proof) { p.A = make(curve.G1, 96) }, g.public, "point A of the proof is the point at infinity"},
		{"infinite B", func(p *groth16.Proof) { p.B = make(curve.G2, 192) }, g.public, "point B of the proof is the point at infinity"},
		{"infinite C", func(p *groth16.Proof) { p.C = make(curve.G1, 96) }, g.public, "point C of the proof is the point at infinity"},
		{"no A", func(p *groth16.Proof) { p.A = nil }, g.public, "point A of the proof: the point has the wrong number of bytes"},
		{"long B", func(p *groth16.Proof) { p.B = append(p.B[:192:192], 0) }, g.public, "point B of the proof: the point has the wrong number of bytes"},
		{"unreduced A", func(p *groth16.Proof) { p.A = unreduced }, g.public, "point A of the proof: a coordinate is not below"},
		{"other curve", func(p *groth16.Proof) { p.Curve = curve.BN254 }, g.public, "the proof is on BN254, the verifying key on BLS12-381"},
		{"stray proof of knowledge", func(p *groth16.Proof) { p.PoK = p.A }, g.public, "a proof of knowledge of commitments, but no commitments"},
		{"stray commitment", func(p *groth16.Proof) { p.Commitments = []curve.G1{p.A} }, g.public, "the proof has 1 commitments, the verifying key wants 0"},
		{"A and C swapped", func(p *groth16.Proof) { p.A, p.C = p.C, p.A }, g.public, "the proof does not verify"},
		{"too few inputs", func(*groth16.Proof) {}, g.public[:1], "there are 1 public inputs, the verifying key wants 2"},
		{"no inputs", func(*groth16.Proof) {}, nil, "there are 0 public inputs"},
		{"inputs swapped", func(*groth16.Proof) {}, []curve.Scalar{g.public[1], g.public[0]}, "the proof does not verify"},
		{"r as input", func(*groth16.Proof) {}, []curve.Scalar{g.public[0], curve.ScalarFromBig(id.ScalarModulus())}, "public input 1 is not below r"},
		{"all ones as input", func(*groth16.Proof) {}, []curve.Scalar{{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}, {}}, "public input 0 is not below r"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := *good
			test.change(&p)
			err := v.Verify(&p, test.public)
			if failure.ClassOf(err) != failure.Verification || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestNewVerifierRefusesByName(t *testing.T) {
	g := newTheirs(t, curve.BN254, 2)
	for _, test := range []struct {
		name   string
		change func(vk *groth16.VerifyingKey)
		want   string
	}{
		{"curve", func(vk *groth16.VerifyingKey) { vk.Curve = "BW6" }, `unknown curve "BW6"`},
		{"no IC", func(vk *groth16.VerifyingKey) { vk.IC = nil }, "0 points for its inputs, at least 3 are needed"},
		{"infinite alpha", func(vk *groth16.VerifyingKey) { vk.AlphaG1 = make(curve.G1, 64) }, "alpha of the verifying key: it is the point at infinity"},
		{"infinite gamma", func(vk *groth16.VerifyingKey) { vk.GammaG2 = make(curve.G2, 128) }, "gamma of the verifying key: it is the point at infinity"},
		{"delta off its curve", func(vk *groth16.VerifyingKey) { vk.DeltaG2 = bytes.Repeat([]byte{1}, 128) }, "delta of the verifying key: the point is not on the curve"},
		{"IC off its curve", func(vk *groth16.VerifyingKey) { vk.IC[1] = bytes.Repeat([]byte{1}, 64) }, "IC[1] of the verifying key: the point is not on the curve"},
		{"beta too short", func(vk *groth16.VerifyingKey) { vk.BetaG2 = vk.BetaG2[1:] }, "beta of the verifying key: the point has the wrong number of bytes"},
		{"other generator", func(vk *groth16.VerifyingKey) { vk.Commitments[1].G = vk.BetaG2 }, "commitment key 1 of the verifying key has another generator"},
		{"commitment to what comes later", func(vk *groth16.VerifyingKey) { vk.Commitments[0].Committed = []int{3} }, "commitment 0 of the verifying key covers public input 3, there are only 1 to 2"},
		{"commitment to the one", func(vk *groth16.VerifyingKey) { vk.Commitments[0].Committed = []int{0} }, "covers public input 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			vk := g.key(t)
			test.change(vk)
			_, err := groth16.NewVerifier(vk, "")
			if failure.ClassOf(err) != failure.Key || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := groth16.NewVerifier(g.key(t), "md5"); failure.ClassOf(err) != failure.Usage {
		t.Errorf("unknown hash: %v", err)
	}
}
