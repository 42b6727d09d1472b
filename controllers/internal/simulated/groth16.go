// Package simulated makes Groth16 verifying keys whose trapdoor it knows, and with it proofs of any statement, true or
// not. They satisfy the verification equation like any other proof, cost two scalar multiplications and need no circuit:
// for tests of what is done with proofs. It shares no code with the prover.
package simulated

import (
	"encoding/json"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// Key is a verifying key on BN254 with its trapdoor.
type Key struct {
	alpha, beta, gamma, delta fr.Element
	ic                        []fr.Element
}

// NewKey makes a key for a number of public inputs.
func NewKey(public int) *Key {
	k := &Key{ic: make([]fr.Element, public+1)}
	for _, e := range []*fr.Element{&k.alpha, &k.beta, &k.gamma, &k.delta} {
		draw(e)
	}
	for i := range k.ic {
		draw(&k.ic[i])
	}
	return k
}

func draw(e *fr.Element) {
	for {
		if _, err := e.SetRandom(); err != nil {
			panic(err) // the machine's randomness
		}
		if !e.IsZero() {
			return
		}
	}
}

// VerifyingKey is verification_key.json of snarkjs.
func (k *Key) VerifyingKey() []byte {
	ic := make([][]string, len(k.ic))
	for i := range k.ic {
		ic[i] = g1(&k.ic[i])
	}
	return encode(map[string]any{
		"protocol": "groth16", "curve": "bn128", "nPublic": len(k.ic) - 1,
		"vk_alpha_1": g1(&k.alpha), "vk_beta_2": g2(&k.beta), "vk_gamma_2": g2(&k.gamma), "vk_delta_2": g2(&k.delta),
		"IC": ic,
	})
}

// Proof is proof.json of snarkjs, of the statement with these public inputs; no two are equal.
func (k *Key) Proof(public ...int64) string {
	// e(A, B) = e(α, β)·e(IC, γ)·e(C, δ) with A = [a], B = [b] wants C = [(ab − αβ − ic·γ) / δ].
	var a, b, c, t fr.Element
	draw(&a)
	draw(&b)
	ic := k.ic[0]
	for i, v := range public {
		t.SetInt64(v)
		t.Mul(&t, &k.ic[i+1])
		ic.Add(&ic, &t)
	}
	c.Mul(&a, &b)
	t.Mul(&k.alpha, &k.beta)
	c.Sub(&c, &t)
	t.Mul(&ic, &k.gamma)
	c.Sub(&c, &t)
	c.Div(&c, &k.delta)
	return string(encode(map[string]any{
		"protocol": "groth16", "curve": "bn128", "pi_a": g1(&a), "pi_b": g2(&b), "pi_c": g1(&c),
	}))
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil { // strings and integers only: cannot fail
		panic(err)
	}
	return data
}

func g1(s *fr.Element) []string {
	var p bn254.G1Affine
	p.ScalarMultiplicationBase(s.BigInt(new(big.Int)))
	return []string{p.X.String(), p.Y.String(), "1"}
}

func g2(s *fr.Element) [][]string {
	var p bn254.G2Affine
	p.ScalarMultiplicationBase(s.BigInt(new(big.Int)))
	return [][]string{{p.X.A0.String(), p.X.A1.String()}, {p.Y.A0.String(), p.Y.A1.String()}, {"1", "0"}}
}
