package app

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams/generate"
)

// generatedJSON is what `cuzk params generate --output json` prints.
type generatedJSON struct {
	Circuit    string   `json:"circuit"`
	SectorSize uint64   `json:"sectorSize"`
	Files      []string `json:"files"`
	SizeBytes  int64    `json:"sizeBytes"`
	// Insecure says that whoever knows the secret can prove anything.
	Insecure bool `json:"insecure"`
}

func (a *app) paramsGenerateCommand() *cobra.Command {
	var dir, size, secret string
	var force bool
	cmd := &cobra.Command{
		Use:   "generate CIRCUIT",
		Short: "Generate parameters for tests from a secret that is known",
		Long: `Generate the parameter files of a circuit (.params, .vk, .meta) from a secret that is derived from a text, for tests and
benchmarks: whoever knows the text can prove anything, so --insecure-known-secret has to be given. Equal texts make equal
files.

The files go into --params-dir under the names of the published ones, so give it a folder of its own; files that are
there already are only replaced with --force. Sectors of 2 KiB take about a minute and 2 GiB of memory on two cores
(PoRep); time and memory grow with the circuit.

Circuits are ` + listOfCircuits() + `.`,
		Example: `  cuzk params generate porep --sector-size 2KiB --params-dir test-params --insecure-known-secret mytest
  cuzk params generate window-post --sector-size 2KiB --params-dir test-params --insecure-known-secret mytest`,
		Args: exactArgs("CIRCUIT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, s, err := readCircuit(args[0], size)
			if err != nil {
				return err
			}
			switch {
			case dir == "":
				return failure.New(failure.Usage, "--params-dir is missing").WithFix("name a folder that holds parameters for tests alone")
			case secret == "":
				return failure.New(failure.Usage, "--insecure-known-secret is missing").
					WithFix("give a text, and use the parameters for nothing of value: whoever knows it can prove anything")
			}
			g := &paramsGeneration{app: a, shape: c.Shape(s), dir: dir, force: force, secret: secret}
			files, err := g.run(cmd.Context(), s)
			if err != nil {
				return interruptedBy(cmd.Context(), err)
			}
			info, err := os.Stat(files[0])
			if err != nil {
				return failure.New(failure.IO, "%w", err)
			}
			if a.flags.output == outputJSON {
				return a.printJSON(generatedJSON{c.String(), uint64(s), files, info.Size(), true})
			}
			return a.print("Wrote %s (%s), for tests only\n", files[0], formatBytes(info.Size()))
		},
	}
	f := cmd.Flags()
	f.StringVar(&size, "sector-size", "", "sector size, for instance 2KiB")
	f.StringVar(&dir, "params-dir", "", "folder to write to; it is made if it is not there")
	f.StringVar(&secret, "insecure-known-secret", "", "text from which the secret is derived")
	f.BoolVar(&force, "force", false, "replace files that are there")
	return cmd
}

// paramsGeneration makes the files of one circuit.
type paramsGeneration struct {
	app         *app
	shape       filecoin.Shape
	dir, secret string
	force       bool
}

// path is one of the files.
func (g *paramsGeneration) path(ext string) string {
	return filepath.Join(g.dir, g.shape.ParameterName()+ext)
}

func (g *paramsGeneration) run(ctx context.Context, size filecoin.SectorSize) ([]string, error) {
	files := []string{g.path(extParams), g.path(extVK), g.path(extMeta)}
	for _, path := range files {
		if _, err := os.Lstat(path); err == nil && !g.force {
			return nil, failure.New(failure.Usage, "is there already").In(path).WithFix("name another folder, or give --force")
		}
	}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return nil, failure.New(failure.Usage, "%w", err)
	}
	p := g.app.progress()
	defer p.clear()
	p.begin("circuit")
	matrices, err := synthesis.Record(g.shape).Matrices(ctx)
	if err != nil {
		return nil, failure.New(failure.Usage, "%w", err)
	}
	p.begin("polynomials")
	secret, err := generate.SecretFrom(g.secret)
	if err != nil {
		return nil, err
	}
	params, err := generate.New(ctx, matrices, secret)
	if err != nil {
		return nil, err
	}
	meta, err := json.Marshal(filparams.Meta{SectorSize: size})
	if err != nil {
		return nil, err
	}
	for i, write := range []func(*bufio.Writer) error{
		func(w *bufio.Writer) error {
			return params.WriteParams(ctx, w, p.work("points"))
		},
		func(w *bufio.Writer) error { return params.WriteVerifyingKey(ctx, w) },
		func(w *bufio.Writer) error { _, err := w.Write(meta); return err },
	} {
		if err := writeWhole(files[i], write); err != nil {
			return nil, failure.InFile(err, files[i])
		}
	}
	return files, nil
}

// writeWhole writes a file beside its place and puts it there when it is whole.
func writeWhole(path string, write func(*bufio.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".unfinished-*")
	if err != nil {
		return failure.New(failure.IO, "%w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		return err
	}
	for _, finish := range []func() error{w.Flush, func() error { return f.Chmod(0o644) }, f.Close, func() error { return os.Rename(f.Name(), path) }} {
		if err := finish(); err != nil {
			return failure.New(failure.IO, "%w", err)
		}
	}
	return nil
}
