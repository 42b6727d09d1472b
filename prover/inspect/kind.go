// Package inspect tells what a file of the provers' world is: its format, curve, sizes and digests, and, when asked, whether
// every point of a key is what it should be.
package inspect

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Kind is what a file holds. Its values are part of the JSON that cuzk prints.
type Kind string

const (
	Zkey                Kind = "zkey"
	R1CS                Kind = "r1cs"
	Wtns                Kind = "wtns"
	Wasm                Kind = "wasm"
	SnarkjsVerifyingKey Kind = "snarkjsVerifyingKey"
	SnarkjsProof        Kind = "snarkjsProof"
	SnarkjsPublic       Kind = "snarkjsPublic"
	CircomInput         Kind = "circomInput"
	GnarkProvingKey     Kind = "gnarkProvingKey"
	GnarkVerifyingKey   Kind = "gnarkVerifyingKey"
	GnarkConstraints    Kind = "gnarkConstraintSystem"
	GnarkWitness        Kind = "gnarkWitness"
	GnarkProof          Kind = "gnarkProof"

	FilecoinParams       Kind = "filecoinParams"
	FilecoinVerifyingKey Kind = "filecoinVerifyingKey"
	FilecoinCommit1      Kind = "filecoinCommit1"
	FilecoinUpdate       Kind = "filecoinUpdate"

	Unknown Kind = ""
)

var titles = map[Kind]string{
	Zkey:                "snarkjs proving key (.zkey)",
	R1CS:                "circom constraint system (.r1cs)",
	Wtns:                "circom witness (.wtns)",
	Wasm:                "WebAssembly program",
	SnarkjsVerifyingKey: "snarkjs verification key (JSON)",
	SnarkjsProof:        "snarkjs proof (JSON)",
	SnarkjsPublic:       "snarkjs public inputs (JSON)",
	CircomInput:         "circom input (JSON)",
	GnarkProvingKey:     "gnark proving key",
	GnarkVerifyingKey:   "gnark verifying key",
	GnarkConstraints:    "gnark constraint system",
	GnarkWitness:        "gnark witness",
	GnarkProof:          "gnark proof",

	FilecoinParams:       "Filecoin proving key (.params)",
	FilecoinVerifyingKey: "Filecoin verifying key (.vk)",
	FilecoinCommit1:      "output of a Filecoin seal's first commit phase",
	FilecoinUpdate:       "vanilla proofs of a Filecoin sector's update (Curio's JSON)",
}

// Title is the kind in words.
func (k Kind) Title() string { return titles[k] }

// HeadBytes is how much of a file's start Recognise wants to see.
const HeadBytes = 64

// Recognise tells the kind of a file from its first bytes and its size, as far as they tell: JSON documents and gnark's
// proofs and verifying keys, which begin with a point, need a closer look and are reported as Unknown.
func Recognise(head []byte, size int64) Kind {
	switch {
	case bytes.HasPrefix(head, []byte("zkey")):
		return Zkey
	case bytes.HasPrefix(head, []byte("r1cs")):
		return R1CS
	case bytes.HasPrefix(head, []byte("wtns")):
		return Wtns
	case bytes.HasPrefix(head, []byte("\x00asm")):
		return Wasm
	}
	if len(head) >= 12 {
		public, secret := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
		n := binary.BigEndian.Uint32(head[8:])
		if uint64(public)+uint64(secret) == uint64(n) && size == 12+32*int64(n) {
			return GnarkWitness
		}
	}
	if len(head) >= 32 {
		le := binary.LittleEndian
		// The length of the whole and the version of gnark, 0.something.
		if total := le.Uint64(head); total > 32 && total <= uint64(size) && le.Uint64(head[8:]) == 0 && le.Uint64(head[16:]) < 1000 && le.Uint64(head[24:]) < 1000 {
			return GnarkConstraints
		}
		if le.Uint64(head) == 0xdeadbeef {
			return GnarkProvingKey
		}
		// The domain's size, a power of two, then its inverse in the field, 32 bytes below the modulus.
		if n := binary.BigEndian.Uint64(head); bits.OnesCount64(n) == 1 && n <= 1<<32 && head[8] < 0x74 {
			return GnarkProvingKey
		}
	}
	return Unknown
}

// IsJSON tells whether a file begins as a JSON object or list does.
func IsJSON(head []byte) bool {
	t := bytes.TrimLeft(head, " \t\r\n\ufeff")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}
