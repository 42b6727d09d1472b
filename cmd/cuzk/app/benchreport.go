package app

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// benchVersion is that of the JSON's form.
const benchVersion = 1

// benchReport is what `cuzk bench --output json` prints, and what --compare reads. All times are in milliseconds.
type benchReport struct {
	Version   int         `json:"version"`
	Cuzk      string      `json:"cuzk"`
	Circuit   benchTarget `json:"circuit"`
	Backend   string      `json:"backend"`
	Threads   int         `json:"threads"`
	PeakBytes int64       `json:"peakBytes"`
	// Load is reading the files and loading the key, once.
	Load float64 `json:"load"`
	// WarmupRuns come first and are in none of the statistics.
	WarmupRuns []runTimes                 `json:"warmupRuns,omitempty"`
	Runs       []runTimes                 `json:"runs"`
	Total      statistic                  `json:"total"`
	Stages     map[stage.Name]statistic   `json:"stages"`
	Kernels    map[stage.Kernel]statistic `json:"kernels,omitempty"`
	Compared   *comparison                `json:"compared,omitempty"`
}

// benchTarget is the circuit that is proved.
type benchTarget struct {
	ProvingKey   string          `json:"provingKey"`
	Format       pipeline.Format `json:"format"`
	Curve        curve.ID        `json:"curve"`
	PublicInputs int             `json:"publicInputs"`
	// Wires and Domain are the key's.
	Wires  int `json:"wires,omitempty"`
	Domain int `json:"domain,omitempty"`
}

// comparable refuses a report of another circuit. Reports of earlier versions do not tell the key's size.
func (t *benchTarget) comparable(then *benchTarget, file string) error {
	facts := []fact{{"format", then.Format, t.Format}, {"curve", then.Curve, t.Curve}}
	if then.Wires > 0 {
		facts = append(facts, fact{"number of wires", then.Wires, t.Wires}, fact{"domain", then.Domain, t.Domain})
	}
	return comparable(file, facts)
}

// sum makes the statistics of the runs.
func (r *benchReport) sum() {
	r.Stages, r.Kernels = map[stage.Name]statistic{}, map[stage.Kernel]statistic{}
	var totals []float64
	stages, kernels := map[stage.Name][]float64{}, map[stage.Kernel][]float64{}
	for _, run := range r.Runs {
		totals = append(totals, run.Total)
		for s, ms := range run.Stages {
			stages[s] = append(stages[s], ms)
		}
		for k, ms := range run.Kernels {
			kernels[k] = append(kernels[k], ms)
		}
	}
	r.Total = statisticOf(totals)
	for s, v := range stages {
		r.Stages[s] = statisticOf(v)
	}
	for k, v := range kernels {
		r.Kernels[k] = statisticOf(v)
	}
}

// comparison is the difference from an earlier report, by row of the table.
type comparison struct {
	File string `json:"file"`
	// Differs are further differences between the two, in words.
	Differs []string     `json:"differs,omitempty"`
	Rows    []difference `json:"rows"`
}

// difference is one row: medians, and the ratio now/then. Clear says that the two ranges do not overlap.
type difference struct {
	Name  string  `json:"name"`
	Then  float64 `json:"then"`
	Now   float64 `json:"now"`
	Ratio float64 `json:"ratio"`
	Clear bool    `json:"clear"`
}

// readBaseline reads the report of an earlier bench.
func readBaseline(path string) (*benchReport, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.New(failure.Usage, "--compare: %w", err)
	}
	var r benchReport
	if err := json.Unmarshal(data, &r); err != nil || r.Version != benchVersion || len(r.Runs) == 0 {
		return nil, failure.New(failure.Usage, "is not a report of cuzk bench").In(path).WithFix("write one with: cuzk bench --output json … > FILE")
	}
	return &r, nil
}

func (r *benchReport) compare(then *benchReport, file string) {
	c := &comparison{File: file, Differs: differing([]fact{{"backend", then.Backend, r.Backend}, {"number of threads", then.Threads, r.Threads}})}
	for _, row := range r.rows() {
		for _, old := range then.rows() {
			if old.name == row.name && old.s.Median > 0 {
				c.Rows = append(c.Rows, difference{
					Name: row.name, Then: old.s.Median, Now: row.s.Median, Ratio: row.s.Median / old.s.Median,
					Clear: row.s.Max < old.s.Min || row.s.Min > old.s.Max,
				})
			}
		}
	}
	r.Compared = c
}

// benchRow is one line of the table.
type benchRow struct {
	name string
	s    statistic
}

func (r *benchReport) rows() (rows []benchRow) {
	for _, s := range stageOrder {
		if v, ok := r.Stages[s]; ok {
			rows = append(rows, benchRow{string(s), v})
		}
		if s != stage.GPU {
			continue
		}
		for _, k := range kernelOrder {
			if v, ok := r.Kernels[k]; ok {
				rows = append(rows, benchRow{"  " + string(k), v})
			}
		}
	}
	return append(rows, benchRow{"total", r.Total})
}

// text is the report for people.
func (r *benchReport) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, %d public inputs\n", r.Circuit.ProvingKey, r.Circuit.Curve, r.Circuit.PublicInputs)
	fmt.Fprintf(&b, "backend %s, %d threads, peak memory %s\n", r.Backend, r.Threads, formatBytes(r.PeakBytes))
	fmt.Fprintf(&b, "load %.1f ms; %d warm-up runs not counted, then %d runs:\n\n", r.Load, len(r.WarmupRuns), len(r.Runs))
	fmt.Fprintf(&b, "%-16s %12s %12s %12s\n", "milliseconds", "median", "min", "max")
	for _, row := range r.rows() {
		fmt.Fprintf(&b, "%-16s %12.1f %12.1f %12.1f\n", row.name, row.s.Median, row.s.Min, row.s.Max)
	}
	if c := r.Compared; c != nil {
		fmt.Fprintf(&b, "\n%-16s %12s %12s %12s\n", "against "+c.File, "then", "now", "now/then")
		writeDiffers(&b, c.Differs)
		for _, d := range c.Rows {
			note := ""
			if !d.Clear {
				note = "  (the ranges overlap)"
			}
			fmt.Fprintf(&b, "%-16s %12.1f %12.1f %12.3f%s\n", d.Name, d.Then, d.Now, d.Ratio, note)
		}
	}
	return b.String()
}
