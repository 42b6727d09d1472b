package app

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/outfile"
	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
)

// proveJSON is what `cuzk prove --output json` prints.
type proveJSON struct {
	Curve   curve.ID `json:"curve"`
	Backend string   `json:"backend"`
	// Verified is false only for a gnark circuit without a verifying key.
	Verified bool `json:"verified"`
	// Proof is snarkjs's document, or base64 of gnark's binary.
	Proof        json.RawMessage `json:"proof"`
	PublicInputs []string        `json:"publicInputs"`
	ProofFile    string          `json:"proofFile"`
	PublicFile   string          `json:"publicFile"`
	Milliseconds runTimes        `json:"milliseconds"`
	// Refusals counts proofs that did not verify and were computed again, WithdrawnDevices are the GPUs found to be at fault.
	Refusals         int               `json:"refusals,omitempty"`
	WithdrawnDevices []withdrawnDevice `json:"withdrawnDevices,omitempty"`
}

type withdrawnDevice struct {
	UUID   string `json:"uuid"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func (a *app) proveCommand() *cobra.Command {
	var c circuitFlags
	var proofPath, publicPath, proofFormat string
	cmd := &cobra.Command{
		Use:   "prove PROVING_KEY WITNESS PROOF PUBLIC",
		Short: "Compute a proof, verify it and write it",
		Long: `Compute a proof from a proving key and a witness, verify it, and write the proof and its public inputs. Filecoin's proofs
have commands of their own below.

For circom: a .zkey with a .wtns, or with the circuit's .wasm and an input.json. With the .r1cs as --constraint-system,
a witness that does not satisfy the circuit is refused by the number of the constraint. Proof and public inputs are
written as snarkjs writes them.

For gnark: a proving key (any of gnark's encodings), the constraint system and the witness. gnark's proving key does
not hold the verifying key: give it as --verifying-key, or the proof is written without having been verified. The proof
is written in gnark's compressed binary form, public inputs as a public witness, or as a JSON list if the file is named
.json.

Both files are put in place together once the proof has verified; on any error what was there before stays. A file may be
named by a URI (https, s3, gs, azblob); it is fetched into the cache folder, and a broken download goes on where it
stood.`,
		Example: `  cuzk prove circuit.zkey witness.wtns proof.json public.json

  cuzk prove --proving-key circuit.zkey --wasm circuit.wasm --input input.json --proof proof.json --public public.json

  cuzk prove --proving-key pk.bin --constraint-system ccs.bin --witness witness.bin --verifying-key vk.bin \
    --proof proof.bin --public public.bin`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := bindProve(cmd, args, &c, &proofPath, &publicPath); err != nil {
				return err
			}
			if err := c.check(); err != nil {
				return err
			}
			form, err := parseProofFormat(proofFormat)
			if err != nil {
				return err
			}
			var inputs []string
			for _, path := range c.files() {
				inputs = append(inputs, path)
			}
			if err := outfile.Check([]string{proofPath, publicPath}, inputs...); err != nil {
				return err
			}
			result, err := a.prove(cmd.Context(), &c)
			if err != nil {
				return err
			}
			return a.writeProof(result, form, proofPath, publicPath)
		},
	}
	f := cmd.Flags()
	c.register(f)
	f.StringVar(&proofPath, "proof", "", "file to write the proof to")
	f.StringVar(&publicPath, "public", "", "file to write the public inputs to")
	f.StringVar(&proofFormat, "proof-format", formatAuto, "form of the proof: snarkjs, gnark, gnark-raw (points not compressed), or auto (that of the key)")
	cmd.AddCommand(a.proveFilecoinCommands()...)
	return cmd
}

// formatAuto is the form of the key.
const formatAuto = "auto"

func parseProofFormat(s string) (string, error) {
	switch s {
	case formatAuto, formatSnarkjs, formatGnark, formatGnarkRaw:
		return s, nil
	}
	return "", failure.New(failure.Usage, "--proof-format %s: use auto, snarkjs, gnark or gnark-raw", s)
}

// prove runs the pipeline once.
func (a *app) prove(ctx context.Context, c *circuitFlags) (*proved, error) {
	p := a.progress()
	defer p.clear()
	s, err := a.open(ctx, c, p)
	if err != nil {
		return nil, interruptedBy(ctx, err)
	}
	defer s.close()
	result, err := s.prover.Prove(ctx, s.input, pipeline.Runs{}, p.stages())
	if err != nil {
		return nil, interruptedBy(ctx, err)
	}
	return &proved{Result: result, format: s.prover.Format()}, nil
}

// proved is a proof with the format of its key.
type proved struct {
	*pipeline.Result
	format pipeline.Format
}

// interruptedBy makes an error that came of a signal one of its class.
func interruptedBy(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return failure.New(failure.Interrupted, "%w", err)
	}
	return err
}

// writeProof writes both files, or neither, and prints the result if asked to.
func (a *app) writeProof(r *proved, form, proofPath, publicPath string) error {
	if interrupted.Load() != 0 {
		return failure.New(failure.Interrupted, "stopped before the proof was written")
	}
	if form == formatAuto {
		form = formatSnarkjs
		if r.format == pipeline.Gnark {
			form = formatGnark
		}
	}
	var proof, public []byte
	var err error
	if form == formatSnarkjs {
		proof, err = snarkjs.FormatProof(r.Proof, false)
	} else {
		proof = gnarkfmt.FormatProof(r.Proof, form == formatGnark)
	}
	if err != nil {
		return err
	}
	if form == formatSnarkjs || strings.EqualFold(filepath.Ext(publicPath), ".json") {
		public, err = snarkjs.FormatPublic(r.Public, false)
		if err != nil {
			return err
		}
	} else {
		public = formatPublicWitness(r.Public)
	}
	if err := outfile.Write([]outfile.File{{Path: proofPath, Data: proof}, {Path: publicPath, Data: public}}); err != nil {
		return err
	}
	a.log.Info("Wrote proof", "proof", proofPath, "public", publicPath, "verified", r.Verified, "backend", r.Backend,
		"milliseconds", r.Runs[len(r.Runs)-1].Total.Milliseconds())
	if a.flags.output != outputJSON {
		return nil
	}
	last := r.Runs[len(r.Runs)-1]
	out := proveJSON{
		Curve: r.Proof.Curve, Backend: r.Backend, Verified: r.Verified, PublicInputs: snarkjs.Decimals(r.Public),
		ProofFile: proofPath, PublicFile: publicPath, Milliseconds: timesOf(last), Refusals: last.Refusals,
	}
	for _, w := range r.Withdrawn {
		out.WithdrawnDevices = append(out.WithdrawnDevices, withdrawnDevice{w.Device, w.Name, w.Reason.Error()})
	}
	if form == formatSnarkjs {
		if out.Proof, err = snarkjs.FormatProof(r.Proof, true); err != nil {
			return err
		}
	} else if out.Proof, err = json.Marshal(base64.StdEncoding.EncodeToString(proof)); err != nil {
		return err
	}
	return a.printJSON(out)
}
