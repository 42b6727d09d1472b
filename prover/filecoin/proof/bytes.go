// Package proof holds Filecoin's form of Groth16 proofs, one a partition in a row, and verifies them.
package proof

import (
	"bytes"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

const (
	id = curve.BLS12381
	// g1Bytes and g2Bytes are the sizes of compressed points.
	g1Bytes, g2Bytes = 48, 96
	// Bytes is the size of a partition's proof: A, B, C, compressed.
	Bytes = 2*g1Bytes + g2Bytes
)

// Encode writes the proofs of all partitions, in their order.
func Encode(partitions []*groth16.Proof) []byte {
	out := make([]byte, 0, len(partitions)*Bytes)
	for _, p := range partitions {
		out = append(out, id.EncodeG1(p.A, true)...)
		out = append(out, id.EncodeG2(p.B, true)...)
		out = append(out, id.EncodeG1(p.C, true)...)
	}
	return out
}

// Decode reads the proofs of so many partitions. It takes only what Encode writes: points in the compressed form, on the
// curve, in the subgroup, none of them infinity. Errors are of class Input.
func Decode(data []byte, partitions int) ([]*groth16.Proof, error) {
	if len(data) != partitions*Bytes {
		return nil, failure.New(failure.Input, "the proof has %d bytes, those of %d partitions have %d", len(data), partitions, partitions*Bytes)
	}
	proofs := make([]*groth16.Proof, partitions)
	for k := range proofs {
		p, err := decode(data[k*Bytes:(k+1)*Bytes], k)
		if err != nil {
			return nil, err
		}
		proofs[k] = p
	}
	return proofs, nil
}

func decode(data []byte, partition int) (*groth16.Proof, error) {
	p := &groth16.Proof{Curve: id}
	at := 0
	for _, point := range []struct {
		name string
		size int
		read func([]byte) ([]byte, error)
	}{
		{"A", g1Bytes, func(b []byte) (_ []byte, err error) { p.A, err = decodeG1(b); return p.A, err }},
		{"B", g2Bytes, func(b []byte) (_ []byte, err error) { p.B, err = decodeG2(b); return p.B, err }},
		{"C", g1Bytes, func(b []byte) (_ []byte, err error) { p.C, err = decodeG1(b); return p.C, err }},
	} {
		raw, err := point.read(data[at : at+point.size])
		if err == nil && curve.IsInfinity(raw) {
			err = fmt.Errorf("it is the point at infinity, which no honest proof contains")
		}
		if err != nil {
			return nil, failure.New(failure.Input, "%w", err).
				At(fmt.Sprintf("partition %d, point %s", partition, point.name), int64(partition*Bytes+at))
		}
		at += point.size
	}
	return p, nil
}

func decodeG1(data []byte) (curve.G1, error) {
	if !id.IsCompressed(data[0]) {
		return nil, errUncompressed
	}
	p, _, err := id.DecodeG1(data)
	if err == nil && !bytes.Equal(id.EncodeG1(p, true), data) {
		err = errSpelling
	}
	return p, err
}

func decodeG2(data []byte) (curve.G2, error) {
	if !id.IsCompressed(data[0]) {
		return nil, errUncompressed
	}
	p, _, err := id.DecodeG2(data)
	if err == nil && !bytes.Equal(id.EncodeG2(p, true), data) {
		err = errSpelling
	}
	return p, err
}

var (
	errUncompressed = fmt.Errorf("it is not marked as compressed")
	errSpelling     = fmt.Errorf("it is not written in the one canonical way")
)
