package app

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/outfile"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// jobFlags are what a kind of Filecoin proof is made from: its input, and as much of the statement as the input lacks.
type jobFlags interface {
	register(f *pflag.FlagSet)
	// job reads the flags and the input, and refuses what does not agree.
	job(ctx context.Context, a *app, cmd *cobra.Command, args []string) (*job.Job, error)
	// inputs are the files that are read.
	inputs(args []string) []string
}

// provedFilecoinJSON is what `cuzk prove porep --output json` and its siblings print.
type provedFilecoinJSON struct {
	Circuit    string `json:"circuit"`
	Parameters string `json:"parameters"`
	Backend    string `json:"backend"`
	Verified   bool   `json:"verified"`
	// Whole is false where only some of the statement's partitions were proved.
	Whole bool `json:"whole"`
	// Proof is base64 of what was written to ProofFile.
	Proof      string                `json:"proof"`
	ProofFile  string                `json:"proofFile"`
	Partitions []provedPartitionJSON `json:"partitions"`
}

type provedPartitionJSON struct {
	Partition    int      `json:"partition"`
	PublicInputs int      `json:"publicInputs"`
	Milliseconds runTimes `json:"milliseconds"`
}

// proveFilecoinHelp is what all subcommands have in common.
const proveFilecoinHelp = `

Parameters are looked for in --params-dir by the circuit's name. What flags say of the statement must agree with the input;
nothing is computed if it does not. Public inputs come from the statement, and each partition's proof is verified before
anything is written: 192 bytes for each partition, in their order.

Commitments are given as 64 hex digits or as CIDs, other values as 64 hex digits.`

// proveFilecoinCommands are the subcommands of prove.
func (a *app) proveFilecoinCommands() []*cobra.Command {
	return []*cobra.Command{
		a.proveFilecoinCommand(filecoin.PoRep, "C1", "Compute a proof of replication (commit phase 2)",
			`Compute a proof of replication from the output of a seal's first commit phase, in any of its encodings: the JSON of lotus
and Curio, the JSON or bincode of filecoin-proofs-api, or the bincode of filecoin-proofs, which does not tell the
registered proof. Non-interactive proofs are refused: they are aggregates.`,
			`  cuzk prove porep c1.json --miner f01000 --sector-number 7 --proof proof.bin
  cuzk prove porep c1.bin --prover-id e807… --sector-number 7 --registered-proof StackedDrg32GiBV1_1 --proof proof.bin`, &porepJob{}),
		a.proveFilecoinCommand(filecoin.WindowPoSt, "", "Compute a window PoSt, or one of its partitions",
			`Compute a window PoSt of all sectors of a list, or one of its partitions. Vanilla proofs, one a sector, are a folder of
files, or a file with one or with a JSON list of them in base64; those of other partitions may be missing.`,
			`  cuzk prove window-post --miner f01000 --randomness 0102… --sectors sectors.json --vanilla folder --proof proof.bin
  cuzk prove window-post --miner f01000 --randomness 0102… --sectors sectors.json --vanilla folder --partition-index 2 --proof part.bin`, &postJob{}),
		a.proveFilecoinCommand(filecoin.WinningPoSt, "", "Compute a winning PoSt",
			`Compute a winning PoSt of the one sector of a list, from its vanilla proof.`,
			`  cuzk prove winning-post --miner f01000 --randomness 0102… --sectors sector.json --vanilla vanilla.bin --proof proof.bin`,
			&postJob{postClaim: postClaim{winning: true}}),
		a.proveFilecoinCommand(filecoin.SnapDeals, "", "Compute the proof of a sector's update (SnapDeals)",
			`Compute the proof of a sector's update. Vanilla proofs, one a partition, are Curio's JSON of proof.Snap, which tells the
commitments; or a folder of files, or a file with one or with a JSON list of them in base64.`,
			`  cuzk prove snap-deals --vanilla snap.json --proof proof.bin
  cuzk prove snap-deals --vanilla folder --comm-r-old bagboea4… --comm-r-new bagboea4… --comm-d-new baga6ea4… --proof proof.bin`, &snapJob{}),
	}
}

// filecoinRun are the flags of how a proof is made.
type filecoinRun struct {
	dir                                paramsDir
	params, verifyingKey, backend, out string
	atOnce                             int
}

func (r *filecoinRun) register(f *pflag.FlagSet) {
	r.dir.register(f)
	f.StringVar(&r.params, "params", "", "parameters (.params), instead of those in the folder")
	f.StringVar(&r.verifyingKey, "verifying-key", "", "verifying key (.vk) that the parameters must agree with; they hold their own")
	f.StringVar(&r.backend, "backend", backendAuto, "where to compute: auto (GPUs if there are any that can be used, else the processor), cpu or cuda")
	f.IntVar(&r.atOnce, "partition-workers", 0, "partitions under way at a time (default: 1 on the processor, 2 on GPUs)")
	f.StringVar(&r.out, "proof", "", "file to write the proof to")
}

func (r *filecoinRun) check() error {
	switch r.backend {
	case backendAuto, backendCPU, backendCUDA:
	default:
		return failure.New(failure.Usage, "--backend %s: use auto, cpu or cuda", r.backend)
	}
	if r.atOnce < 0 {
		return failure.New(failure.Usage, "--partition-workers %d: must be positive, or 0 for the default", r.atOnce)
	}
	if r.out == "" {
		return failure.New(failure.Usage, "--proof is missing").WithFix("name the file to write the proof to")
	}
	return nil
}

