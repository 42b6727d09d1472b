package app

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
)

// What to do about flags that are missing.
const (
	giveHex        = "give the 64 hex digits"
	giveCommitment = "give it in hex or as a CID"
)

// porepClaim are the flags of a proof of replication.
type porepClaim struct {
	minerFlags
	proof        parsed[filecoin.SealProof]
	sector       uint64
	ticket, seed parsed[filecoin.Node]
	commD, commR parsed[filecoin.Node]
	testShape    bool
}

func (c *porepClaim) register(f *pflag.FlagSet) {
	c.minerFlags.register(f)
	c.proof.register(f, "registered-proof", "registered seal proof, by name or number: StackedDrg32GiBV1_1")
	f.Uint64Var(&c.sector, "sector-number", 0, "the sector's number")
	c.ticket.register(f, "ticket", "ticket that the sector was sealed with")
	c.seed.register(f, "seed", "seed of the challenges (interactive randomness)")
	c.commD.register(f, "comm-d", "commitment to the data: hex or CID")
	c.commR.register(f, "comm-r", "commitment to the replica: hex or CID")
	registerTestShape(f, &c.testShape)
}

// testShapeFlag asks for what only tests have.
const testShapeFlag = "test-shape"

// registerTestShape registers it for proofs of replication.
func registerTestShape(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, testShapeFlag, false, "for tests: 2 KiB in 2 partitions of 2 challenges, which is registered nowhere")
}

// readFlags reads the flags that are given.
func (c *porepClaim) readFlags() error {
	return readAll(c.read,
		func() error { return c.proof.read("registered-proof", filecoin.ParseSealProof) },
		func() error { return c.ticket.read("ticket", filecoin.ParseNode) },
		func() error { return c.seed.read("seed", filecoin.ParseNode) },
		func() error { return c.commD.read("comm-d", filecoin.Unsealed.Parse) },
		func() error { return c.commR.read("comm-r", filecoin.Sealed.Parse) },
	)
}

func (c *porepClaim) claim(_ context.Context, _ *app, f *pflag.FlagSet) (*claim, error) {
	if err := readAll(c.readFlags,
		func() error { return c.proof.require("registered-proof", "name it, for instance StackedDrg32GiBV1_1") },
		func() error { return c.ticket.require("ticket", giveHex) },
		func() error { return c.seed.require("seed", giveHex) },
		func() error { return c.commD.require("comm-d", giveCommitment) },
		func() error { return c.commR.require("comm-r", giveCommitment) },
	); err != nil {
		return nil, err
	}
	prover, ok := c.id()
	switch {
	case !ok:
		return nil, failure.New(failure.Usage, "--miner is missing").WithFix("give the miner's id address, or --prover-id")
	case !f.Changed("sector-number"):
		return nil, failure.New(failure.Usage, "--sector-number is missing")
	}
	s := &porep.Statement{Prover: prover, Sector: c.sector, Ticket: c.ticket.value, Seed: c.seed.value, CommD: c.commD.value, CommR: c.commR.value}
	if err := s.Register(c.proof.value); err != nil {
		return nil, failure.New(failure.Usage, "--registered-proof: %w", err)
	}
	if err := takeTestShape(s, c.testShape); err != nil {
		return nil, err
	}
	about := fmt.Sprintf("sector %d, %s", c.sector, c.proof.value)
	return &claim{filecoin.PoRep, s, s.Shape, s.Shape.PublicInputs(), about}, usage(s.Check())
}

// takeTestShape gives a statement the shape of tests, if that is asked for.
func takeTestShape(s *porep.Statement, asked bool) error {
	if !asked {
		return nil
	}
	if s.Shape.Sector != filecoin.PoRepTestShape.Sector {
		return failure.New(failure.Usage, "--test-shape is of %s, the registered proof of %s", filecoin.PoRepTestShape.Sector, s.Shape.Sector)
	}
	s.Shape = filecoin.PoRepTestShape
	return nil
}

// postClaim are the flags of a proof of spacetime.
type postClaim struct {
	minerFlags // users give it to all commands; challenges and circuit do without
	winning    bool
	proof      parsed[filecoin.PoStProof]
	randomness parsed[filecoin.Node]
	sectors    string
	partition  int
}

func (c *postClaim) register(f *pflag.FlagSet) {
	c.minerFlags.register(f)
	c.proof.register(f, "registered-proof", "registered PoSt proof, by name or number: StackedDrgWindow32GiBV1_1")
	c.randomness.register(f, "randomness", "randomness of the challenges; the two top bits of its last byte are cleared, as on the chain")
	f.StringVar(&c.sectors, "sectors", "", `JSON list of the sectors with their comm_r: [{"sector_number": 1, "comm_r": "…"}], or lotus's`)
	if !c.winning {
		f.IntVar(&c.partition, "partition-index", -1, "verify a proof of this partition alone")
	}
}

// readFlags reads the flags that are given, and refuses a command line without those that every use needs.
func (c *postClaim) readFlags() error {
	if err := readAll(c.read,
		func() error { return c.proof.read("registered-proof", filecoin.ParsePoStProof) },
		func() error { return c.randomness.read("randomness", filecoin.ParseNode) },
		func() error { return c.randomness.require("randomness", giveHex) },
	); err != nil {
		return err
	}
	switch {
	case c.sectors == "":
		return failure.New(failure.Usage, "--sectors is missing").WithFix("name a JSON file with the sectors' numbers and comm_r")
	case c.proof.given && c.proof.value.Winning() != c.winning:
		return failure.New(failure.Usage, "--registered-proof %s is that of the other kind of PoSt", c.proof.value)
	}
	return nil
}

