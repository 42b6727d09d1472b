// Package gnarkfmt reads and writes gnark's binary proofs and verifying keys. Its readers work on bytes at hand and check
// every count against what is left of them before anything is allocated, which gnark's own decoders do not.
//
// Points are big-endian, compressed (gnark's WriteTo) or not (WriteRawTo); a flag in the first byte of each tells which.
// Both are read; within one file the form must not change, so that a proof has one encoding of each kind.
package gnarkfmt

import (
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// ParseProof reads a proof: Ar, Bs, Krs, u32 count, commitments, proof of knowledge. Points are checked to be in their
// subgroups. The count of commitments is not compared with a verifying key; groth16.Verifier does that. Errors are of
// class Input.
func ParseProof(data []byte, id curve.ID) (*groth16.Proof, error) {
	r := &reader{what: "proof", class: failure.Input, curve: id, data: data}
	if err := r.begin(); err != nil {
		return nil, err
	}
	proof := &groth16.Proof{Curve: id}
	var err error
	if proof.A, err = r.g1("Ar"); err != nil {
		return nil, err
	}
	if proof.B, err = r.g2("Bs"); err != nil {
		return nil, err
	}
	if proof.C, err = r.g1("Krs"); err != nil {
		return nil, err
	}
	if proof.Commitments, err = r.g1List("commitment"); err != nil {
		return nil, err
	}
	if proof.PoK, err = r.g1("the proof of knowledge"); err != nil {
		return nil, err
	}
	return proof, r.end()
}

// FormatProof writes a proof as gnark's WriteTo does, or WriteRawTo if not compressed. It is 36 (BN254) or 52
// (BLS12-381) bytes longer than the three points even without commitments: their count and a proof of knowledge at
// infinity.
func FormatProof(proof *groth16.Proof, compressed bool) []byte {
	id := proof.Curve
	out := id.EncodeG1(proof.A, compressed)
	out = append(out, id.EncodeG2(proof.B, compressed)...)
	out = append(out, id.EncodeG1(proof.C, compressed)...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(proof.Commitments)))
	for _, c := range proof.Commitments {
		out = append(out, id.EncodeG1(c, compressed)...)
	}
	pok := proof.PoK
	if pok == nil {
		pok = make(curve.G1, id.G1Bytes())
	}
	return append(out, id.EncodeG1(pok, compressed)...)
}
