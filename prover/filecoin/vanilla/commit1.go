package vanilla

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// Encoding is one of the forms in which the output of a seal's first commit phase is passed around.
type Encoding uint8

// The forms of a first commit phase's output, all recognised by content.
const (
	// CommitJSON is lotus's and Curio's: an object with the sector's number, around APIJSON in base64.
	CommitJSON Encoding = iota
	// APIJSON is that of filecoin-proofs-api, which the FFI passes.
	APIJSON
	// APIBincode is the same in bincode.
	APIBincode
	// RawBincode is that of filecoin-proofs, which does not tell the registered proof.
	RawBincode
)

// String is what the encoding is called in messages.
func (e Encoding) String() string {
	return [...]string{"JSON of lotus and Curio", "JSON of filecoin-proofs-api", "bincode of filecoin-proofs-api", "bincode of filecoin-proofs"}[e]
}

// Commit1 is the output of a seal's first commit phase: the input of a proof of replication.
type Commit1 struct {
	Encoding Encoding
	// Proof is the registered proof, nil where the encoding does not tell it.
	Proof *filecoin.SealProof
	// Sector is the sector's number, nil where the encoding does not tell it.
	Sector *uint64
	Shape  filecoin.PoRepShape
	// Partitions of the proof, each with its challenges.
	Partitions [][]Challenge

	CommR, CommD, ReplicaID, Seed, Ticket filecoin.Node
}

// CommitOptions of reading a first commit phase's output.
type CommitOptions struct {
	// Shape that the output must have, instead of the one that its registered proof, or its size, has.
	Shape *filecoin.PoRepShape
}

