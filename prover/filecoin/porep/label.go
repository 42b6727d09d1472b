// Package porep draws what a proof of replication is about: replica id, graph, challenges, labels, and from them the
// public inputs of each partition.
package porep

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

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
	for _, p := range RepeatParents(parents) {
		h.Write(p[:])
	}
	return filecoin.Node(h.Sum(nil)).Trim()
}

// RepeatParents repeats the labels of a node's parents in order, as a label hashes them.
func RepeatParents(parents []filecoin.Node) []filecoin.Node {
	if len(parents) == 0 {
		return nil
	}
	return slices.Repeat(parents, filecoin.LabelParents/len(parents)+1)[:filecoin.LabelParents]
}

// Encode is the node of a replica: the last label plus the data. Both must be canonical.
func Encode(label, data filecoin.Node) filecoin.Node {
	x, _ := label.Element()
	y, _ := data.Element()
	return filecoin.NodeOf(*x.Add(&x, &y))
}
