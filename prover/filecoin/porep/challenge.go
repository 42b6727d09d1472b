package porep

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/chacha20"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// challengeOf turns 32 random bytes into the number of a node other than 0.
func challengeOf(random []byte, nodes uint64) uint64 {
	var rest uint64
	for i := 3; i >= 0; i-- {
		_, rest = bits.Div64(rest, binary.LittleEndian.Uint64(random[8*i:]), nodes-1)
	}
	return rest + 1
}

// interactive is challenge number j of a proof.
func interactive(replica, seed filecoin.Node, j uint32, nodes uint64) uint64 {
	h := sha256.New()
	h.Write(replica[:])
	h.Write(seed[:])
	h.Write(binary.LittleEndian.AppendUint32(nil, j))
	return challengeOf(h.Sum(nil), nodes)
}

// syntheticSet is the most challenges that a synthetic proof chooses among.
const syntheticSet = 1 << 18

const (
	syntheticNonce      = "synth-porep\x00"
	syntheticGeneration = "filecoin.io|PoRep|1|Synthetic|1|Generation"
	syntheticSelection  = "filecoin.io|PoRep|1|Synthetic|1|Selection"
)

// synthetic draws the challenges of a proof in two steps: which members of a set (by the seed), and what they are (by the
// replica).
type synthetic struct {
	nodes     uint64
	set       uint32
	replica   filecoin.Node
	generator [blake2b.Size256]byte
}

func newSynthetic(replica, commR filecoin.Node, nodes uint64, set uint32) *synthetic {
	return &synthetic{nodes: nodes, set: set, replica: replica, generator: keyedHash(syntheticGeneration, replica, commR)}
}

func keyedHash(key string, parts ...filecoin.Node) (digest [blake2b.Size256]byte) {
	h, err := blake2b.New256([]byte(key))
	if err != nil {
		panic(err) // the keys are shorter than the most that is allowed
	}
	for _, p := range parts {
		h.Write(p[:])
	}
	h.Sum(digest[:0])
	return digest
}

// keystream fills out with the stream of a key from an offset on, which must not exceed a multiple of 64 by more than a
// block.
func keystream(key [chacha20.KeySize]byte, offset uint64, out []byte) {
	c, err := chacha20.NewUnauthenticatedCipher(key[:], []byte(syntheticNonce))
	if err != nil {
		panic(err) // the sizes of key and nonce are right by construction
	}
	const block = 64
	c.SetCounter(uint32(offset / block))
	skipped := make([]byte, offset%block)
	c.XORKeyStream(skipped, skipped)
	clear(out)
	c.XORKeyStream(out, out)
}

// member is a member of the set.
func (s *synthetic) member(t uint32) uint64 {
	var random [32]byte
	keystream(s.generator, 32*uint64(t), random[:])
	return challengeOf(random[:], s.nodes)
}

// challenge is challenge number j of a proof.
func (s *synthetic) challenge(seed filecoin.Node, j uint32) uint64 {
	var random [4]byte
	keystream(keyedHash(syntheticSelection, s.replica, seed), 4*uint64(j), random[:])
	return s.member(binary.LittleEndian.Uint32(random[:]) % s.set)
}

// Challenges are those of one partition, as node numbers. comm_r matters only to synthetic proofs.
func (s *Statement) Challenges(partition int) ([]uint64, error) {
	if partition < 0 || partition >= s.Shape.Partitions {
		return nil, fmt.Errorf("partition %d of %d", partition, s.Shape.Partitions)
	}
	nodes := s.Shape.Sector.Nodes()
	replica := s.ReplicaID()
	draw := func(j uint32) uint64 { return interactive(replica, s.Seed, j, nodes) }
	if s.Kind == filecoin.Synthetic {
		set := newSynthetic(replica, s.CommR, nodes, uint32(min(nodes, syntheticSet)))
		draw = func(j uint32) uint64 { return set.challenge(s.Seed, j) }
	}
	challenges := make([]uint64, s.Shape.Challenges)
	for i := range challenges {
		challenges[i] = draw(uint32(partition*s.Shape.Challenges + i))
	}
	return challenges, nil
}
