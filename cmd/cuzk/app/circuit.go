package app

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
)

func init() {
	extraCommands = append(extraCommands, func(a *app) *cobra.Command { return a.circuitCommand() })
}

func (a *app) circuitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "circuit",
		Short:   "Look at Filecoin's circuits",
		Example: "  cuzk circuit info porep --sector-size 32GiB\n  cuzk circuit digest window-post --sector-size 2KiB",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.circuitInfoCommand(), a.circuitDigestCommand())
	return cmd
}

// circuitJSON is what `cuzk circuit info --output json` prints. Inputs count the one. Constraints are the circuit's own;
// rows are those with the one that bellman adds for each input.
type circuitJSON struct {
	Circuit     string       `json:"circuit"`
	SectorSize  uint64       `json:"sectorSize"`
	Partitions  int          `json:"partitions,omitempty"`
	Inputs      int          `json:"inputs"`
	Aux         int          `json:"aux"`
	Bits        int          `json:"bits"`
	Constraints int          `json:"constraints"`
	Rows        int          `json:"rows"`
	Entries     matricesJSON `json:"entries"`
	Density     densityJSON  `json:"density"`
	Blocks      []blockJSON  `json:"blocks"`
	Domain      int          `json:"domain"`
	// Digest is known of registered proofs' circuits; `cuzk circuit digest` computes any.
	Digest     string         `json:"digest,omitempty"`
	Parameters parametersJSON `json:"parameters"`
	Memory     memoryJSON     `json:"memory"`
}

// matricesJSON are the entries that are not zero, without those of the rows for inputs.
type matricesJSON struct {
	A int `json:"a"`
	B int `json:"b"`
	C int `json:"c"`
}

// densityJSON counts the variables, inputs aside, that occur in A and in B.
type densityJSON struct {
	A int `json:"a"`
	B int `json:"b"`
}

// blockJSON is a part of the circuit: so many copies of a block.
type blockJSON struct {
	Copies      int `json:"copies"`
	Constraints int `json:"constraints"`
	Aux         int `json:"aux"`
}

type parametersJSON struct {
	Name      string `json:"name"`
	Published bool   `json:"published"`
	Bytes     int64  `json:"bytes"`
	VKBytes   int64  `json:"vkBytes"`
}

// memoryJSON is the memory of one partition's proof, in bytes: the constraint system, a witness, a and b in their
// compressed form, and all of a proof on the processor with the parameters in memory.
type memoryJSON struct {
	Structure   int64 `json:"structure"`
	Witness     int64 `json:"witness"`
	Evaluations int64 `json:"evaluations"`
	Processor   int64 `json:"processor"`
}

func (a *app) circuitInfoCommand() *cobra.Command {
	var size string
	cmd := &cobra.Command{
		Use:   "info CIRCUIT",
		Short: "Tell a circuit's size: variables, constraints, entries, densities, domain, parameters, memory",
		Long: `Tell a circuit's size: inputs (with the one), variables, constraints, entries of the matrices, densities, domain, the name
and size of its parameters, and the memory that a proof of one partition takes. Nothing is read but the constraint system,
which is recorded if it is not in the cache folder; large circuits are composed of copies of blocks.

Circuits are ` + listOfCircuits() + `.`,
		Example: "  cuzk circuit info porep --sector-size 32GiB\n  cuzk circuit info window-post --sector-size 64GiB --output json",
		Args:    exactArgs("CIRCUIT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, sector, err := readCircuit(args[0], size)
			if err != nil {
				return err
			}
			p := a.progress()
			defer p.clear()
			p.begin("constraints")
			s, err := a.constraints(cmd.Context(), c.Shape(sector))
			p.clear()
			if err != nil {
				return err
			}
			info := infoOf(c, sector, s)
			if a.flags.output == outputJSON {
				return a.printJSON(info)
			}
			return a.print("%s", info.text())
		},
	}
	cmd.Flags().StringVar(&size, "sector-size", "", "size of a sector: 2KiB, 8MiB, 512MiB, 32GiB or 64GiB")
	return cmd
}

// constraints is the constraint system of a shape, from the cache folder if it is there.
func (a *app) constraints(ctx context.Context, shape filecoin.Shape) (*structure.Structure, error) {
	return synthesis.Load(ctx, a.privateFolder(constraintsFolder), shape, a.log)
}

