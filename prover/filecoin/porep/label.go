// Package porep draws what a proof of replication is about: replica id, graph, challenges, labels, and from them the
// public inputs of each partition.
package porep

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// ReplicaID binds a replica to who stores it, its sector's number, the ticket, the data and the registered proof.
func ReplicaID(prover filecoin.Node, sector uint64, ticket, commD, porepID filecoin.Node) filecoin.Node {
	h := sha256.New()
	h.Write(prover[:])
	h.Write(binary.BigEndian.AppendUint64(nil, sector))
	h.Write(ticket[:])
	h.Write(commD[:])
	h.Write(porepID[:])
	return filecoin.Node(h.Sum(nil)).Trim()
}

// Label is the label of a node in a layer (from 1): a hash of the labels of its parents, which are repeated in order to
// filecoin.LabelParents. Node 0 has no parents.
func Label(replica filecoin.Node, layer uint32, node uint64, parents []filecoin.Node) filecoin.Node {
	h := sha256.New()
	h.Write(replica[:])
	var head [32]byte
	binary.BigEndian.PutUint32(head[:], layer)
	binary.BigEndian.PutUint64(head[4:], node)
	h.Write(head[:])
	if len(parents) > 0 {
		for i := range filecoin.LabelParents {
			h.Write(parents[i%len(parents)][:])
		}
	}
	return filecoin.Node(h.Sum(nil)).Trim()
}
