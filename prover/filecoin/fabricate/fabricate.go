// Package fabricate makes valid inputs of Filecoin's circuits without sealing a sector, for tests and benchmarks.
//
// Neither circuit nor verifier sees more of a sector than the nodes that the challenges open, and the commitments. Where
// challenges do not depend on comm_r, the opened nodes can be made first and commitments after them; where they do
// (SnapDeals), sectors that hold the same value everywhere have trees small enough to be built whole. That is no weakness
// of Filecoin: on the chain, the seed of the challenges is drawn after comm_r is known.
package fabricate

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// Mark is the ticket of fabricated sectors, so that every encoding of them says what it is.
var Mark = filecoin.Node([]byte("fabricated by cuzk, not sealed.."))

// filler is a node that nobody looks at but through hashes: a pseudo-random one, by a tag and a position.
func filler(tag string, a, b uint64) filecoin.Node {
	h := sha256.New()
	h.Write([]byte(tag))
	h.Write(binary.LittleEndian.AppendUint64(nil, a))
	h.Write(binary.LittleEndian.AppendUint64(nil, b))
	return filecoin.Node(h.Sum(nil)).Trim()
}
