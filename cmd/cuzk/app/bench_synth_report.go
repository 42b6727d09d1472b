package app

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/perf"
	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/welch"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// synthVersion is that of the JSON's form.
const synthVersion = 1

// synthReport is what `cuzk bench synth --output json` prints, and what --compare reads. All times are in milliseconds.
type synthReport struct {
	Version     int    `json:"version"`
	Cuzk        string `json:"cuzk"`
	Circuit     string `json:"circuit"`
	SectorSize  uint64 `json:"sectorSize"`
	Constraints int    `json:"constraints"`
	Partitions  int    `json:"partitions"`
	Threads     int    `json:"threads"`
	// Full says that a, b and c were written out.
	Full bool `json:"full"`
	// Checked is the number of constraints that were found to hold.
	Checked int64 `json:"checked,omitempty"`
	// Fabricate and Load are making up the input, and reading or recording the constraint system; once.
	Fabricate float64 `json:"fabricate"`
	Load      float64 `json:"load"`
	// PeakBytes is the most memory that the process had resident during the runs; the others are parts of it.
	PeakBytes       int64 `json:"peakBytes"`
	StructureBytes  int64 `json:"structureBytes"`
	WitnessBytes    int64 `json:"witnessBytes"`
	EvaluationBytes int64 `json:"evaluationBytes"`
	// Warmup comes first and is in none of the statistics.
	Warmup       []synthMeasurement `json:"warmup,omitempty"`
	Measurements []synthMeasurement `json:"measurements"`
	Witness      synthStatistics    `json:"witness"`
	Evaluate     synthStatistics    `json:"evaluate"`
	Compared     *synthComparison   `json:"compared,omitempty"`
}

// synthMeasurement is one partition of one run.
type synthMeasurement struct {
	Partition int        `json:"partition"`
	Witness   synthTimes `json:"witness"`
	Evaluate  synthTimes `json:"evaluate"`
}

// synthTimes are the wall time and the time of all cores together.
type synthTimes struct {
	Wall     float64      `json:"wall"`
	Cores    float64      `json:"cores"`
	Counters *perf.Counts `json:"counters,omitempty"`
}

type synthStatistics struct {
	Wall  statistic `json:"wall"`
	Cores statistic `json:"cores"`
}

// synthRow is one quantity in all measurements.
type synthRow struct {
	name   string
	values []float64
}

// rows are the quantities that are summed up and compared.
func (r *synthReport) rows() []synthRow {
	rows := []synthRow{{name: "witness wall"}, {name: "witness cores"}, {name: "evaluate wall"}, {name: "evaluate cores"}}
	for _, m := range r.Measurements {
		for i, v := range []float64{m.Witness.Wall, m.Witness.Cores, m.Evaluate.Wall, m.Evaluate.Cores} {
			rows[i].values = append(rows[i].values, v)
		}
	}
	return rows
}

func (r *synthReport) sum() {
	rows := r.rows()
	r.Witness = synthStatistics{statisticOf(rows[0].values), statisticOf(rows[1].values)}
	r.Evaluate = synthStatistics{statisticOf(rows[2].values), statisticOf(rows[3].values)}
}

// synthComparison is the difference from an earlier report.
type synthComparison struct {
	File string `json:"file"`
	// Differs are further differences between the two, in words.
	Differs []string          `json:"differs,omitempty"`
	Rows    []synthDifference `json:"rows"`
}

// synthDifference is the difference of two means, now less then, with the interval that holds it with a confidence of
// 95 %. Clear says that the interval leaves out zero.
type synthDifference struct {
	Name       string  `json:"name"`
	Then       float64 `json:"then"`
	Now        float64 `json:"now"`
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Clear      bool    `json:"clear"`
}

// readSynthBaseline reads the report of an earlier bench.
func readSynthBaseline(path string) (*synthReport, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.New(failure.Usage, "--compare: %w", err)
	}
	var r synthReport
	if err := json.Unmarshal(data, &r); err != nil || r.Version != synthVersion || len(r.Measurements) == 0 {
		return nil, failure.New(failure.Usage, "is not a report of cuzk bench synth").In(path).WithFix("write one with: cuzk bench synth --output json … > FILE")
	}
	return &r, nil
}

func (r *synthReport) compare(then *synthReport, file string) {
	c := &synthComparison{File: file, Differs: differing([]fact{
		{"number of threads", then.Threads, r.Threads}, {"number of partitions", then.Partitions, r.Partitions},
	})}
	old := then.rows()
	for i, row := range r.rows() {
		d := synthDifference{Name: row.name, Then: mean(old[i].values), Now: mean(row.values)}
		interval, ok := welch.Compare(old[i].values, row.values)
		if ok {
			d.Difference, d.Low, d.High, d.Clear = interval.Difference, interval.Low, interval.High, interval.Clear()
			c.Rows = append(c.Rows, d)
		}
	}
	r.Compared = c
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// text is the report for people.
func (r *synthReport) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s sectors, %d constraints a partition, %s a run, %d threads\n", r.Circuit, filecoin.SectorSize(r.SectorSize), r.Constraints,
		counted(r.Partitions, "partition"), r.Threads)
	fmt.Fprintf(&b, "input fabricated in %.0f ms, constraints loaded in %.0f ms\n", r.Fabricate, r.Load)
	if r.Checked > 0 {
		fmt.Fprintf(&b, "checked: all %d constraints hold\n", r.Checked)
	}
	fmt.Fprintf(&b, "peak memory %s: constraints %s, witness %s, evaluations %s\n\n", formatBytes(r.PeakBytes), formatBytes(r.StructureBytes),
		formatBytes(r.WitnessBytes), formatBytes(r.EvaluationBytes))
	fmt.Fprintf(&b, "%-16s %12s %12s %12s   (%s)\n", "milliseconds", "median", "min", "max", counted(len(r.Measurements), "measurement"))
	for _, row := range r.rows() {
		s := statisticOf(row.values)
		fmt.Fprintf(&b, "%-16s %12.1f %12.1f %12.1f\n", row.name, s.Median, s.Min, s.Max)
	}
	r.writeCounters(&b)
	r.writeComparison(&b)
	return b.String()
}

// writeCounters shows the counters of the last measurement.
func (r *synthReport) writeCounters(b *strings.Builder) {
	last := r.Measurements[len(r.Measurements)-1]
	for _, phase := range []struct {
		name string
		c    *perf.Counts
	}{{"witness", last.Witness.Counters}, {"evaluate", last.Evaluate.Counters}} {
		if c := phase.c; c != nil {
			fmt.Fprintf(b, "%-16s %d instructions, %d cycles (%.2f a cycle), %d cache misses of %d lookups\n",
				phase.name, c.Instructions, c.Cycles, c.PerCycle(), c.CacheMisses, c.CacheLookups)
		}
	}
}

func (r *synthReport) writeComparison(b *strings.Builder) {
	c := r.Compared
	if c == nil {
		return
	}
	fmt.Fprintf(b, "\n%-16s %12s %12s %12s   95 %% interval\n", "against "+c.File, "then", "now", "difference")
	writeDiffers(b, c.Differs)
	for _, d := range c.Rows {
		note := ""
		if !d.Clear {
			note = "  (may be chance)"
		}
		fmt.Fprintf(b, "%-16s %12.1f %12.1f %+12.1f   %+.1f to %+.1f%s\n", d.Name, d.Then, d.Now, d.Difference, d.Low, d.High, note)
	}
	if len(c.Rows) == 0 {
		b.WriteString("too few measurements for an interval: at least two each\n")
	}
}
