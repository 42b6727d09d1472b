package app

import (
	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// verifyJSON is what `cuzk verify --output json` prints of a proof that verifies.
type verifyJSON struct {
	Verified     bool     `json:"verified"`
	Curve        curve.ID `json:"curve"`
	PublicInputs int      `json:"publicInputs"`
}

func (a *app) verifyCommand() *cobra.Command {
	var vkPath, publicPath, proofPath, curveName, hashName string
	positions := []named{{"VERIFYING_KEY", "verifying-key", &vkPath}, {"PUBLIC", "public", &publicPath}, {"PROOF", "proof", &proofPath}}
	cmd := &cobra.Command{
		Use:   "verify VERIFYING_KEY PUBLIC PROOF",
		Short: "Verify a proof",
		Long: `Verify a proof against a verifying key and public inputs. Filecoin's proofs have commands of their own below.

Files are recognised by content: the verifying key is snarkjs's JSON, gnark's binary, or a .zkey that holds it; public
inputs are snarkjs's list or gnark's public witness; the proof is snarkjs's JSON or gnark's binary.

Reading is strict: numbers are decimal, without sign or leading zero, and below their modulus (a public input plus r
would be another name of the same statement); points are on the curve, in the subgroup and not at infinity.

The exit code is 0 only if the proof verifies; 5 if it does not, 3 if proof or public inputs are malformed, 4 if the
verifying key is.`,
		Example: `  cuzk verify vk.json public.json proof.json
  cuzk verify vk.bin public.bin proof.bin
  cuzk verify --commitment-hash keccak256 vk.bin public.bin proof.bin`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := bind(cmd, args, positions); err != nil {
				return err
			}
			if err := required(positions); err != nil {
				return err
			}
			id, err := parseCurve(curveName)
			if err != nil {
				return err
			}
			hash, err := groth16.ParseCommitmentHash(hashName)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			vk, err := a.readVerifyingKey(ctx, vkPath, id)
			if err != nil {
				return err
			}
			v, err := groth16.NewVerifier(vk, hash)
			if err != nil {
				return failure.InFile(err, vkPath)
			}
			public, err := a.readPublic(ctx, publicPath, vk.Curve)
			if err != nil {
				return err
			}
			if len(public) != vk.Public() {
				return failure.New(failure.Verification, "there are %d public inputs, the verifying key wants %d", len(public), vk.Public()).In(publicPath)
			}
			proof, err := a.readProof(ctx, proofPath, vk.Curve)
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return failure.New(failure.Interrupted, "%w", ctx.Err())
			}
			if err := v.Verify(proof, public); err != nil {
				return failure.InFile(err, proofPath)
			}
			if a.flags.output == outputJSON {
				return a.printJSON(verifyJSON{Verified: true, Curve: vk.Curve, PublicInputs: len(public)})
			}
			return a.print("OK: %s proves its %d public inputs (%s)\n", proofPath, len(public), vk.Curve)
		},
	}
	f := cmd.Flags()
	f.StringVar(&vkPath, "verifying-key", "", "verifying key: vk.json, vk.bin of gnark, or a .zkey")
	f.StringVar(&publicPath, "public", "", "public inputs: public.json, or a public witness of gnark")
	f.StringVar(&proofPath, "proof", "", "proof: proof.json, or proof.bin of gnark")
	f.StringVar(&curveName, "curve", "", "refuse files on another curve: BN254 or BLS12-381")
	f.StringVar(&hashName, "commitment-hash", "", "hash of the commitments of a gnark circuit: sha256 (default), keccak256 or sha256-digest (Solidity verifiers)")
	cmd.AddCommand(a.verifyFilecoinCommands()...)
	return cmd
}
