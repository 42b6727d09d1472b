package app

import (
	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/outfile"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
)

func (a *app) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Write what one file holds in the form of another",
		Example: "  cuzk export verifying-key circuit.zkey vk.json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.exportVerifyingKeyCommand())
	return cmd
}

// Forms of a verifying key.
const (
	formatSnarkjs  = "snarkjs"
	formatGnark    = "gnark"
	formatGnarkRaw = "gnark-raw"
)

func (a *app) exportVerifyingKeyCommand() *cobra.Command {
	var format, curveName string
	cmd := &cobra.Command{
		Use:   "verifying-key KEY OUTPUT",
		Short: "Write the verifying key of a .zkey, or another form of a verifying key",
		Long: `Write the verifying key that a .zkey holds, as snarkjs's "zkey export verificationkey" does, or bring a verifying
key of snarkjs or gnark into another form. Every point is checked before anything is written.`,
		Example: `  cuzk export verifying-key circuit.zkey vk.json
  cuzk export verifying-key --format gnark circuit.zkey vk.bin`,
		Args: exactArgs("KEY", "OUTPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != formatSnarkjs && format != formatGnark && format != formatGnarkRaw {
				return failure.New(failure.Usage, "--format %s: use %s, %s or %s", format, formatSnarkjs, formatGnark, formatGnarkRaw)
			}
			id, err := parseCurve(curveName)
			if err != nil {
				return err
			}
			if err := outfile.Check(args[1:], args[0]); err != nil {
				return err
			}
			vk, err := a.readVerifyingKey(cmd.Context(), args[0], id)
			if err != nil {
				return err
			}
			if _, err := groth16.NewVerifier(vk, ""); err != nil { // checks every point
				return failure.InFile(err, args[0])
			}
			var data []byte
			if format == formatSnarkjs {
				data, err = snarkjs.FormatVerifyingKey(vk, false)
				data = append(data, '\n')
			} else {
				data, err = gnarkfmt.FormatVerifyingKey(vk, format == formatGnark)
			}
			if err != nil {
				return failure.InFile(err, args[0])
			}
			if err := outfile.Write([]outfile.File{{Path: args[1], Data: data}}); err != nil {
				return err
			}
			a.log.Info("Wrote verifying key", "file", args[1], "curve", string(vk.Curve), "publicInputs", vk.Public())
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", formatSnarkjs, "form to write: snarkjs, gnark, or gnark-raw (points not compressed)")
	cmd.Flags().StringVar(&curveName, "curve", "", "curve of a verifying key of gnark: BN254 or BLS12-381 (default: told from the points)")
	return cmd
}
