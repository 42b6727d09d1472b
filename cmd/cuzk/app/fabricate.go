package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/outfile"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

func init() {
	extraCommands = append(extraCommands, func(a *app) *cobra.Command { return a.fabricateCommand() })
}

func (a *app) fabricateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fabricate",
		Short: "Make valid inputs of Filecoin's circuits without sealing, for tests and benchmarks",
		Long: `Make valid inputs of Filecoin's circuits without sealing a sector, for tests and benchmarks, of any size in seconds.

What comes out satisfies circuit and verifier, but no sector stands behind it, and the chain would not accept it: there,
the seed of the challenges is drawn after the commitment is known. Outputs say what they are: the ticket of fabricated
sectors reads "fabricated by cuzk, not sealed..", and what a command prints has "fabricated": true.`,
		Example: "  cuzk fabricate porep --sector-size 32GiB c1.json\n  cuzk fabricate window-post --sector-size 2KiB --sectors 3 folder",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.fabricatePoRepCommand(), a.fabricatePoStCommand(filecoin.WindowPoSt), a.fabricatePoStCommand(filecoin.WinningPoSt),
		a.fabricateSnapCommand())
	return cmd
}

// fabricatedJSON is what `cuzk fabricate --output json` prints: the statement that the input is about.
type fabricatedJSON struct {
	Fabricated      bool   `json:"fabricated"`
	Circuit         string `json:"circuit"`
	RegisteredProof string `json:"registeredProof,omitempty"`
	// Variant is the flag that chose another circuit than the registered proof's.
	Variant    string       `json:"variant,omitempty"`
	Partitions int          `json:"partitions"`
	Files      []string     `json:"files"`
	ProverID   string       `json:"proverID,omitempty"`
	Sectors    []sectorJSON `json:"sectors,omitempty"`
	Ticket     string       `json:"ticket,omitempty"`
	Seed       string       `json:"seed,omitempty"`
	Randomness string       `json:"randomness,omitempty"`
	CommD      string       `json:"commD,omitempty"`
	CommR      string       `json:"commR,omitempty"`
	CommROld   string       `json:"commROld,omitempty"`
	CommRNew   string       `json:"commRNew,omitempty"`
	CommDNew   string       `json:"commDNew,omitempty"`
}

type sectorJSON struct {
	Number uint64 `json:"sectorNumber"`
	CommR  string `json:"commR,omitempty"`
}

// printFabricated prints the statement, for people as the flags that the other commands take.
func (a *app) printFabricated(r *fabricatedJSON) error {
	r.Fabricated = true
	if a.flags.output == outputJSON {
		return a.printJSON(r)
	}
	if err := a.print("Wrote %s: fabricated, %s, %s\n", r.Files[0], r.Circuit, counted(r.Partitions, "partition")); err != nil {
		return err
	}
	if r.Variant != "" {
		if err := a.print("  --%s\n", r.Variant); err != nil {
			return err
		}
	}
	for _, f := range []struct{ flag, value string }{
		{"registered-proof", r.RegisteredProof}, {"prover-id", r.ProverID}, {"sector-number", r.sector()}, {"ticket", r.Ticket}, {"seed", r.Seed}, {"randomness", r.Randomness},
		{"comm-d", r.CommD}, {"comm-r", r.CommR}, {"comm-r-old", r.CommROld}, {"comm-r-new", r.CommRNew}, {"comm-d-new", r.CommDNew},
	} {
		if f.value == "" {
			continue
		}
		if err := a.print("  --%s %s\n", f.flag, f.value); err != nil {
			return err
		}
	}
	return nil
}

// sector is the number of the sector of a proof of replication.
func (r *fabricatedJSON) sector() string {
	if r.ProverID == "" {
		return ""
	}
	return strconv.FormatUint(r.Sectors[0].Number, 10)
}

// fabricateFlags are those that all kinds have.
type fabricateFlags struct {
	size string
}

func (f *fabricateFlags) register(s *pflag.FlagSet) {
	s.StringVar(&f.size, "sector-size", "", "sector size, for instance 32GiB")
}

// published reads --sector-size, which must be one that registered proofs have, as its position among these.
func (f *fabricateFlags) published() (int, error) {
	if f.size == "" {
		return 0, failure.New(failure.Usage, "--sector-size is missing").WithFix("give one, for instance 32GiB")
	}
	size, err := filecoin.ParseSectorSize(f.size)
	if err != nil {
		return 0, failure.New(failure.Usage, "--sector-size: %w", err)
	}
	for i, s := range filecoin.PublishedSizes {
		if s == size {
			return i, nil
		}
	}
	return 0, failure.New(failure.Usage, "--sector-size %s: no registered proof is for sectors of this size", size)
}

// formats of a first commit phase's output by the names of the flag.
var commitFormats = map[string]vanilla.Encoding{
	"lotus-json": vanilla.CommitJSON, "api-json": vanilla.APIJSON, "api-bincode": vanilla.APIBincode, "bincode": vanilla.RawBincode,
}

