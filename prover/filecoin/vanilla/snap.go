package vanilla

import (
	"encoding/json"
	"slices"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/merkle"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
)

// Snap is one partition of the proof of a sector's update.
type Snap struct {
	CommC      filecoin.Node
	ApexLeaves []filecoin.Node
	Challenges []SnapChallenge
}

// SnapChallenge is a challenged node, in the old replica, the new data and the new replica.
type SnapChallenge struct{ Old, Data, New merkle.Proof }

func (p *Snap) visit(c codec, s filecoin.SnapShape) {
	replica, data := replicaTree(s.Sector), dataTree(s.Sector)
	if s.Poseidon {
		data = replica
	}
	prepare := func() {
		if p.Challenges == nil {
			p.Challenges = make([]SnapChallenge, s.Challenges)
		}
	}
	apex := field{"apex_leafs", func() { visitNodes(c, &p.ApexLeaves, s.ApexLeaves) }}
	challenges := field{"challenge_proofs", func() {
		c.list(s.Challenges, prepare, func(i int) {
			ch := &p.Challenges[i]
			c.object(
				field{"proof_r_old", func() { replica.visit(c, &ch.Old) }},
				field{"proof_d_new", func() { data.visit(c, &ch.Data) }},
				field{"proof_r_new", func() { replica.visit(c, &ch.New) }})
		})
	}}
	commC := field{"comm_c", func() { c.node(&p.CommC) }}
	if s.Poseidon {
		c.object(commC, challenges)
		return
	}
	c.object(commC, apex, challenges)
}

// ReadSnap reads the vanilla proof of one partition for a circuit's shape, in JSON or bincode. Errors are of class Input
// and name the field.
func ReadSnap(name string, data []byte, s filecoin.SnapShape) (*Snap, error) {
	p := &Snap{}
	return p, readEither(name, data, func(c codec) { p.visit(c, s) })
}

// Bincode writes the proof as the FFI passes it.
func (p *Snap) Bincode(s filecoin.SnapShape) []byte {
	w := &bincodeWriter{}
	p.visit(w, s)
	return w.out
}

// JSON writes the proof as serde does.
func (p *Snap) JSON(s filecoin.SnapShape) []byte {
	w := &jsonWriter{}
	p.visit(w, s)
	return w.out
}

// Update is Curio's file of an update's vanilla proofs (proof.Snap), with what they are about.
type Update struct {
	Proof                        filecoin.UpdateProof
	CommROld, CommRNew, CommDNew filecoin.Node
	Partitions                   []*Snap
}

// IsUpdate tells whether data looks like Curio's file.
func IsUpdate(data []byte) bool {
	if !looksLikeJSON(data) {
		return false
	}
	found := false
	r := newJSONReader("", data)
	r.members(func(name string) {
		found = found || name == updateProofs
		r.skip()
	})
	return found
}

// updateProofs is the member with the partitions' proofs, bincode in base64.
const updateProofs = "Proofs"

// ReadUpdate reads Curio's file. Errors are of class Input and name the field.
func ReadUpdate(name string, data []byte) (*Update, error) {
	u := &Update{}
	err := mapped.Guard(func() error { return u.read(name, data) })
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (u *Update) read(name string, data []byte) error {
	r := newJSONReader(name, data)
	var proofs *jsonReader
	r.object(
		field{"ProofType", func() {
			number := uint64(0)
			r.uint64(&number)
			r.check(number < filecoin.UpdateProofs, "is %d, but registered update proofs are numbered 0 to %d", number, filecoin.UpdateProofs-1)
			u.Proof = filecoin.UpdateProof(number)
		}},
		field{"old_r", func() { r.node(&u.CommROld) }},
		field{"new_r", func() { r.node(&u.CommRNew) }},
		field{"new_d", func() { r.node(&u.CommDNew) }},
		field{updateProofs, func() {
			proofs = r.fork()
			r.skip()
		}})
	if err := r.end(); err != nil {
		return err
	}
	shape := u.Proof.Shape()
	proofs.list(shape.Partitions, nil, func(int) {
		inside := newBincodeReader(name, proofs.base64())
		if proofs.err != nil {
			return
		}
		inside.path = slices.Clone(proofs.path)
		p := &Snap{}
		p.visit(inside, shape)
		_ = inside.end() // which is also in inside.err
		proofs.err = inside.err
		u.Partitions = append(u.Partitions, p)
	})
	return proofs.result()
}

// Base64List reads a JSON list of proofs in base64, in which vanilla proofs are passed around too. There must be at most
// so many. Errors are of class Input.
func Base64List(name string, data []byte, most int) (proofs [][]byte, err error) {
	r := newJSONReader(name, data)
	err = mapped.Guard(func() error {
		if !r.expect('[', "list") || r.accept(']') {
			return r.end()
		}
		for i := 0; r.err == nil; i++ {
			r.enterItem(i)
			if i == most {
				r.fail(r.at, "is one more than the %d that there can be", most)
			}
			proofs = append(proofs, r.base64())
			r.leave()
			if !r.accept(',') {
				r.expect(']', "end of the list")
				break
			}
		}
		return r.end()
	})
	if err != nil {
		return nil, err
	}
	return proofs, nil
}

// JSON writes the file as Curio does. What is fabricated says so in a member of its own, which readers pass over.
func (u *Update) JSON(fabricated bool) ([]byte, error) {
	shape := u.Proof.Shape()
	file := struct {
		ProofType  filecoin.UpdateProof
		CommROld   filecoin.Node `json:"old_r"`
		CommRNew   filecoin.Node `json:"new_r"`
		CommDNew   filecoin.Node `json:"new_d"`
		Proofs     [][]byte
		Fabricated bool `json:",omitempty"`
	}{ProofType: u.Proof, CommROld: u.CommROld, CommRNew: u.CommRNew, CommDNew: u.CommDNew, Fabricated: fabricated}
	for _, p := range u.Partitions {
		file.Proofs = append(file.Proofs, p.Bincode(shape))
	}
	return json.Marshal(file)
}
