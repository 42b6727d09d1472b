package app

import (
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
	// claim reads the flags.
	claim(a *app, cmd *cobra.Command) (*claim, error)
}

// claim is a statement with the circuit that proves it.
type claim struct {
	statement proof.Statement
	shape     filecoin.Shape
	// public is the number of public inputs of a partition.
	public int
	// about says in a few words what is claimed.
	about string
}

// verifiedJSON is what `cuzk verify porep --output json` and its siblings print of a proof that verifies.
type verifiedJSON struct {
	Verified     bool   `json:"verified"`
	Circuit      string `json:"circuit"`
	Parameters   string `json:"parameters"`
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
    --ticket 0102… --seed 0304… --comm-d baga6ea4… --comm-r bagboea4…`, &porepClaim{}),
		a.verifyFilecoinCommand(filecoin.WindowPoSt, "Verify a window PoSt", `Verify a window PoSt about all sectors of a list, or one of its partitions.`,
			`  cuzk verify window-post proof.bin --registered-proof StackedDrgWindow32GiBV1_1 --randomness 0102… --sectors sectors.json
  cuzk verify window-post part.bin --registered-proof 13 --randomness 0102… --sectors sectors.json --partition-index 2`, &postClaim{}),
		a.verifyFilecoinCommand(filecoin.WinningPoSt, "Verify a winning PoSt", `Verify a winning PoSt about one sector.`,
			`  cuzk verify winning-post proof.bin --registered-proof StackedDrgWinning32GiBV1 --randomness 0102… --sectors sector.json`,
			&postClaim{winning: true}),
		a.verifyFilecoinCommand(filecoin.SnapDeals, "Verify the proof of a sector's update (SnapDeals)", `Verify the proof of a sector's update, all its partitions together.`,
			`  cuzk verify snap-deals proof.bin --registered-proof StackedDrg32GiBV1 \
    --comm-r-old bagboea4… --comm-r-new bagboea4… --comm-d-new baga6ea4…`, &snapClaim{}),
	}
}

// verifyFilecoinHelp is what all subcommands have in common.
const verifyFilecoinHelp = `

The public inputs are computed from the flags alone. The verifying key is the .vk file that belongs to the circuit, from
the folder of parameters, unless --verifying-key names another; every point of it is checked, and a warning tells if it is
not the published one.

Commitments are given as 64 hex digits or as CIDs, other values as 64 hex digits.

The exit code is 0 only if the proof verifies; 5 if it does not, 3 if the proof is malformed, 4 if the verifying key is.`

func (a *app) verifyFilecoinCommand(c filecoin.Circuit, short, long, example string, flags claimFlags) *cobra.Command {
	var params paramsDir
	var vkPath string
	cmd := &cobra.Command{
		Use: c.String() + " PROOF", Short: short, Long: long + verifyFilecoinHelp, Example: example,
		Args: exactArgs("PROOF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			claim, err := flags.claim(a, cmd)
			if err != nil {
				return err
			}
			v, published, err := params.verifierOf(cmd.Context(), claim.shape, claim.public, vkPath)
			if err != nil {
				return err
			}
			data, err := a.readDocument(cmd.Context(), args[0], failure.Input)
			if err != nil {
				return err
			}
			if err := proof.Verify(v, proof.Claim{Statement: claim.statement, Proof: data}); err != nil {
				return inFile(err, args[0])
			}
			n := claim.statement.Partitions()
			if a.flags.output == outputJSON {
				return a.printJSON(verifiedJSON{Verified: true, Circuit: c.String(), Parameters: claim.shape.ParameterName(), Partitions: n, PublicInputs: n * claim.public, PublishedKey: published})
			}
			if !published {
				a.log.Warn("The verifying key is not the published one: the proof is worth as much as whoever made the key")
			}
			return a.print("OK: %s proves %s (%s of %d public inputs)\n", args[0], claim.about, counted(n, "partition"), claim.public)
		},
	}
	f := cmd.Flags()
	flags.register(f)
	params.register(f)
	f.StringVar(&vkPath, "verifying-key", "", "verifying key (.vk), instead of the one in the folder of parameters")
	return cmd
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