func (a *app) fabricatePoRepCommand() *cobra.Command {
	var flags fabricateFlags
	var miner minerFlags
	var registered parsed[filecoin.SealProof]
	var seed parsed[filecoin.Node]
	var sector uint64
	var format string
	var test bool
	cmd := &cobra.Command{
		Use:   "porep C1",
		Short: "Make the output of a seal's first commit phase",
		Long: `Make the output of a seal's first commit phase, of a sector without data, for an interactive proof of replication. 32 GiB
take some seconds and 500 MB.`,
		Example: `  cuzk fabricate porep --sector-size 32GiB c1.json
  cuzk fabricate porep --sector-size 2KiB --miner f01000 --sector-number 7 --format api-bincode c1.bin`,
		Args: exactArgs("C1"),
		RunE: func(cmd *cobra.Command, args []string) error {
			encoding, ok := commitFormats[format]
			if !ok {
				return failure.New(failure.Usage, "--format %s: use lotus-json, api-json, api-bincode or bincode", format)
			}
			size, err := flags.published()
			if err != nil {
				return err
			}
			proof := filecoin.SealProof(len(filecoin.PublishedSizes) + size) // of version 1.1
			if err := readAll(miner.read,
				func() error { return registered.read("registered-proof", filecoin.ParseSealProof) },
				func() error { return seed.read("seed", filecoin.ParseNode) },
				func() error { return outfile.Check(args) },
			); err != nil {
				return err
			}
			if registered.given {
				proof = registered.value
			}
			if proof.Sector() != filecoin.PublishedSizes[size] {
				return failure.New(failure.Usage, "--registered-proof %s is not for sectors of %s", proof, filecoin.PublishedSizes[size])
			}
			prover, ok := miner.id()
			if !ok {
				prover = filecoin.ProverIDOf(defaultMiner)
			}
			s := &porep.Statement{Prover: prover, Sector: sector, Ticket: fabricate.Mark, Seed: orDefault(seed)}
			if err := s.Register(proof); err != nil {
				return usage(err)
			}
			if err := takeTestShape(s, test); err != nil {
				return err
			}
			c, err := fabricate.PoRep(cmd.Context(), s)
			if err != nil {
				return interruptedBy(cmd.Context(), usage(err))
			}
			c.Proof = &proof
			if err := outfile.Write([]outfile.File{{Path: args[0], Data: c.Format(encoding)}}); err != nil {
				return err
			}
			r := &fabricatedJSON{
				Circuit: filecoin.PoRep.String(), RegisteredProof: proof.String(), Partitions: s.Partitions(), Files: args,
				ProverID: prover.String(), Sectors: []sectorJSON{{Number: sector}}, Ticket: s.Ticket.String(), Seed: s.Seed.String(),
				CommD: s.CommD.String(), CommR: s.CommR.String(),
			}
			if test {
				r.Variant = testShapeFlag
			}
			return a.printFabricated(r)
		},
	}
	f := cmd.Flags()
	flags.register(f)
	miner.register(f)
	registered.register(f, "registered-proof", "registered seal proof (default: StackedDrg…V1_1)")
	seed.register(f, "seed", "seed of the challenges")
	f.Uint64Var(&sector, "sector-number", 1, "the sector's number")
	f.StringVar(&format, "format", "lotus-json", "form to write: lotus-json, api-json, api-bincode or bincode")
	registerTestShape(f, &test)
	return cmd
}

// defaultMiner proves where nobody else is named.
const defaultMiner = 1000

// orDefault is a node that is given, or a fixed one.
func orDefault(n parsed[filecoin.Node]) filecoin.Node {
	if n.given {
		return n.value
	}
	return filecoin.Node([]byte("a seed that nobody has drawn....")).Trim()
}

func (a *app) fabricatePoStCommand(circuit filecoin.Circuit) *cobra.Command {
	var flags fabricateFlags
	var registered parsed[filecoin.PoStProof]
	var randomness parsed[filecoin.Node]
	winning := circuit == filecoin.WinningPoSt
	count, name, kind := 1, "window PoSt", "StackedDrgWindow…V1_1"
	if winning {
		name, kind = "winning PoSt", "StackedDrgWinning…V1"
	}
	cmd := &cobra.Command{
		Use:   circuit.String() + " FOLDER",
		Short: "Make the vanilla proofs of a " + name,
		Long: "Make the vanilla proofs of a " + name + `: a file vanilla-NUMBER.bin for each sector, and the list of sectors with their
commitments in sectors.json.`,
		Example: "  cuzk fabricate " + circuit.String() + " --sector-size 32GiB folder",
		Args:    exactArgs("FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			size, err := flags.published()
			if err != nil {
				return err
			}
			proof := filecoin.PoStProof(size) // winning; window of version 1.2 comes last
			if !winning {
				proof += filecoin.PoStProof(2 * len(filecoin.PublishedSizes))
			}
			if err := readAll(
				func() error { return registered.read("registered-proof", filecoin.ParsePoStProof) },
				func() error { return randomness.read("randomness", filecoin.ParseNode) },
			); err != nil {
				return err
			}
			if registered.given {
				proof = registered.value
			}
			switch {
			case proof.Sector() != filecoin.PublishedSizes[size] || proof.Winning() != winning:
				return failure.New(failure.Usage, "--registered-proof %s is not that of a %s of %s", proof, name, filecoin.PublishedSizes[size])
			case count < 1 || count > maxFabricatedSectors:
				return failure.New(failure.Usage, "--sectors %d: must be 1 to %d", count, maxFabricatedSectors)
			}
			s := &post.Statement{Randomness: orDefault(randomness).Trim()}
			if err := s.Register(proof); err != nil {
				return usage(err)
			}
			for i := range count {
				s.Sectors = append(s.Sectors, post.Sector{ID: uint64(i + 1)})
			}
			files, err := writePoSt(cmd.Context(), s, args[0])
			if err != nil {
				return interruptedBy(cmd.Context(), err)
			}
			r := &fabricatedJSON{Circuit: circuit.String(), RegisteredProof: proof.String(), Partitions: s.Partitions(), Files: files, Randomness: s.Randomness.String()}
			for _, sector := range s.Sectors {
				r.Sectors = append(r.Sectors, sectorJSON{sector.ID, sector.CommR.String()})
			}
			return a.printFabricated(r)
		},
	}
	f := cmd.Flags()
	flags.register(f)
	registered.register(f, "registered-proof", "registered PoSt proof (default: "+kind+")")
	randomness.register(f, "randomness", "randomness of the challenges; the two top bits of its last byte are cleared, as on the chain")
	if !winning {
		f.IntVar(&count, "sectors", 1, fmt.Sprintf("number of sectors, at most %d; they are numbered from 1", maxFabricatedSectors))
	}
	return cmd
}