// ReadCommit1 reads the output of a first commit phase, in whichever encoding. Partitions in JSON are read in parallel.
// Errors are of class Input and name the field, with the offset in the file (in CommitJSON: in the text inside it).
func ReadCommit1(ctx context.Context, name string, data []byte, o CommitOptions) (out *Commit1, err error) {
	err = mapped.Guard(func() (err error) {
		out, err = readCommit1(ctx, name, data, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// IsCommit1 tells whether data looks like the output of a first commit phase, in whichever encoding.
func IsCommit1(data []byte) bool {
	if !looksLikeJSON(data) {
		if _, ok := apiHeader(data); ok {
			return true
		}
		_, err := rawSize("", data)
		return err == nil
	}
	outer, proofs := false, false
	r := newJSONReader("", data)
	r.members(func(name string) {
		outer = outer || name == phase1Out
		proofs = proofs || name == "vanilla_proofs"
		r.skip()
	})
	return outer || proofs
}

func readCommit1(ctx context.Context, name string, data []byte, o CommitOptions) (*Commit1, error) {
	c := &Commit1{}
	trimmed := bytes.TrimLeft(data[:min(len(data), 64)], " \t\r\n")
	switch {
	case len(data) == 0:
		return nil, failure.New(failure.Input, "the file is empty").In(name)
	case len(trimmed) == 0 || trimmed[0] != '{':
		return c, c.readBincode(name, data, o)
	}
	inner, err := c.readOuter(newJSONReader(name, data))
	if err != nil {
		return nil, err
	}
	c.Encoding = APIJSON
	r := newJSONReader(name, data)
	if inner != nil {
		c.Encoding = CommitJSON
		r = newJSONReader(name, inner)
		r.enter(phase1Out)
	}
	return c, c.readJSON(ctx, r, o)
}

const phase1Out = "Phase1Out"

// readOuter reads lotus's object around the output, if that is what the file is.
func (c *Commit1) readOuter(r *jsonReader) (inner []byte, err error) {
	size := uint64(0)
	r.members(func(name string) {
		r.enter(name)
		defer r.leave()
		switch name {
		case phase1Out:
			inner = r.base64()
		case "SectorNum":
			c.Sector = new(uint64)
			r.uint64(c.Sector)
		case "SectorSize":
			r.uint64(&size)
		default:
			r.skip()
		}
	})
	if err := r.end(); err != nil {
		return nil, err
	}
	if inner != nil && size != 0 {
		c.Shape.Sector = filecoin.SectorSize(size) // compared with the proof's
	}
	return inner, nil
}

// register takes over what the registered proof says.
func (c *Commit1) register(p filecoin.SealProof, o CommitOptions) error {
	if err := p.CheckSupported(); err != nil {
		return err
	}
	if c.Shape.Sector != 0 && c.Shape.Sector != p.Sector() {
		return failure.New(failure.Input, "is %s, but SectorSize is %s", p, c.Shape.Sector)
	}
	c.Proof = &p
	c.Shape = p.Shape()
	return c.take(o)
}

// take replaces the shape by the one that is asked for.
func (c *Commit1) take(o CommitOptions) error {
	if o.Shape == nil {
		return nil
	}
	if o.Shape.Sector != c.Shape.Sector {
		return failure.New(failure.Input, "is for sectors of %s, not of %s", c.Shape.Sector, o.Shape.Sector)
	}
	c.Shape = *o.Shape
	return nil
}

// readJSON reads in two passes: the first finds partitions and what comes behind them, the second reads the partitions.
func (c *Commit1) readJSON(ctx context.Context, r *jsonReader, o CommitOptions) error {
	var proofs *jsonReader
	r.object(
		field{"registered_proof", func() {
			start := r.at
			p, err := filecoin.ParseSealProof(r.text("name of a registered proof"))
			if err == nil {
				err = c.register(p, o)
			}
			if err != nil {
				r.fail(start, "%w", err)
			}
		}},
		field{"vanilla_proofs", func() {
			proofs = r.fork()
			r.skip()
		}},
		field{"comm_r", func() { r.node(&c.CommR) }},
		field{"comm_d", func() { r.node(&c.CommD) }},
		field{"replica_id", func() { r.node(&c.ReplicaID) }},
		field{"seed", func() { r.bytes32(&c.Seed) }},
		field{"ticket", func() { r.bytes32(&c.Ticket) }})
	if err := r.end(); err != nil {
		return err
	}
	return c.readPartitions(ctx, proofs)
}

// sizeName is the name of the variant that holds a size's vanilla proofs.
func sizeName(size filecoin.SectorSize) string { return "StackedDrg" + size.String() + "V1" }

func (c *Commit1) readPartitions(ctx context.Context, r *jsonReader) error {
	readers := make([]*jsonReader, 0, c.Shape.Partitions)
	r.variant(0, sizeName(c.Shape.Sector), func() {
		r.list(c.Shape.Partitions, nil, func(int) {
			readers = append(readers, r.fork())
			r.skip()
		})
	})
	if err := r.result(); err != nil {
		return err
	}
	c.Partitions = make([][]Challenge, len(readers))
	shape := newPoRepShape(c.Shape)
	return parallel.Ranges(ctx, len(readers), 1, func(k, _ int) error {
		shape.visitPartition(readers[k], &c.Partitions[k])
		return readers[k].result()
	})
}

func (s *porepShape) visitPartition(c codec, challenges *[]Challenge) {
	prepare := func() {
		if *challenges == nil {
			*challenges = make([]Challenge, s.Challenges)
		}
	}
	c.list(s.Challenges, prepare, func(i int) { s.visit(c, &(*challenges)[i]) })
}

// visitBincode describes the output of filecoin-proofs.
func (c *Commit1) visitBincode(to codec) {
	shape := newPoRepShape(c.Shape)
	prepare := func() {
		if c.Partitions == nil {
			c.Partitions = make([][]Challenge, c.Shape.Partitions)
		}
	}
	to.object(
		field{"vanilla_proofs", func() {
			to.list(c.Shape.Partitions, prepare, func(k int) { shape.visitPartition(to, &c.Partitions[k]) })
		}},
		field{"comm_r", func() { to.node(&c.CommR) }},
		field{"comm_d", func() { to.node(&c.CommD) }},
		field{"replica_id", func() { to.node(&c.ReplicaID) }},
		field{"seed", func() { to.bytes32(&c.Seed) }},
		field{"ticket", func() { to.bytes32(&c.Ticket) }})
}

// readBincode finds out which of the two forms it is: that of filecoin-proofs-api begins with the number of the registered
// proof and that of the size.
func (c *Commit1) readBincode(name string, data []byte, o CommitOptions) error {
	r := newBincodeReader(name, data)
	p, isAPI := apiHeader(data)
	c.Encoding = RawBincode
	if isAPI {
		c.Encoding = APIBincode
		r.at = apiHeaderBytes
		if err := c.register(p, o); err != nil {
			return failure.New(failure.Input, "%w", err).In(name).At("registered_proof", 0)
		}
	} else {
		size, err := rawSize(name, data)
		if err != nil {
			return err
		}
		c.Shape = filecoin.PoRepShapeOf(size)
		if err := c.take(o); err != nil {
			return failure.New(failure.Input, "%w", err).In(name)
		}
	}
	c.visitBincode(r)
	return r.end()
}

// In bincode of filecoin-proofs there stand at fixed offsets: the number of partitions, of challenges, the variant of the
// first tree proof (0) with root and leaf, and the length of its path, which tells the sector's size.
const (
	apiHeaderBytes = 4 + 4
	rawVariantAt   = 8 + 8
	rawLevelsAt    = rawVariantAt + 4 + 2*filecoin.NodeBytes
)

// rawLevels is the length of the first path, or 0 where there is none.
func rawLevels(data []byte) uint64 {
	if len(data) < rawLevelsAt+8 || binary.LittleEndian.Uint32(data[rawVariantAt:]) != 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(data[rawLevelsAt:])
}

// apiHeader reads the two numbers, if they fit each other and what follows them.
func apiHeader(data []byte) (filecoin.SealProof, bool) {
	if len(data) < apiHeaderBytes {
		return 0, false
	}
	number, variant := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	sizes := uint32(len(filecoin.PublishedSizes))
	if number >= filecoin.SealProofs || variant != number%sizes {
		return 0, false
	}
	p := filecoin.SealProof(number)
	return p, rawLevels(data[apiHeaderBytes:]) == uint64(p.Sector().Log2Nodes())
}

func rawSize(name string, data []byte) (filecoin.SectorSize, error) {
	levels := rawLevels(data)
	size := filecoin.SectorSize(0)
	if levels < 64-5 {
		size = filecoin.NodeBytes << levels
	}
	if levels == 0 || !size.Known() {
		return 0, failure.New(failure.Input, "is no output of a first commit phase: it is neither JSON nor bincode with a path of a known sector size at the beginning").
			In(name).At("vanilla_proofs[0][0].comm_d_proofs", 0)
	}
	return size, nil
}

// Format writes the output in an encoding; all but RawBincode need a registered proof, and CommitJSON a sector.
func (c *Commit1) Format(e Encoding) []byte {
	switch e {
	case RawBincode, APIBincode:
		w := &bincodeWriter{}
		if e == APIBincode {
			w.out = binary.LittleEndian.AppendUint32(w.out, uint32(*c.Proof))
			w.out = binary.LittleEndian.AppendUint32(w.out, uint32(int(*c.Proof)%len(filecoin.PublishedSizes)))
		}
		c.visitBincode(w)
		return w.out
	case APIJSON:
		return c.formatJSON()
	case CommitJSON:
	}
	out := []byte(`{"SectorNum":` + strconv.FormatUint(*c.Sector, 10) + `,"` + phase1Out + `":"`)
	out = base64.StdEncoding.AppendEncode(out, c.formatJSON())
	return append(out, `","SectorSize":`+strconv.FormatUint(uint64(c.Shape.Sector), 10)+`}`...)
}

func (c *Commit1) formatJSON() []byte {
	w := &jsonWriter{}
	shape := newPoRepShape(c.Shape)
	w.object(
		field{"registered_proof", func() { w.out = strconv.AppendQuote(w.out, c.Proof.String()) }},
		field{"vanilla_proofs", func() {
			w.variant(0, sizeName(c.Shape.Sector), func() {
				w.list(c.Shape.Partitions, nil, func(k int) { shape.visitPartition(w, &c.Partitions[k]) })
			})
		}},
		field{"comm_r", func() { w.node(&c.CommR) }},
		field{"comm_d", func() { w.node(&c.CommD) }},
		field{"replica_id", func() { w.node(&c.ReplicaID) }},
		field{"seed", func() { w.node(&c.Seed) }},
		field{"ticket", func() { w.node(&c.Ticket) }})
	return w.out
}
