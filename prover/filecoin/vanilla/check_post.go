package vanilla

import (
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
)

// Check compares a sector's vanilla proof with the statement that is to be proved, where the sector has this position:
// number, commitments, challenges, and every path. Errors are of class Input and name the first field that is wrong; name
// is the file's.
func (p *PoSt) Check(name string, s *post.Statement, position int) error {
	at := &place{file: name}
	sector := s.Sectors[position]
	at.sameNumber("sector_id", p.Sector, sector.ID)
	at.same("comm_r", p.CommR, sector.CommR)
	replica := replicaTree(s.Shape.Sector)
	at.within("vanilla_proof", func() {
		at.within("sectors", func() {
			at.withinItem(0, func() {
				at.checkCommR(sector.CommR, p.CommC, p.CommRLast)
				at.within("inclusion_proofs", func() {
					for i, leaf := range s.Leaves(position) {
						at.withinItem(i, func() { replica.checkOpening(at, "", &p.Leaves[i], p.CommRLast, leaf) })
					}
				})
			})
		})
	})
	return at.result()
}

// checkCommR checks that the two roots make comm_r.
func (p *place) checkCommR(commR, commC, replica filecoin.Node) {
	if got := merkle.Poseidon.Hash([]filecoin.Node{commC, replica}); got != commR {
		p.fail(-1, "comm_c and comm_r_last make comm_r %s, it should be %s", got, commR)
	}
}