// maxFabricatedSectors is what a folder of vanilla proofs may hold: more would be refused as an input.
const maxFabricatedSectors = job.MostFiles

// writePoSt makes and writes the vanilla proofs, the list of sectors last.
func writePoSt(ctx context.Context, s *post.Statement, folder string) ([]string, error) {
	proofs, err := fabricate.PoSt(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, failure.New(failure.Usage, "%w", err)
	}
	list, err := post.FormatSectors(s.Sectors)
	if err != nil {
		return nil, err
	}
	files := []outfile.File{{Path: filepath.Join(folder, "sectors.json"), Data: list}}
	for _, p := range proofs {
		files = append(files, outfile.File{Path: filepath.Join(folder, fmt.Sprintf("vanilla-%d.bin", p.Sector)), Data: p.Bincode(s.Shape)})
	}
	paths := make([]string, len(files))
	for i := range files {
		paths[i] = files[i].Path
	}
	return paths, outfile.Write(files)
}

func (a *app) fabricateSnapCommand() *cobra.Command {
	var flags fabricateFlags
	var variant snapVariant
	cmd := &cobra.Command{
		Use:   filecoin.SnapDeals.String() + " FILE",
		Short: "Make the vanilla proofs of a sector's update (SnapDeals)",
		Long: `Make the vanilla proofs of a sector's update, as Curio's JSON of proof.Snap: all partitions, with the commitments. Old
replica and new data hold the same value everywhere. Of what Curio's JSON cannot tell (--poseidon, --test-shape), the
vanilla proofs alone are written, a JSON list of them in base64.`,
		Example: `  cuzk fabricate snap-deals --sector-size 32GiB snap.json
  cuzk fabricate snap-deals --sector-size 2KiB --poseidon vanilla.json`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := variant.check(); err != nil {
				return err
			}
			var proof filecoin.UpdateProof
			if !variant.testShape {
				size, err := flags.published()
				if err != nil {
					return err
				}
				proof = filecoin.UpdateProof(size)
			}
			if err := outfile.Check(args); err != nil {
				return err
			}
			shape, _ := variant.shape(proof)
			s := &snap.Statement{Shape: shape}
			partitions, err := fabricate.Snap(s)
			if err != nil {
				return err
			}
			data, err := formatSnap(s, proof, partitions)
			if err != nil {
				return err
			}
			if err := outfile.Write([]outfile.File{{Path: args[0], Data: data}}); err != nil {
				return err
			}
			r := &fabricatedJSON{Circuit: variant.circuit().String(), Variant: variant.flag(), Partitions: s.Partitions(), Files: args,
				CommROld: s.CommROld.String(), CommRNew: s.CommRNew.String(), CommDNew: s.CommDNew.String()}
			if !variant.testShape {
				r.RegisteredProof = proof.String()
			}
			return a.printFabricated(r)
		},
	}
	flags.register(cmd.Flags())
	variant.register(cmd.Flags())
	return cmd
}

// formatSnap writes Curio's JSON where that can tell the circuit, else a list of the vanilla proofs.
func formatSnap(s *snap.Statement, proof filecoin.UpdateProof, partitions []*vanilla.Snap) ([]byte, error) {
	if s.Shape == proof.Shape() {
		u := &vanilla.Update{Proof: proof, CommROld: s.CommROld, CommRNew: s.CommRNew, CommDNew: s.CommDNew, Partitions: partitions}
		return u.JSON(true)
	}
	list := make([][]byte, len(partitions))
	for k, p := range partitions {
		list[k] = p.Bincode(s.Shape)
	}
	return json.Marshal(list)
}
