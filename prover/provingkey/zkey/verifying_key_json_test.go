package zkey_test

import (
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
)

// readVerifyingKeyJSON reads snarkjs's verification key: alpha, beta, gamma, delta, then IC, as raw limbs. The test has a
// reader of its own so that the values come from a source outside the code under test.
func readVerifyingKeyJSON(t *testing.T, id curve.ID, path string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var vk struct {
		Alpha []string   `json:"vk_alpha_1"`
		Beta  [][]string `json:"vk_beta_2"`
		Gamma [][]string `json:"vk_gamma_2"`
		Delta [][]string `json:"vk_delta_2"`
		IC    [][]string
	}
	if err := json.Unmarshal(data, &vk); err != nil {
		t.Fatal(err)
	}
	r := new(big.Int).Lsh(big.NewInt(1), uint(8*id.BaseBytes()))
	montgomery := func(coordinates ...string) []byte {
		var out []byte
		for _, s := range coordinates {
			x, ok := new(big.Int).SetString(s, 10)
			if !ok {
				t.Fatalf("%s: %q is not a number", path, s)
			}
			x.Mul(x, r).Mod(x, id.BaseModulus())
			limbs := x.FillBytes(make([]byte, id.BaseBytes()))
			for i := range limbs {
				out = append(out, limbs[len(limbs)-1-i])
			}
		}
		return out
	}
	g2 := func(p [][]string) []byte { return montgomery(p[0][0], p[0][1], p[1][0], p[1][1]) }
	points := [][]byte{montgomery(vk.Alpha[:2]...), g2(vk.Beta), g2(vk.Gamma), g2(vk.Delta)}
	for _, p := range vk.IC {
		points = append(points, montgomery(p[:2]...))
	}
	return points
}
