package app

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/perf"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/structure"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/witness"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// synthBench measures synthesis alone.
type synthBench struct {
	app                      *app
	size                     string
	partitions               int
	runs, warmup             int
	full, check, counters    bool
	baseline                 string
	structure                *structure.Structure
	job                      *job.Job
	perf                     *perf.Counters
	display                  *display
	witnessBytes, valueBytes int64
}

func (a *app) benchSynthCommand() *cobra.Command {
	b := &synthBench{app: a}
	cmd := &cobra.Command{
		Use:   "synth CIRCUIT",
		Short: "Measure the synthesis of a Filecoin circuit: witness generation and evaluation apart",
		Long: `Measure the synthesis of a Filecoin circuit, of a fabricated input, without key or GPU: how long the witness of a partition
takes, and how long the evaluation of its constraints, in wall time and in core time, with the most memory that there was.
Warm-up runs come first and are not counted.

Evaluation is of a and b in their compressed form, as proofs take it; --full writes a, b and c out. --check evaluates
a·b = c in every constraint of every partition first, which is not counted.

--output json prints every measurement; --compare tells the difference from such a report, with the interval that holds it
with a confidence of 95 %; it must be of the same circuit, sector size and form. --counters reads the processor's counters
where the machine has them and lets them be read.

Circuits are ` + listOfCircuits() + `.`,
		Example: `  cuzk bench synth porep --sector-size 32GiB
  cuzk bench synth porep --sector-size 32GiB --partitions 10 --runs 1 --warmup 0 --check
  cuzk bench synth snap-deals --sector-size 2KiB --runs 10 --output json > before.json
  cuzk bench synth snap-deals --sector-size 2KiB --runs 10 --compare before.json`,
		Args: exactArgs("CIRCUIT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := b.run(cmd.Context(), args[0])
			if err != nil {
				return interruptedBy(cmd.Context(), err)
			}
			if a.flags.output == outputJSON {
				return a.printJSON(report)
			}
			return a.print("%s", report.text())
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.size, "sector-size", "", "size of a sector: 2KiB, 8MiB, 512MiB, 32GiB or 64GiB")
	f.IntVar(&b.partitions, "partitions", 1, "partitions a run, one after the other; 0 is all of a proof")
	f.IntVar(&b.runs, "runs", 5, "runs that count")
	f.IntVar(&b.warmup, "warmup", 1, "runs before them that do not")
	f.BoolVar(&b.full, "full", false, "write a, b and c out, 32 bytes a row each")
	f.BoolVar(&b.check, "check", false, "check every constraint of every partition first")
	f.BoolVar(&b.counters, "counters", false, "count instructions, cycles and cache misses (perf events)")
	f.StringVar(&b.baseline, "compare", "", "report of an earlier bench (--output json) to compare with")
	return cmd
}

func (b *synthBench) run(ctx context.Context, name string) (*synthReport, error) {
	if b.runs < 1 || b.warmup < 0 || b.partitions < 0 {
		return nil, failure.New(failure.Usage, "--runs must be at least 1, --warmup and --partitions at least 0")
	}
	c, sector, err := readCircuit(name, b.size)
	if err != nil {
		return nil, err
	}
	var then *synthReport
	if b.baseline != "" {
		if then, err = readSynthBaseline(b.baseline); err != nil {
			return nil, err
		}
		form := map[bool]string{false: "compressed", true: "written out"}
		if err := comparable(b.baseline, []fact{
			{"circuit", then.Circuit, c.String()}, {"sector size", filecoin.SectorSize(then.SectorSize), sector}, {"form", form[then.Full], form[b.full]},
		}); err != nil {
			return nil, err
		}
	}
	if b.counters {
		if b.perf, err = perf.Open(); err != nil {
			return nil, failure.New(failure.Usage, "--counters: %w", err).WithFix("leave it out, or allow it (kernel.perf_event_paranoid, CAP_PERFMON)")
		}
		defer b.perf.Close()
	}
	b.display = b.app.progress().unlogged()
	defer b.display.clear()
	report := &synthReport{
		Version: synthVersion, Cuzk: b.app.version().Version, Circuit: c.String(), SectorSize: uint64(sector), Threads: runtime.GOMAXPROCS(0), Full: b.full,
	}
	if err := b.prepare(ctx, c, sector, report); err != nil {
		return nil, err
	}
	if err := b.measure(ctx, report); err != nil {
		return nil, err
	}
	b.display.clear()
	report.sum()
	if then != nil {
		report.compare(then, b.baseline)
	}
	return report, nil
}

// measure does the runs.
func (b *synthBench) measure(ctx context.Context, report *synthReport) error {
	if b.check {
		b.display.begin("check")
		checked := progress.Count(int64(b.partitions), b.display.work("check"))
		for k := range b.partitions {
			if err := b.checkPartition(ctx, k); err != nil {
				return err
			}
			checked.Add(1)
		}
		report.Checked = int64(b.partitions) * int64(b.structure.Constraints)
	}
	debug.FreeOSMemory()
	resetPeak()
	b.display.begin("run")
	done := progress.Count(int64((b.warmup+b.runs)*b.partitions), b.display.work("run"))
	for i := range b.warmup + b.runs {
		for k := range b.partitions {
			m, err := b.partition(ctx, k)
			if err != nil {
				return err
			}
			if i < b.warmup {
				report.Warmup = append(report.Warmup, *m)
			} else {
				report.Measurements = append(report.Measurements, *m)
			}
			done.Add(1)
		}
	}
	report.PeakBytes = peakResident()
	report.WitnessBytes, report.EvaluationBytes = b.witnessBytes, b.valueBytes
	return nil
}

// partition measures the synthesis of one partition.
func (b *synthBench) partition(ctx context.Context, k int) (*synthMeasurement, error) {
	m := &synthMeasurement{Partition: k}
	var w *witness.Witness
	var err error
	if m.Witness, err = b.timed(func() (err error) { w, _, err = b.job.Assign(ctx, b.structure, k); return err }); err != nil {
		return nil, err
	}
	defer w.Free()
	b.witnessBytes = w.Bytes()
	var free func()
	m.Evaluate, err = b.timed(func() (err error) { free, err = b.evaluate(ctx, w); return err })
	if err != nil {
		return nil, err
	}
	free()
	return m, nil
}

// evaluate evaluates the constraints in one of the two forms.
func (b *synthBench) evaluate(ctx context.Context, w *witness.Witness) (free func(), err error) {
	if b.full {
		a, err := synthesis.Evaluate(ctx, b.structure, w)
		if err != nil {
			return nil, err
		}
		b.valueBytes = 3 * int64(b.structure.Constraints+b.structure.Inputs) * 32
		return a.Free, nil
	}
	c, err := synthesis.Compress(ctx, b.structure, w)
	if err != nil {
		return nil, err
	}
	b.valueBytes = synthesis.CompressedBytes(b.structure)
	return c.Free, nil
}

func (b *synthBench) checkPartition(ctx context.Context, k int) error {
	w, _, err := b.job.Assign(ctx, b.structure, k)
	if err != nil {
		return err
	}
	defer w.Free()
	if err := b.structure.Check(ctx, w); err != nil {
		return failure.New(failure.Internal, "partition %d: %w", k, err)
	}
	return nil
}

// timed measures a piece of work.
func (b *synthBench) timed(work func() error) (synthTimes, error) {
	var before perf.Counts
	var err error
	if b.perf != nil {
		if before, err = b.perf.Read(); err != nil {
			return synthTimes{}, fmt.Errorf("--counters: %w", err)
		}
	}
	start, cores := time.Now(), coreTime()
	if err := work(); err != nil {
		return synthTimes{}, err
	}
	t := synthTimes{Wall: milliseconds(time.Since(start)), Cores: milliseconds(coreTime() - cores)}
	if b.perf != nil {
		counts, err := b.perf.Since(before)
		if err != nil {
			return synthTimes{}, fmt.Errorf("--counters: %w", err)
		}
		t.Counters = &counts
	}
	return t, nil
}
