package app

import (
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
)

func (a *app) benchCommand() *cobra.Command {
	var c circuitFlags
	var runs, warmup int
	var baseline string
	cmd := &cobra.Command{
		Use:   "bench PROVING_KEY WITNESS",
		Short: "Prove one input several times and tell the time of each stage",
		Long: `Prove one input several times in one process and tell median, least and most of each stage. Warm-up runs come first
and are not counted; the key stays loaded. Every proof is verified.

--output json prints every run; such a report can be compared with a later one of the same circuit. Where the backend or
the number of threads was another, the comparison says so.`,
		Example: `  cuzk bench circuit.zkey witness.wtns
  cuzk bench --runs 10 --output json circuit.zkey witness.wtns > before.json
  cuzk bench --runs 10 --compare before.json circuit.zkey witness.wtns`,
		RunE: func(cmd *cobra.Command, args []string) error {
			positions := []named{{"PROVING_KEY", "proving-key", &c.provingKey}, {"WITNESS", "witness", &c.witness}}
			if c.input != "" || c.solution != "" {
				positions = positions[:1]
			}
			if err := bind(cmd, args, positions); err != nil {
				return err
			}
			if err := required(positions[:1]); err != nil {
				return err
			}
			if err := c.check(); err != nil {
				return err
			}
			if runs < 1 || warmup < 0 {
				return failure.New(failure.Usage, "--runs must be at least 1 and --warmup at least 0")
			}
			var then *benchReport
			if baseline != "" {
				var err error
				if then, err = readBaseline(baseline); err != nil {
					return err
				}
			}
			ctx := cmd.Context()
			p := a.progress().unlogged()
			defer p.clear()
			start := time.Now()
			s, err := a.open(ctx, &c, p)
			if err != nil {
				return interruptedBy(ctx, err)
			}
			defer s.close()
			load := time.Since(start)
			target := benchTarget{ProvingKey: c.provingKey, Format: s.prover.Format(), Curve: s.prover.Curve()}
			target.Wires, target.Domain = s.prover.Size()
			if then != nil {
				if err := target.comparable(&then.Circuit, baseline); err != nil {
					return err
				}
			}
			result, err := s.prover.Prove(ctx, s.input, pipeline.Runs{Measured: runs, Warmup: warmup}, p.stages())
			p.clear()
			if err != nil {
				return interruptedBy(ctx, err)
			}
			report := &benchReport{
				Version: benchVersion, Cuzk: a.version().Version, Backend: result.Backend, Threads: runtime.GOMAXPROCS(0),
				PeakBytes: peakBytes(), Load: milliseconds(load),
				Circuit: target,
			}
			report.Circuit.PublicInputs = len(result.Public)
			for i, r := range result.Runs {
				if i < warmup {
					report.WarmupRuns = append(report.WarmupRuns, timesOf(r))
				} else {
					report.Runs = append(report.Runs, timesOf(r))
				}
			}
			report.sum()
			if then != nil {
				report.compare(then, baseline)
			}
			if a.flags.output == outputJSON {
				return a.printJSON(report)
			}
			return a.print("%s", report.text())
		},
	}
	f := cmd.Flags()
	c.register(f)
	f.IntVar(&runs, "runs", 5, "runs that count")
	f.IntVar(&warmup, "warmup", 1, "runs before them that do not")
	f.StringVar(&baseline, "compare", "", "report of an earlier bench (--output json) to compare with")
	cmd.AddCommand(a.benchSynthCommand())
	return cmd
}

// peakBytes is the most memory that this process, or a child of it that has ended, had resident.
func peakBytes() int64 {
	var peak int64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			peak = max(peak, u.Maxrss<<10)
		}
	}
	return peak
}
