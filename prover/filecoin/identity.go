package filecoin

import (
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// ProverIDOf is the prover id of a miner: its actor number as an unsigned varint, padded with zeros.
func ProverIDOf(miner uint64) Node {
	var n Node
	binary.PutUvarint(n[:], miner)
	return n
}

// ParseMiner reads a miner's id address: 1000, f01000 or t01000.
func ParseMiner(text string) (uint64, error) {
	digits := text
	for _, prefix := range []string{"f0", "t0"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			digits = rest
			break
		}
	}
	id, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is no miner's id address: use 1000, f01000 or t01000", text)
	}
	return id, nil
}

// ParseNode reads 32 bytes in hex.
func ParseNode(text string) (Node, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil || len(b) != NodeBytes {
		return Node{}, fmt.Errorf("%q is not 32 bytes in hex", shorten(text))
	}
	return Node(b), nil
}

// shorten keeps text from outside short in messages.
func shorten(text string) string {
	if len(text) > 100 {
		return text[:80] + "…"
	}
	return text
}

// Commitment tells the two kinds of commitments apart, which have different CIDs.
type Commitment uint8

// The commitments to a sector.
const (
	// Unsealed is comm_d, to the data.
	Unsealed Commitment = iota
	// Sealed is comm_r, to the replica.
	Sealed
)

// cidPrefixes are version 1, codec and multihash of a commitment's CID, with the length of the digest: all varints.
var cidPrefixes = [...][]byte{
	Unsealed: {1, 0x81, 0xe2, 0x03, 0x92, 0x20, NodeBytes},       // fil-commitment-unsealed, sha2-256-trunc254-padded
	Sealed:   {1, 0x82, 0xe2, 0x03, 0x81, 0xe8, 0x02, NodeBytes}, // fil-commitment-sealed, poseidon-bls12_381-a2-fc1
}

var commitmentNames = [...]string{Unsealed: "comm_d (baga6ea4sea…)", Sealed: "comm_r (bagboea4b5abca…)"}

// multibase is base 32 in lower case, which has the prefix b.
var multibase = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// CID is the commitment's content identifier.
func (c Commitment) CID(n Node) string {
	return "b" + multibase.EncodeToString(append(append([]byte(nil), cidPrefixes[c]...), n[:]...))
}

// Parse reads a commitment: 64 hex digits, or a CID of this kind.
func (c Commitment) Parse(text string) (Node, error) {
	if n, err := ParseNode(text); err == nil {
		return n, nil
	}
	encoded, ok := strings.CutPrefix(text, "b")
	raw, err := multibase.DecodeString(encoded)
	if !ok || err != nil {
		return Node{}, fmt.Errorf("%q is no commitment: use 64 hex digits or a CID", shorten(text))
	}
	for kind, prefix := range cidPrefixes {
		digest, ok := strings.CutPrefix(string(raw), string(prefix))
		if !ok || len(digest) != NodeBytes {
			continue
		}
		if Commitment(kind) != c {
			return Node{}, fmt.Errorf("%q is the CID of a %s, not of a %s", text, commitmentNames[kind], commitmentNames[c])
		}
		n := Node([]byte(digest))
		if c.CID(n) != text {
			break // bits are left over: another spelling of the same bytes
		}
		return n, nil
	}
	return Node{}, fmt.Errorf("%q is the CID of something else than a %s", shorten(text), commitmentNames[c])
}
