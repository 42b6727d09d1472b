package snarkjs

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// ParseVerifyingKey reads a verification key as snarkjs exports it. The member vk_alphabeta_12 is ignored: e(α, β) is
// computed, not believed. Errors are of class Key.
func ParseVerifyingKey(data []byte) (*groth16.VerifyingKey, error) {
	r := reader{what: "verifying key", class: failure.Key}
	v, err := r.document(data, MaxDocumentBytes)
	if err != nil {
		return nil, err
	}
	m, err := r.object(v, "")
	if err != nil {
		return nil, err
	}
	id, err := r.curveOf(m, "")
	if err != nil {
		return nil, err
	}
	public, err := r.count(m, "nPublic")
	if err != nil {
		return nil, err
	}
	vk := &groth16.VerifyingKey{Curve: id}
	if v, err = r.member(m, "vk_alpha_1"); err != nil {
		return nil, err
	}
	if vk.AlphaG1, err = r.g1(id, v, "vk_alpha_1"); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		name string
		to   *curve.G2
	}{{"vk_beta_2", &vk.BetaG2}, {"vk_gamma_2", &vk.GammaG2}, {"vk_delta_2", &vk.DeltaG2}} {
		if v, err = r.member(m, p.name); err != nil {
			return nil, err
		}
		if *p.to, err = r.g2(id, v, p.name); err != nil {
			return nil, err
		}
	}
	if v, err = r.member(m, "IC"); err != nil {
		return nil, err
	}
	l, err := r.list(v, "IC", -1)
	if err != nil {
		return nil, err
	}
	if len(l) != public+1 {
		return nil, r.errorf("IC", "there are %d points, nPublic says %d and one for the constant", len(l), public)
	}
	vk.IC = make([]curve.G1, len(l))
	for i := range l {
		if vk.IC[i], err = r.g1(id, l[i], fmt.Sprintf("IC[%d]", i)); err != nil {
			return nil, err
		}
	}
	return vk, nil
}

// count reads a small non-negative number that is not in quotes.
func (r reader) count(m map[string]any, name string) (int, error) {
	v, err := r.member(m, name)
	if err != nil {
		return 0, err
	}
	number, ok := v.(json.Number)
	if !ok {
		return 0, r.errorf(name, "want a number, got %s", kind(v))
	}
	n, err := strconv.ParseUint(number.String(), 10, 31)
	if err != nil {
		return 0, r.errorf(name, "want a count, got %q", clip(number.String()))
	}
	return int(n), nil
}

type verifyingKeyJSON struct {
	Protocol string       `json:"protocol"`
	Curve    string       `json:"curve"`
	Public   int          `json:"nPublic"`
	Alpha    [3]string    `json:"vk_alpha_1"`
	Beta     [3][2]string `json:"vk_beta_2"`
	Gamma    [3][2]string `json:"vk_gamma_2"`
	Delta    [3][2]string `json:"vk_delta_2"`
	IC       [][3]string  `json:"IC"`
}

// FormatVerifyingKey writes a verification key that snarkjs reads. It leaves out vk_alphabeta_12, which follows from the
// rest and which snarkjs does not use.
func FormatVerifyingKey(vk *groth16.VerifyingKey, compact bool) ([]byte, error) {
	if len(vk.Commitments) > 0 {
		return nil, failure.New(failure.Usage, "a verifying key with commitments has no snarkjs form; use gnark's binary form")
	}
	id := vk.Curve
	out := verifyingKeyJSON{
		Protocol: "groth16", Curve: id.Snarkjs(), Public: vk.Public(), Alpha: decimals1(id, vk.AlphaG1),
		Beta: decimals2(id, vk.BetaG2), Gamma: decimals2(id, vk.GammaG2), Delta: decimals2(id, vk.DeltaG2),
	}
	for _, p := range vk.IC {
		out.IC = append(out.IC, decimals1(id, p))
	}
	return encode(out, compact)
}

func encode(v any, compact bool) ([]byte, error) {
	if compact {
		return json.Marshal(v)
	}
	return json.MarshalIndent(v, "", " ")
}
