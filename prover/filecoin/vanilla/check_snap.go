package vanilla

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
)

// Check compares a partition's vanilla proof with the statement that is to be proved: commitments, apex, challenges, every
// path, and the encoding of every node. Errors are of class Input and name the first field that is wrong; name is the
// file's.
func (p *Snap) Check(name string, s *snap.Statement, partition int) error {
	if err := s.Check(); err != nil {
		return err
	}
	challenges, err := s.Challenges(partition)
	if err != nil {
		return err
	}
	encoding, err := s.Encoding()
	if err != nil {
		return err
	}
	k := &snapChecker{Snap: p, statement: s, encoding: encoding, replica: replicaTree(s.Shape.Sector), data: dataTree(s.Shape.Sector)}
	if s.Shape.Poseidon {
		k.data = k.replica
	}
	at := &place{file: name}
	k.checkRoots(at)
	if !s.Shape.Poseidon {
		k.checkApex(at, partition)
	}
	at.within("challenge_proofs", func() {
		for i, node := range challenges {
			at.withinItem(i, func() { k.check(at, &p.Challenges[i], node) })
		}
	})
	return at.result()
}

type snapChecker struct {
	*Snap
	statement     *snap.Statement
	encoding      *snap.Encoding
	replica, data tree
	// The roots of the replica's trees, which comm_r_old and comm_r_new are made of.
	oldRoot, newRoot filecoin.Node
}

// checkRoots takes the roots from the first challenge; all others must have the same.
func (k *snapChecker) checkRoots(at *place) {
	first := &k.Challenges[0]
	k.oldRoot, k.newRoot = first.Old.Root, first.New.Root
	at.within("challenge_proofs", func() {
		at.withinItem(0, func() {
			at.within("proof_r_old", func() { at.checkCommR(k.statement.CommROld, k.CommC, k.oldRoot) })
			at.within("proof_r_new", func() { at.checkCommR(k.statement.CommRNew, k.CommC, k.newRoot) })
		})
	})
}

// checkApex checks that the apex leaves are those of the partition: its root is a node on the data tree's paths.
func (k *snapChecker) checkApex(at *place, partition int) {
	shape := k.statement.Shape
	nodes := k.ApexLeaves
	for len(nodes) > 1 {
		above := make([]filecoin.Node, len(nodes)/2)
		for i := range above {
			above[i] = merkle.SHA256.Hash(nodes[2*i : 2*i+2])
		}
		nodes = above
	}
	// What is left of the first path joins the partitions' apexes.
	path := k.Challenges[0].Data.Path
	top := merkle.Proof{Root: k.statement.CommDNew, Leaf: nodes[0], Path: path[len(path)-shape.PartitionBits():]}
	if top.Check(merkle.SHA256) != nil {
		at.refuse("apex_leafs", "are not those of partition %d of comm_d %s", partition, k.statement.CommDNew)
	}
}

func (k *snapChecker) check(at *place, ch *SnapChallenge, node uint64) {
	k.replica.checkOpening(at, "proof_r_old", &ch.Old, k.oldRoot, node)
	k.data.checkOpening(at, "proof_d_new", &ch.Data, k.statement.CommDNew, node)
	k.replica.checkOpening(at, "proof_r_new", &ch.New, k.newRoot, node)
	if at.err != nil {
		return
	}
	old, _ := ch.Old.Leaf.Element()
	data, _ := ch.Data.Leaf.Element()
	rho := k.encoding.Rho(k.encoding.Block(node))
	var want fr.Element
	want.Mul(&data, &rho).Add(&want, &old)
	at.within("proof_r_new", func() { at.same("leaf", ch.New.Leaf, filecoin.NodeOf(want)) })
}