func infoOf(c filecoin.Circuit, sector filecoin.SectorSize, s *structure.Structure) *circuitJSON {
	shape := c.Shape(sector)
	entries := s.Entries()
	rows := s.Constraints + s.Inputs
	domain := 1 << bits.Len(uint(rows-1))
	info := &circuitJSON{
		Circuit: c.String(), SectorSize: uint64(sector), Partitions: partitionsOf(shape),
		Inputs: s.Inputs, Aux: s.Aux, Bits: s.Aux, Constraints: s.Constraints, Rows: rows,
		Entries: matricesJSON{entries[0], entries[1], entries[2]},
		Density: densityJSON{s.DensityA().Count(), s.DensityB().Count()},
		Domain:  domain,
	}
	for i := range s.Sections {
		section := &s.Sections[i]
		info.Bits -= section.Copies * len(section.Template.Full)
		if section.Template.Aux > 0 {
			info.Blocks = append(info.Blocks, blockJSON{section.Copies, section.Template.Rows, section.Template.Aux})
		}
	}
	lengths := filecoin.Lengths{IC: s.Inputs, H: domain - 1, L: s.Aux, A: s.Inputs + info.Density.A, B: 1 + info.Density.B}
	if digest, known := synthesis.Digest(shape); known {
		info.Digest = hex.EncodeToString(digest[:])
	}
	_, published := c.Published(sector)
	info.Parameters = parametersJSON{shape.ParameterName(), published, lengths.ParamsBytes(), lengths.VKBytes()}
	info.Memory = memoryJSON{Structure: s.Bytes(), Witness: synthesis.WitnessBytes(s), Evaluations: synthesis.CompressedBytes(s)}
	key, proof := cpu.New(cpu.Config{}).KeyDemand(filparams.ShapeOf(lengths))
	info.Memory.Processor = info.Memory.Structure + info.Memory.Witness + info.Memory.Evaluations + key.HostBytes + proof.HostBytes
	return info
}

// partitionsOf is the number of partitions of a proof, 0 where it depends on the number of sectors.
func partitionsOf(shape filecoin.Shape) int {
	switch s := shape.(type) {
	case filecoin.PoRepShape:
		return s.Partitions
	case filecoin.SnapShape:
		return s.Partitions
	}
	return 0
}

func (j *circuitJSON) text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("circuit", "%s of %s sectors", j.Circuit, filecoin.SectorSize(j.SectorSize))
	if j.Partitions > 0 {
		line("partitions", "%d", j.Partitions)
	}
	line("inputs", "%d with the one", j.Inputs)
	line("aux variables", "%d, of them %d bits (%.1f %%)", j.Aux, j.Bits, 100*float64(j.Bits)/float64(max(1, j.Aux)))
	line("constraints", "%d, with the rows for inputs %d", j.Constraints, j.Rows)
	line("entries", "A %d, B %d, C %d", j.Entries.A, j.Entries.B, j.Entries.C)
	line("density", "A %d, B %d of the aux variables", j.Density.A, j.Density.B)
	for _, block := range j.Blocks {
		line("block", "%d × %d constraints, %d aux variables", block.Copies, block.Constraints, block.Aux)
	}
	line("domain", "2^%d = %d", bits.Len(uint(j.Domain))-1, j.Domain)
	if j.Digest != "" {
		line("digest", "%s", j.Digest)
	}
	published := "published"
	if !j.Parameters.Published {
		published = "not published"
	}
	line("parameters", "%s (%s)", j.Parameters.Name, published)
	line(".params", "%d bytes (%s)", j.Parameters.Bytes, formatBytes(j.Parameters.Bytes))
	line(".vk", "%d bytes", j.Parameters.VKBytes)
	line("memory", "constraints %s, witness %s, evaluations %s; a proof on the processor about %s", formatBytes(j.Memory.Structure),
		formatBytes(j.Memory.Witness), formatBytes(j.Memory.Evaluations), formatBytes(j.Memory.Processor))
	return b.String()
}

// circuitDigestJSON is what `cuzk circuit digest --output json` prints.
type circuitDigestJSON struct {
	Circuit    string `json:"circuit"`
	SectorSize uint64 `json:"sectorSize"`
	Digest     string `json:"digest"`
}

func (a *app) circuitDigestCommand() *cobra.Command {
	var size string
	cmd := &cobra.Command{
		Use:   "digest CIRCUIT",
		Short: "Compute the digest of a circuit's constraint system",
		Long: `Compute the digest of a circuit's constraint system: the BLAKE2s-256 of all its constraints, as bellpepper's
TestConstraintSystem computes it. Two implementations of a circuit with equal digests have equal constraints, in equal
order. It is one hash over everything: minutes for a 32 GiB circuit, whatever the number of cores.

Circuits are ` + listOfCircuits() + `.`,
		Example: "  cuzk circuit digest porep --sector-size 32GiB\n  cuzk circuit digest snap-deals --sector-size 2KiB --output json",
		Args:    exactArgs("CIRCUIT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, sector, err := readCircuit(args[0], size)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			p := a.progress()
			defer p.clear()
			p.begin("constraints")
			s := synthesis.Record(c.Shape(sector)) // anew: the digest is to tell what the circuit is, not what a file says
			hashed := p.work("digest")
			digest, err := s.Digest(ctx, func(done int) { hashed(int64(done), int64(s.Constraints)) })
			p.clear()
			if err != nil {
				return interruptedBy(ctx, err)
			}
			out := circuitDigestJSON{c.String(), uint64(sector), hex.EncodeToString(digest[:])}
			if a.flags.output == outputJSON {
				return a.printJSON(out)
			}
			return a.print("%s  %s %s\n", out.Digest, out.Circuit, sector)
		},
	}
	cmd.Flags().StringVar(&size, "sector-size", "", "size of a sector: 2KiB, 8MiB, 512MiB, 32GiB or 64GiB")
	return cmd
}
