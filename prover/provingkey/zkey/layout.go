// Package zkey reads snarkjs's Groth16 proving keys (.zkey, as written by snarkjs 0.3 to 0.7) on BN254 and BLS12-381.
//
// The file is mapped, not copied: its points are gnark-crypto's memory layout on little-endian machines already. Opening
// a key checks everything that can be checked at the speed of memory: structure, sizes, indices, and that each
// coordinate is below the prime. Check does the rest, curve and subgroup of every point, at a cost of microseconds to
// tens of microseconds a point.
package zkey

import (
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/binfile"
)

// Sections of the file, by their numbers.
const (
	sectionProtocol     = 1
	sectionHeader       = 2
	sectionIC           = 3
	sectionCoefficients = 4
	sectionA            = 5
	sectionB1           = 6
	sectionB2           = 7
	sectionL            = 8
	sectionH            = 9
)

var format = binfile.Format{
	Magic:      "zkey",
	Kind:       "snarkjs proving key",
	MaxVersion: 2,
	Class:      failure.Key,
	Sections: map[uint32]string{
		sectionProtocol:     "protocol",
		sectionHeader:       "Groth16 header",
		sectionIC:           "IC",
		sectionCoefficients: "coefficients",
		sectionA:            "A points",
		sectionB1:           "B1 points",
		sectionB2:           "B2 points",
		sectionL:            "L points",
		sectionH:            "H points",
	},
}

// protocols of section 1 that other provers serve.
var protocols = map[uint32]string{2: "PLONK", 10: "FFLONK"}

const protocolGroth16 = 1

// coefficientHead is the part of a coefficient before its value: matrix, row, wire, 32 bits each.
const coefficientHead = 12
