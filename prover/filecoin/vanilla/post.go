package vanilla

import (
	"bytes"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// PoSt is a sector's part of a proof of spacetime: the challenged leaves of its replica.
type PoSt struct {
	Sector           uint64
	CommR            filecoin.Node
	CommC, CommRLast filecoin.Node
	Leaves           []merkle.Proof
}

// postLeaves is the number of leaves that a sector opens: all challenges of a winning PoSt stand in one proof.
func postLeaves(s filecoin.PoStShape) int {
	if s.Slots == filecoin.WinningChallenges && s.Challenges == 1 {
		return filecoin.WinningChallenges
	}
	return s.Challenges
}

func (p *PoSt) visit(c codec, s filecoin.PoStShape) {
	replica := replicaTree(s.Sector)
	leaves := postLeaves(s)
	prepare := func() {
		if p.Leaves == nil {
			p.Leaves = make([]merkle.Proof, leaves)
		}
	}
	c.object(
		field{"sector_id", func() { c.uint64(&p.Sector) }},
		field{"comm_r", func() { c.node(&p.CommR) }},
		field{"vanilla_proof", func() {
			c.object(field{"sectors", func() {
				c.list(1, nil, func(int) {
					c.object(
						field{"inclusion_proofs", func() {
							c.list(leaves, prepare, func(i int) { replica.visit(c, &p.Leaves[i]) })
						}},
						field{"comm_c", func() { c.node(&p.CommC) }},
						field{"comm_r_last", func() { c.node(&p.CommRLast) }})
				})
			}})
		}})
}

// ReadPoSt reads a sector's vanilla proof for a circuit's shape, in JSON or bincode. Errors are of class Input and name
// the field.
func ReadPoSt(name string, data []byte, s filecoin.PoStShape) (*PoSt, error) {
	p := &PoSt{}
	return p, readEither(name, data, func(c codec) { p.visit(c, s) })
}

// Bincode writes the proof as the FFI passes it.
func (p *PoSt) Bincode(s filecoin.PoStShape) []byte {
	w := &bincodeWriter{}
	p.visit(w, s)
	return w.out
}

// JSON writes the proof as serde does.
func (p *PoSt) JSON(s filecoin.PoStShape) []byte {
	w := &jsonWriter{}
	p.visit(w, s)
	return w.out
}

// readEither reads an input that is one value, in either encoding: JSON begins with a brace, which no bincode of ours
// followed by text does.
func readEither(name string, data []byte, visit func(codec)) error {
	return mapped.Guard(func() error {
		if len(data) == 0 {
			return failure.New(failure.Input, "the file is empty").In(name)
		}
		if looksLikeJSON(data) {
			r := newJSONReader(name, data)
			visit(r)
			return r.end()
		}
		r := newBincodeReader(name, data)
		visit(r)
		return r.end()
	})
}

// looksLikeJSON tells whether an object begins here: a brace, then a quote.
func looksLikeJSON(data []byte) bool {
	const space = " \t\r\n"
	head, ok := bytes.CutPrefix(bytes.TrimLeft(data[:min(len(data), 256)], space), []byte("{"))
	head = bytes.TrimLeft(head, space)
	return ok && len(head) > 0 && head[0] == '"'
}
