package inspect

import (
	"encoding/json"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
)

// document tells snarkjs's JSON documents apart by their members.
func (i *inspection) document() error {
	data, err := i.small(snarkjs.MaxDocumentBytes)
	if err != nil {
		return err
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil {
		return i.public(data)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return failure.New(failure.Input, "is not JSON: %w", err).In(i.path)
	}
	switch {
	case members["vk_alpha_1"] != nil || members["IC"] != nil:
		i.report.Kind = SnarkjsVerifyingKey
		vk, err := snarkjs.ParseVerifyingKey(data)
		if err != nil {
			return failure.InFile(err, i.path)
		}
		i.report.Curve, i.report.Circuit = vk.Curve, &Circuit{PublicInputs: count(vk.Public())}
		_, err = groth16.NewVerifier(vk, "")
		return failure.InFile(err, i.path)
	case members["pi_a"] != nil || members["pi_b"] != nil:
		i.report.Kind = SnarkjsProof
		proof, err := snarkjs.ParseProof(data, i.Curve)
		if err != nil {
			return failure.InFile(err, i.path)
		}
		i.report.Curve = proof.Curve
		return nil
	}
	// An object with anything else can only be a circuit's inputs, which are often secret: only their number is told.
	i.report.Kind, i.report.Elements = CircomInput, count(len(members))
	return nil
}

func (i *inspection) public(data []byte) error {
	i.report.Kind = SnarkjsPublic
	curves := curve.All
	if i.Curve != "" {
		curves = []curve.ID{i.Curve}
	}
	var last error
	for k := len(curves) - 1; k >= 0; k-- { // BLS12-381 has the larger field
		values, err := snarkjs.ParsePublic(data, curves[k])
		if err != nil {
			last = err
			continue
		}
		i.report.PublicInputs = snarkjs.Decimals(values)
		i.report.Circuit = &Circuit{PublicInputs: count(len(values))}
		i.report.Curve = i.Curve
		if i.Curve == "" {
			for _, id := range curves {
				if _, err := snarkjs.ParsePublic(data, id); err != nil {
					i.report.Warnings = append(i.report.Warnings, fmt.Sprintf("not public inputs on %s: %v", id, err))
				}
			}
		}
		return nil
	}
	return failure.InFile(last, i.path)
}
