package gnarkfmt

import (
	"encoding/binary"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// ParseVerifyingKey reads a verifying key: α₁ β₁ β₂ γ₂ δ₁ δ₂, u32 count and K, the lists of committed inputs, u32 count
// and commitment keys (G, [-σ]G). Points are checked to be in their subgroups. Errors are of class Key.
func ParseVerifyingKey(data []byte, id curve.ID) (*groth16.VerifyingKey, error) {
	r := &reader{what: "verifying key", class: failure.Key, curve: id, data: data}
	if err := r.begin(); err != nil {
		return nil, err
	}
	vk := &groth16.VerifyingKey{Curve: id}
	for _, read := range []func() error{
		func() (err error) { vk.AlphaG1, err = r.g1("alpha"); return },
		func() (err error) { vk.BetaG1, err = r.g1("beta in G1"); return },
		func() (err error) { vk.BetaG2, err = r.g2("beta in G2"); return },
		func() (err error) { vk.GammaG2, err = r.g2("gamma"); return },
		func() (err error) { vk.DeltaG1, err = r.g1("delta in G1"); return },
		func() (err error) { vk.DeltaG2, err = r.g2("delta in G2"); return },
		func() (err error) { vk.IC, err = r.g1List("K"); return },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	lists, err := r.count("lists of committed inputs", 4)
	if err != nil {
		return nil, err
	}
	committed := make([][]int, lists)
	for i := range committed {
		n, err := r.count(fmt.Sprintf("inputs of commitment %d", i), 8)
		if err != nil {
			return nil, err
		}
		committed[i] = make([]int, n)
		for j := range committed[i] {
			wire := r.uint64()
			if wire >= 1<<31 {
				return nil, r.errorf("commitment %d covers input %d", i, wire)
			}
			committed[i][j] = int(wire)
		}
	}
	keys, err := r.count("commitment keys", id.G2Bytes()) // two compressed points each, as large as one that is not
	if err != nil {
		return nil, err
	}
	if keys != lists {
		return nil, r.errorf("there are %d commitment keys, but lists of committed inputs for %d", keys, lists)
	}
	for i := range keys {
		k := groth16.CommitmentKey{Committed: committed[i]}
		if k.G, err = r.g2(fmt.Sprintf("G of commitment key %d", i)); err != nil {
			return nil, err
		}
		if k.GSigmaNeg, err = r.g2(fmt.Sprintf("GSigmaNeg of commitment key %d", i)); err != nil {
			return nil, err
		}
		vk.Commitments = append(vk.Commitments, k)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	if vk.Public() < 0 {
		return nil, r.errorf("K has %d points, at least %d are needed", len(vk.IC), 1+keys)
	}
	return vk, nil
}

// FormatVerifyingKey writes a verifying key as gnark's WriteTo does, or WriteRawTo if not compressed. The key must hold
// beta and delta in G1, which gnark's files carry and snarkjs's do not.
func FormatVerifyingKey(vk *groth16.VerifyingKey, compressed bool) ([]byte, error) {
	id := vk.Curve
	if vk.BetaG1 == nil || vk.DeltaG1 == nil {
		return nil, failure.New(failure.Usage, "the verifying key lacks beta and delta in G1, which gnark's form needs; take them from the proving key")
	}
	var out []byte
	g1 := func(p curve.G1) { out = append(out, id.EncodeG1(p, compressed)...) }
	g2 := func(p curve.G2) { out = append(out, id.EncodeG2(p, compressed)...) }
	u32 := func(n int) { out = binary.BigEndian.AppendUint32(out, uint32(n)) }
	g1(vk.AlphaG1)
	g1(vk.BetaG1)
	g2(vk.BetaG2)
	g2(vk.GammaG2)
	g1(vk.DeltaG1)
	g2(vk.DeltaG2)
	u32(len(vk.IC))
	for _, p := range vk.IC {
		g1(p)
	}
	u32(len(vk.Commitments))
	for _, k := range vk.Commitments {
		u32(len(k.Committed))
		for _, wire := range k.Committed {
			out = binary.BigEndian.AppendUint64(out, uint64(wire))
		}
	}
	u32(len(vk.Commitments))
	for _, k := range vk.Commitments {
		g2(k.G)
		g2(k.GSigmaNeg)
	}
	return out, nil
}
