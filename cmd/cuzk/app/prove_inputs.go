package app

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
)

// optional is a value that a flag gives, nil where it does not.
func (p *parsed[T]) optional() *T {
	if !p.given {
		return nil
	}
	return &p.value
}

// porepJob makes a proof of replication of the output of a first commit phase.
type porepJob struct{ porepClaim }

func (p *porepJob) inputs(args []string) []string { return args }

func (p *porepJob) job(ctx context.Context, _ *app, cmd *cobra.Command, args []string) (*job.Job, error) {
	if err := p.readFlags(); err != nil {
		return nil, err
	}
	prover, ok := p.id()
	if !ok {
		return nil, failure.New(failure.Usage, "--miner is missing").WithFix("give the miner's id address, or --prover-id")
	}
	want := job.PoRep{
		Proof: p.proof.optional(), Prover: prover, Ticket: p.ticket.optional(), Seed: p.seed.optional(),
		CommD: p.commD.optional(), CommR: p.commR.optional(),
	}
	if cmd.Flags().Changed("sector-number") {
		want.Sector = &p.sector
	}
	if p.testShape {
		want.Shape = &filecoin.PoRepTestShape
	}
	return withFiles(args[0], nil, func(in []job.Piece) (*job.Job, error) {
		if len(in) != 1 {
			return nil, failure.New(failure.Usage, "is a folder, not a file").In(args[0])
		}
		return job.ReadPoRep(ctx, in[0], want)
	})
}

// withFiles hands the files of an input to a reader that keeps nothing of them.
func withFiles(path string, except []string, read func([]job.Piece) (*job.Job, error)) (*job.Job, error) {
	files, err := job.OpenFiles(path, except...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = files.Close() }()
	return read(files.Pieces)
}

// vanillaFlag names the vanilla proofs.
type vanillaFlag struct{ path string }

func (v *vanillaFlag) register(f *pflag.FlagSet, what string) {
	f.StringVar(&v.path, "vanilla", "", "vanilla proofs: "+what)
}

func (v *vanillaFlag) require() error {
	if v.path == "" {
		return failure.New(failure.Usage, "--vanilla is missing").WithFix("name the file or the folder of the vanilla proofs")
	}
	return nil
}

// postJob makes a proof of spacetime of sectors' vanilla proofs.
type postJob struct {
	postClaim
	vanilla vanillaFlag
}

func (p *postJob) register(f *pflag.FlagSet) {
	p.postClaim.register(f)
	f.Lookup("registered-proof").Usage = "registered PoSt proof, by name or number (default: the one that the vanilla proofs fit)"
	p.vanilla.register(f, "a folder, or a file with one or with a JSON list of them in base64")
}

func (p *postJob) inputs([]string) []string { return []string{p.sectors, p.vanilla.path} }

func (p *postJob) job(ctx context.Context, a *app, cmd *cobra.Command, _ []string) (*job.Job, error) {
	if err := readAll(p.readFlags, p.vanilla.require); err != nil {
		return nil, err
	}
	data, err := a.readDocument(ctx, p.sectors, failure.Input)
	if err != nil {
		return nil, err
	}
	s := &post.Statement{Randomness: p.randomness.value.Trim()}
	if s.Sectors, err = post.ParseSectors(p.sectors, data); err != nil {
		return nil, err
	}
	return withFiles(p.vanilla.path, []string{p.sectors}, func(in []job.Piece) (*job.Job, error) {
		registered := p.proof.value
		if !p.proof.given {
			if registered, err = job.DetectPoSt(in, s, p.winning); err != nil {
				return nil, err
			}
			a.log.Info("Recognised the vanilla proofs", "registeredProof", registered.String())
		}
		if err := s.Register(registered); err != nil {
			return nil, usage(err)
		}
		return job.ReadPoSt(ctx, in, s)
	})
}

// snapJob makes the proof of a sector's update of its vanilla proofs.
type snapJob struct {
	snapClaim
	vanilla vanillaFlag
}

func (p *snapJob) register(f *pflag.FlagSet) {
	p.snapClaim.register(f)
	f.Lookup("registered-proof").Usage = "registered update proof, by name or number (default: the one that the vanilla proofs fit)"
	p.vanilla.register(f, "Curio's JSON, a folder, or a file with one or with a JSON list of them in base64")
}

func (p *snapJob) inputs([]string) []string { return []string{p.vanilla.path} }

func (p *snapJob) job(ctx context.Context, a *app, _ *cobra.Command, _ []string) (*job.Job, error) {
	if err := readAll(p.readFlags, p.vanilla.require); err != nil {
		return nil, err
	}
	return withFiles(p.vanilla.path, nil, func(in []job.Piece) (*job.Job, error) {
		want := job.Snap{
			Proof: p.proof.optional(), CommROld: p.commROld.optional(), CommRNew: p.commRNew.optional(), CommDNew: p.commDNew.optional(),
		}
		if want.Proof == nil && !p.testShape {
			registered, err := job.DetectSnap(in, p.poseidon)
			if err != nil {
				return nil, err
			}
			want.Proof = &registered
		}
		if p.poseidon || p.testShape {
			shape, _ := p.shape(p.proof.value)
			if want.Proof != nil {
				shape, _ = p.shape(*want.Proof)
			}
			want.Shape = &shape
		}
		return job.ReadSnap(ctx, in, want)
	})
}
