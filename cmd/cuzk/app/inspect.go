package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/inspect"
)

func (a *app) inspectCommand() *cobra.Command {
	var curveName string
	var check, again, skipDigests bool
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Tell what a file is: format, curve, sizes, public inputs, digests",
		Long: `Tell what a file is: proving keys, verifying keys, constraint systems, witnesses, proofs and public inputs of
circom/snarkjs and gnark; parameters, verifying keys, outputs of first commit phases and Curio's updates of Filecoin. All
are recognised by content.

Opening a proving key checks all that can be checked at the speed of memory: structure, sizes, indices, coordinates
below the prime. --check looks at every point too, that it is on its curve and in its subgroup, which takes longer than
a proof; a key that passed is remembered by its digest.`,
		Example: `  cuzk inspect circuit.zkey
  cuzk inspect --check circuit.zkey
  cuzk inspect --output json pk.bin`,
		Args: exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseCurve(curveName)
			if err != nil {
				return err
			}
			p := a.progress()
			defer p.clear()
			o := inspect.Options{Curve: id, Check: check, SkipDigests: skipDigests, Progress: p.work}
			if dir := a.privateFolder("checked"); dir != "" && !again {
				o.Memory = inspect.NewMemory(dir)
			}
			report, err := inspect.File(cmd.Context(), args[0], o)
			p.clear()
			if err != nil {
				return err
			}
			if a.flags.output == outputJSON {
				return a.printJSON(report)
			}
			return a.print("%s", reportText(report))
		},
	}
	f := cmd.Flags()
	f.StringVar(&curveName, "curve", "", "curve of a file that does not tell it (gnark's witnesses and constraint systems): BN254 or BLS12-381")
	f.BoolVar(&check, "check", false, "check every point of a key: on its curve, in its subgroup")
	f.BoolVar(&again, "check-again", false, "with --check: do not believe an earlier check of the same bytes")
	f.BoolVar(&skipDigests, "skip-digests", false, "do not read the whole file for its digests")
	return cmd
}

// parseCurve reads --curve, which may be empty.
func parseCurve(name string) (curve.ID, error) {
	if name == "" {
		return "", nil
	}
	id, err := curve.Parse(name)
	if err != nil {
		return "", failure.New(failure.Usage, "--curve: %w", err)
	}
	return id, nil
}

// reportText is a report for people.
func reportText(r *inspect.Report) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-18s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("file", "%s", r.File)
	line("format", "%s", r.Format)
	if r.Encoding != "" {
		line("encoding", "%s", r.Encoding)
	}
	if r.Curve != "" {
		line("curve", "%s", r.Curve)
	}
	line("size", "%d bytes (%s)", r.SizeBytes, formatBytes(r.SizeBytes))
	if c := r.Circuit; c != nil {
		for _, n := range []struct {
			name  string
			value *int
		}{
			{"constraints", c.Constraints}, {"wires", c.Wires}, {"public inputs", c.PublicInputs}, {"outputs", c.Outputs},
			{"private inputs", c.PrivateInputs}, {"domain size", c.DomainSize}, {"matrix entries", c.Entries}, {"commitments", c.Commitments},
		} {
			if n.value != nil {
				line(n.name, "%d", *n.value)
			}
		}
	}
	if f := r.Filecoin; f != nil {
		filecoinText(f, line)
	}
	if r.GnarkVersion != "" {
		line("written by", "gnark %s", r.GnarkVersion)
	}
	for _, h := range r.Hints {
		line("hint", "%s (%d)", h.Name, h.ID)
	}
	for _, s := range r.Sections {
		line("section "+s.Name, "%d points in %s", s.Points, s.Group)
	}
	if r.Elements != nil {
		line("elements", "%d", *r.Elements)
	}
	for i, v := range r.PublicInputs {
		if i == 16 {
			line("", "and %d more", len(r.PublicInputs)-i)
			break
		}
		line(fmt.Sprintf("public input %d", i), "%s", v)
	}
	for _, d := range []struct{ name, value string }{
		{"digest", r.Digests.SHA256}, {"", r.Digests.BLAKE2}, {"structure digest", r.Digests.Structure},
	} {
		if d.value != "" {
			line(d.name, "%s", d.value)
		}
	}
	for _, w := range r.Warnings {
		line("warning", "%s", w)
	}
	if c := r.Check; c != nil {
		switch {
		case c.Remembered:
			line("check", "all %d points are valid (checked before; --check-again to repeat)", c.Points)
		case c.Points > 0:
			line("check", "all %d points are valid", c.Points)
		default:
			line("check", "the whole file is valid")
		}
	}
	return b.String()
}

// filecoinText adds what a file of Filecoin's tells.
func filecoinText(f *inspect.Filecoin, line func(name, format string, args ...any)) {
	if f.Circuit != "" {
		line("circuit", "%s, sectors of %s", f.Circuit, filecoin.SectorSize(f.SectorSize))
	}
	if f.SectorNumber != nil {
		line("sector", "%d", *f.SectorNumber)
	}
	if f.Partitions > 0 {
		line("partitions", "%d of %d challenges", f.Partitions, f.Challenges)
	}
	for _, v := range []struct{ name, value string }{
		{"registered proof", f.RegisteredProof}, {"replica id", f.ReplicaID}, {"ticket", f.Ticket}, {"seed", f.Seed}, {"comm_d", f.CommD},
		{"comm_r", f.CommR}, {"old comm_r", f.CommROld}, {"new comm_r", f.CommRNew}, {"new comm_d", f.CommDNew},
	} {
		if v.value != "" {
			line(v.name, "%s", v.value)
		}
	}
	if f.Fabricated {
		line("fabricated", "no sector stands behind it")
	}
}