func (c *postClaim) claim(ctx context.Context, a *app, f *pflag.FlagSet) (*claim, error) {
	if err := readAll(c.readFlags,
		func() error {
			return c.proof.require("registered-proof", "name it, for instance StackedDrgWindow32GiBV1_1")
		},
	); err != nil {
		return nil, err
	}
	data, err := a.readDocument(ctx, c.sectors, failure.Input)
	if err != nil {
		return nil, err
	}
	s := &post.Statement{Randomness: c.randomness.value.Trim()}
	if err := s.Register(c.proof.value); err != nil {
		return nil, usage(err)
	}
	if s.Sectors, err = post.ParseSectors(c.sectors, data); err != nil {
		return nil, err
	}
	s.Sort()
	if err := s.Check(); err != nil {
		return nil, failure.New(failure.Input, "%w", err).In(c.sectors)
	}
	out := &claim{filecoin.WindowPoSt, s, s.Shape, s.Shape.PublicInputs(), fmt.Sprintf("%s, %s", counted(len(s.Sectors), "sector"), c.proof.value)}
	if c.winning {
		out.circuit = filecoin.WinningPoSt
	}
	if !f.Changed("partition-index") {
		return out, nil
	}
	if c.partition < 0 || c.partition >= s.Partitions() {
		return nil, failure.New(failure.Usage, "--partition-index %d: the sectors make %d partitions, numbered from 0", c.partition, s.Partitions())
	}
	out.statement = proof.Partition(s, c.partition)
	out.about = fmt.Sprintf("partition %d of %s", c.partition, out.about)
	return out, nil
}

// snapClaim are the flags of the proof of an update.
type snapClaim struct {
	snapVariant
	proof              parsed[filecoin.UpdateProof]
	commROld, commRNew parsed[filecoin.Node]
	commDNew           parsed[filecoin.Node]
}

// snapVariant chooses another circuit than that of the registered proof.
type snapVariant struct{ poseidon, testShape bool }

func (v *snapVariant) register(f *pflag.FlagSet) {
	f.BoolVar(&v.poseidon, "poseidon", false, "the variant whose data tree is hashed with Poseidon")
	f.BoolVar(&v.testShape, testShapeFlag, false, "for tests: 16 KiB in 2 partitions, which is registered nowhere")
}

func (v *snapVariant) check() error {
	if v.poseidon && v.testShape {
		return failure.New(failure.Usage, "--poseidon and --test-shape exclude each other")
	}
	return nil
}

// flag is the name of the flag that was given.
func (v *snapVariant) flag() string {
	switch {
	case v.testShape:
		return testShapeFlag
	case v.poseidon:
		return "poseidon"
	}
	return ""
}

func (v *snapVariant) circuit() filecoin.Circuit {
	if v.poseidon {
		return filecoin.SnapDealsPoseidon
	}
	return filecoin.SnapDeals
}

// shape is that of the circuit, and what messages call it.
func (v *snapVariant) shape(p filecoin.UpdateProof) (filecoin.SnapShape, string) {
	switch {
	case v.testShape:
		return filecoin.SnapTestShape, "shape of tests"
	case v.poseidon:
		return filecoin.SnapShapeOf(p.Sector(), true), p.String() + " with Poseidon"
	}
	return p.Shape(), p.String()
}

func (c *snapClaim) register(f *pflag.FlagSet) {
	c.snapVariant.register(f)
	c.proof.register(f, "registered-proof", "registered update proof, by name or number: StackedDrg32GiBV1")
	c.commROld.register(f, "comm-r-old", "commitment to the replica before the update: hex or CID")
	c.commRNew.register(f, "comm-r-new", "commitment to the replica after it: hex or CID")
	c.commDNew.register(f, "comm-d-new", "commitment to the new data: hex or CID")
}

// readFlags reads the flags that are given.
func (c *snapClaim) readFlags() error {
	return readAll(c.check,
		func() error { return c.proof.read("registered-proof", filecoin.ParseUpdateProof) },
		func() error { return c.commROld.read("comm-r-old", filecoin.Sealed.Parse) },
		func() error { return c.commRNew.read("comm-r-new", filecoin.Sealed.Parse) },
		func() error { return c.commDNew.read("comm-d-new", filecoin.Unsealed.Parse) },
	)
}

func (c *snapClaim) claim(context.Context, *app, *pflag.FlagSet) (*claim, error) {
	if err := readAll(c.readFlags,
		func() error {
			if c.testShape {
				return nil
			}
			return c.proof.require("registered-proof", "name it, for instance StackedDrg32GiBV1")
		},
		func() error { return c.commROld.require("comm-r-old", giveCommitment) },
		func() error { return c.commRNew.require("comm-r-new", giveCommitment) },
		func() error { return c.commDNew.require("comm-d-new", giveCommitment) },
	); err != nil {
		return nil, err
	}
	shape, name := c.shape(c.proof.value)
	s := &snap.Statement{Shape: shape, CommROld: c.commROld.value, CommRNew: c.commRNew.value, CommDNew: c.commDNew.value}
	return &claim{c.circuit(), s, s.Shape, filecoin.SnapPublicInputs, "the update, " + name}, usage(s.Check())
}
