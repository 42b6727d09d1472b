package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
)

// claimFlags describe what a Filecoin proof claims.
type claimFlags interface {
	register(f *pflag.FlagSet)
	// claim reads the flags, which have been registered in f.
	claim(ctx context.Context, a *app, f *pflag.FlagSet) (*claim, error)
}

// claim is a statement with the circuit that proves it.
type claim struct {
	circuit   filecoin.Circuit
	statement proof.Statement
	shape     filecoin.Shape
	// public is the number of public inputs of a partition.
	public int
	// about says in a few words what is claimed.
	about string
}

// verifiedJSON is what `cuzk verify porep --output json` and its siblings print of a proof, or a batch, that verifies.
type verifiedJSON struct {
	Verified     bool   `json:"verified"`
	Circuit      string `json:"circuit"`
	Parameters   string `json:"parameters"`
	Proofs       int    `json:"proofs"`
	Partitions   int    `json:"partitions"`
	PublicInputs int    `json:"publicInputs"`
	// PublishedKey says that the verifying key is that of Filecoin's trusted set-up.
	PublishedKey bool `json:"publishedVerifyingKey"`
}

// verifyFilecoinCommands are the subcommands of verify.
func (a *app) verifyFilecoinCommands() []*cobra.Command {
	return []*cobra.Command{
		a.verifyFilecoinCommand(filecoin.PoRep, "Verify a proof of replication", `Verify a proof of replication (the output of commit phase 2), all its partitions together.`,
			`  cuzk verify porep proof.bin --miner f01000 --sector-number 7 --registered-proof StackedDrg32GiBV1_1 \
    --ticket 0102… --seed 0304… --comm-d baga6ea4… --comm-r bagboea4…
  cuzk verify porep --batch claims.json --miner f01000 --registered-proof StackedDrg32GiBV1_1`, func() claimFlags { return &porepClaim{} }),
		a.verifyFilecoinCommand(filecoin.WindowPoSt, "Verify a window PoSt", `Verify a window PoSt about all sectors of a list, or one of its partitions.`,
			`  cuzk verify window-post proof.bin --registered-proof StackedDrgWindow32GiBV1_1 --randomness 0102… --sectors sectors.json
  cuzk verify window-post part.bin --registered-proof 13 --randomness 0102… --sectors sectors.json --partition-index 2`,
			func() claimFlags { return &postClaim{} }),
		a.verifyFilecoinCommand(filecoin.WinningPoSt, "Verify a winning PoSt", `Verify a winning PoSt about one sector.`,
			`  cuzk verify winning-post proof.bin --registered-proof StackedDrgWinning32GiBV1 --randomness 0102… --sectors sector.json`,
			func() claimFlags { return &postClaim{winning: true} }),
		a.verifyFilecoinCommand(filecoin.SnapDeals, "Verify the proof of a sector's update (SnapDeals)",
			`Verify the proof of a sector's update, all its partitions together; with --poseidon, of the variant whose data tree is hashed
with Poseidon.`,
			`  cuzk verify snap-deals proof.bin --registered-proof StackedDrg32GiBV1 \
    --comm-r-old bagboea4… --comm-r-new bagboea4… --comm-d-new baga6ea4…`, func() claimFlags { return &snapClaim{} }),
	}
}

// verifyFilecoinHelp is what all subcommands have in common.
const verifyFilecoinHelp = `

The public inputs are computed from the flags alone. The verifying key is the .vk file that belongs to the circuit, from
the folder of parameters, unless --verifying-key names another; every point of it is checked, and a warning tells if it is
not the published one.

--batch names a JSON list of many proofs of this circuit, which are verified together, much faster than one by one. Each is
an object with the name of its file as "proof", and with the flags that differ: {"proof": "7.bin", "sector-number": 7, …}.
Flags on the command line hold for all.

Commitments are given as 64 hex digits or as CIDs, other values as 64 hex digits.

The exit code is 0 only if the proof verifies; 5 if it does not, 3 if the proof is malformed, 4 if the verifying key is.`

func (a *app) verifyFilecoinCommand(c filecoin.Circuit, short, long, example string, newFlags func() claimFlags) *cobra.Command {
	v := &filecoinVerification{app: a, newFlags: newFlags}
	flags := newFlags()
	cmd := &cobra.Command{
		Use: c.String() + " PROOF", Short: short, Long: long + verifyFilecoinHelp, Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if v.batch != "" {
				return exactArgs()(cmd, args)
			}
			return exactArgs("PROOF")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, f := cmd.Context(), cmd.Flags()
			var claims []namedClaim
			var err error
			if v.batch != "" {
				claims, err = v.readBatch(ctx, f)
			} else {
				claims, err = v.readOne(ctx, flags, f, args[0])
			}
			if err != nil {
				return err
			}
			return v.run(ctx, claims)
		},
	}
	f := cmd.Flags()
	flags.register(f)
	v.params.register(f)
	f.StringVar(&v.vkPath, "verifying-key", "", "verifying key (.vk), instead of the one in the folder of parameters")
	f.StringVar(&v.batch, "batch", "", "JSON list of proofs to verify together, instead of PROOF")
	return cmd
}

// filecoinVerification verifies proofs of one circuit.
type filecoinVerification struct {
	app           *app
	newFlags      func() claimFlags
	params        paramsDir
	vkPath, batch string
}

// namedClaim is a claim with the file of its proof.
type namedClaim struct {
	*claim
	file string
}

func (v *filecoinVerification) readOne(ctx context.Context, flags claimFlags, f *pflag.FlagSet, file string) ([]namedClaim, error) {
	c, err := flags.claim(ctx, v.app, f)
	return []namedClaim{{c, file}}, err
}

// run verifies the claims, of which there is at least one, together.
func (v *filecoinVerification) run(ctx context.Context, claims []namedClaim) error {
	first := claims[0]
	verifier, published, err := v.params.verifierOf(ctx, first.shape, first.public, v.vkPath)
	if err != nil {
		return err
	}
	proofs := make([]proof.Claim, len(claims))
	partitions := 0
	for i, c := range claims {
		data, err := v.app.readDocument(ctx, c.file, failure.Input)
		if err != nil {
			return err
		}
		proofs[i] = proof.Claim{Statement: c.statement, Proof: data}
		partitions += c.statement.Partitions()
	}
	if err := proof.VerifyBatch(verifier, proofs); err != nil {
		var refused *proof.ClaimError
		if errors.As(err, &refused) {
			return failure.InFile(refused.Err, claims[refused.Claim].file)
		}
		return failure.InFile(err, first.file)
	}
	if v.app.flags.output == outputJSON {
		return v.app.printJSON(verifiedJSON{
			Verified: true, Circuit: first.circuit.String(), Parameters: first.shape.ParameterName(), Proofs: len(claims), Partitions: partitions,
			PublicInputs: partitions * first.public, PublishedKey: published,
		})
	}
	if !published {
		v.app.log.Warn("The verifying key is not the published one: the proof is worth as much as whoever made the key")
	}
	if v.batch != "" {
		return v.app.print("OK: all %s of %s verify (%s, %s of %d public inputs)\n", counted(len(claims), "proof"), v.batch, first.circuit,
			counted(partitions, "partition"), first.public)
	}
	return v.app.print("OK: %s proves %s (%s of %d public inputs)\n", first.file, first.about, counted(partitions, "partition"), first.public)
}

// readAll reads flags until one is wrong.
func readAll(reads ...func() error) error {
	for _, read := range reads {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// usage classes an error about what the flags say together.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return failure.New(failure.Usage, "%w", err)
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
