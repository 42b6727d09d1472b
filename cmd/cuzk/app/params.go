package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

func init() {
	extraCommands = append(extraCommands, func(a *app) *cobra.Command { return a.paramsCommand() })
}

func (a *app) paramsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "params",
		Short:   "List, check and generate Filecoin's parameter files",
		Example: "  cuzk params list\n  cuzk params check",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.paramsListCommand(), a.paramsCheckCommand(), a.paramsDeriveNameCommand(), a.paramsGenerateCommand())
	return cmd
}

// listOfCircuits are the names that commands take.
func listOfCircuits() string {
	names := make([]string, len(filecoin.Circuits))
	for i, c := range filecoin.Circuits {
		names[i] = c.String()
	}
	return strings.Join(names, ", ")
}

// readCircuit reads a circuit and --sector-size.
func readCircuit(name, size string) (filecoin.Circuit, filecoin.SectorSize, error) {
	c, err := filecoin.ParseCircuit(name)
	if err != nil {
		return 0, 0, usage(err)
	}
	if size == "" {
		return 0, 0, failure.New(failure.Usage, "--sector-size is missing").WithFix("give one, for instance 32GiB")
	}
	s, err := filecoin.ParseSectorSize(size)
	if err != nil {
		return 0, 0, failure.New(failure.Usage, "--sector-size: %w", err)
	}
	return c, s, nil
}

// nameJSON is what `cuzk params derive-name --output json` prints.
type nameJSON struct {
	Circuit    string `json:"circuit"`
	SectorSize uint64 `json:"sectorSize"`
	Params     string `json:"params"`
	VK         string `json:"vk"`
	Meta       string `json:"meta"`
}

func (a *app) paramsDeriveNameCommand() *cobra.Command {
	var size string
	cmd := &cobra.Command{
		Use:   "derive-name CIRCUIT",
		Short: "Tell the names of a circuit's parameter files",
		Long: `Tell the names of a circuit's parameter files. They are derived from the circuit's shape; no file is read.

Circuits are ` + listOfCircuits() + `.`,
		Example: `  cuzk params derive-name porep --sector-size 32GiB
  cuzk params derive-name window-post --sector-size 64GiB --output json`,
		Args: exactArgs("CIRCUIT"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, s, err := readCircuit(args[0], size)
			if err != nil {
				return err
			}
			name := c.Shape(s).ParameterName()
			if a.flags.output == outputJSON {
				return a.printJSON(nameJSON{c.String(), uint64(s), name + extParams, name + extVK, name + extMeta})
			}
			return a.print("%s\n%s\n%s\n", name+extParams, name+extVK, name+extMeta)
		},
	}
	cmd.Flags().StringVar(&size, "sector-size", "", "sector size, for instance 32GiB")
	return cmd
}

// Extensions of the three files of a circuit.
const (
	extParams = ".params"
	extVK     = ".vk"
	extMeta   = ".meta"
)

// listedJSON is a line of `cuzk params list --output json`.
type listedJSON struct {
	Circuit    string `json:"circuit"`
	SectorSize uint64 `json:"sectorSize"`
	Name       string `json:"name"`
	SizeBytes  int64  `json:"sizeBytes"`
	Digest     string `json:"digest"`
	VKDigest   string `json:"vkDigest"`
	State      string `json:"state"`
}

// States of a parameter file in a folder, by name and size alone.
const (
	stateAbsent    = "absent"
	statePresent   = "present"
	stateWrongSize = "wrong size"
	stateNoVK      = "no .vk"
)

func (a *app) paramsListCommand() *cobra.Command {
	var dir paramsDir
	var present bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List Filecoin's published parameters, and which of them are in a folder",
		Long: `List the parameters of Filecoin's trusted set-up: circuit, sector size, size and digest of the .params file, and
whether it is in the folder of parameters, with the right size and a verifying key beside it. Nothing is read but the
folder; see cuzk params check for the content.`,
		Example: "  cuzk params list\n  cuzk params list --present --output json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var rows []listedJSON
			for _, p := range filecoin.PublishedParameters {
				state, err := stateOf(&dir, p)
				if err != nil {
					return err
				}
				if present && state == stateAbsent {
					continue
				}
				rows = append(rows, listedJSON{p.Circuit.String(), uint64(p.Sector), p.Circuit.Shape(p.Sector).ParameterName(),
					p.Lengths.ParamsBytes(), p.Params, p.VK, state})
			}
			if a.flags.output == outputJSON {
				return a.printJSON(rows)
			}
			return a.printed(a.listParams(rows))
		},
	}
	dir.register(cmd.Flags())
	cmd.Flags().BoolVar(&present, "present", false, "only those that are there")
	return cmd
}

func (a *app) listParams(rows []listedJSON) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CIRCUIT\tSECTOR\tSIZE\tSTATE\tNAME")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Circuit, filecoin.SectorSize(r.SectorSize), formatBytes(r.SizeBytes), r.State, r.Name)
	}
	return w.Flush()
}

// stateOf looks at the folder.
func stateOf(dir *paramsDir, p filecoin.Published) (string, error) {
	shape := p.Circuit.Shape(p.Sector)
	info, err := os.Stat(dir.file(shape, extParams))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stateAbsent, nil
	case err != nil:
		return "", failure.New(failure.Usage, "%w", err).In(filepath.Clean(dir.folder()))
	case info.Size() != p.Lengths.ParamsBytes():
		return stateWrongSize, nil
	}
	if info, err = os.Stat(dir.file(shape, extVK)); err != nil || info.Size() != p.Lengths.VKBytes() {
		return stateNoVK, nil
	}
	return statePresent, nil
}