func (a *app) proveFilecoinCommand(c filecoin.Circuit, argument, short, long, example string, flags jobFlags) *cobra.Command {
	var run filecoinRun
	var names []string
	use := c.String()
	if argument != "" {
		names, use = []string{argument}, use+" "+argument
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long + proveFilecoinHelp, Example: example, Args: exactArgs(names...),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := run.check(); err != nil {
				return err
			}
			if err := outfile.Check([]string{run.out}, flags.inputs(args)...); err != nil {
				return err
			}
			ctx := cmd.Context()
			j, err := flags.job(ctx, a, cmd, args)
			if err != nil {
				return interruptedBy(ctx, err)
			}
			partitions, err := partitionFlag(cmd, j)
			if err != nil {
				return err
			}
			made, err := a.proveFilecoin(ctx, j, partitions, &run)
			if err != nil {
				return interruptedBy(ctx, err)
			}
			return a.writeFilecoinProof(j, made, run.out)
		},
	}
	f := cmd.Flags()
	flags.register(f)
	run.register(f)
	if f.Lookup(partitionIndex) == nil && c != filecoin.WinningPoSt {
		f.Int(partitionIndex, -1, "")
	}
	if p := f.Lookup(partitionIndex); p != nil {
		p.Usage = "prove this partition alone, counted from 0"
	}
	return cmd
}

// partitionIndex is the flag that chooses a partition.
const partitionIndex = "partition-index"

// partitionFlag are the partitions to be proved: nil for all.
func partitionFlag(cmd *cobra.Command, j *job.Job) ([]int, error) {
	f := cmd.Flags()
	if !f.Changed(partitionIndex) {
		if n := j.Statement.Partitions(); len(j.Partitions) != n {
			return nil, failure.New(failure.Input, "the vanilla proofs are those of partitions %v, the proof has %d", j.Partitions, n).
				WithFix("hand in the others too, or choose one partition by --%s", partitionIndex)
		}
		return nil, nil
	}
	k, err := f.GetInt(partitionIndex)
	if err != nil {
		return nil, err
	}
	if n := j.Statement.Partitions(); k < 0 || k >= n {
		return nil, failure.New(failure.Usage, "--%s %d: there are %d partitions, numbered from 0", partitionIndex, k, n)
	}
	return []int{k}, nil
}

// proveFilecoin loads the parameters and proves.
func (a *app) proveFilecoin(ctx context.Context, j *job.Job, partitions []int, run *filecoinRun) (*pipeline.FilecoinProof, error) {
	files, closeFiles, err := run.files(j.Shape)
	if err != nil {
		return nil, err
	}
	defer closeFiles()
	backend, err := a.backendFor(run.backend)
	if err != nil {
		return nil, err
	}
	defer func() { _ = backend.Close() }()
	p := a.progress()
	defer p.clear()
	config := pipeline.Config{Backend: backend, CacheFolder: a.privateFolder(constraintsFolder), Log: a.log}
	f, err := pipeline.OpenFilecoin(ctx, files, j.Shape, config, p.stages())
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Prove(ctx, j, pipeline.FilecoinOptions{
		Partitions: partitions, AtOnce: run.atOnce,
		Observer: func(k int) stage.Observer { return p.of(fmt.Sprintf("partition %d", k)) },
	})
}

// constraintsFolder is the folder of the cache that keeps constraint systems.
const constraintsFolder = "constraints"

// files opens the parameters of a shape.
func (r *filecoinRun) files(s filecoin.Shape) (_ pipeline.Files, closeFiles func(), err error) {
	path := r.params
	if path == "" {
		path = r.dir.file(s, ".params")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return pipeline.Files{}, nil, failure.New(failure.Key, "the parameters of this circuit are not there").In(path).
				WithFix("fetch them, name their folder by --params-dir, or for tests make some by `cuzk params generate`")
		}
	}
	var files pipeline.Files
	closeFiles = func() {
		_ = files.ProvingKey.Close()
		_ = files.VerifyingKey.Close()
	}
	if files.ProvingKey, err = pipeline.OpenFile(path, failure.Usage); err != nil {
		return files, nil, err
	}
	if r.verifyingKey != "" {
		if files.VerifyingKey, err = pipeline.OpenFile(r.verifyingKey, failure.Usage); err != nil {
			closeFiles()
			return files, nil, err
		}
	}
	return files, closeFiles, nil
}

// writeFilecoinProof writes the proof and prints the result.
func (a *app) writeFilecoinProof(j *job.Job, made *pipeline.FilecoinProof, path string) error {
	if interrupted.Load() != 0 {
		return failure.New(failure.Interrupted, "stopped before the proof was written")
	}
	if err := outfile.Write([]outfile.File{{Path: path, Data: made.Proof}}); err != nil {
		return err
	}
	out := provedFilecoinJSON{
		Circuit: j.Circuit.String(), Parameters: j.Shape.ParameterName(), Verified: true, Whole: made.Whole,
		Proof: base64.StdEncoding.EncodeToString(made.Proof), ProofFile: path,
	}
	for _, p := range made.Partitions {
		out.Backend = p.Backend
		out.Partitions = append(out.Partitions, provedPartitionJSON{p.Partition, len(p.Public), timesOf(p.Runs[len(p.Runs)-1])})
	}
	if a.flags.output == outputJSON {
		return a.printJSON(out)
	}
	what := "the proof"
	if !made.Whole {
		what = "a part of the proof"
	}
	a.log.Info("Wrote "+what, "file", path, "circuit", out.Circuit, "partitions", len(out.Partitions), "bytes", len(made.Proof), "backend", out.Backend)
	return nil
}
