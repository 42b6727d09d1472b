package app

import (
	"slices"
	"time"

	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// runTimes are the times of one run in milliseconds, by stage and by kernel of the gpu stage.
type runTimes struct {
	Kind    pipeline.Kind            `json:"kind"`
	Total   float64                  `json:"total"`
	Stages  map[stage.Name]float64   `json:"stages"`
	Kernels map[stage.Kernel]float64 `json:"kernels,omitempty"`
}

// stageOrder and kernelOrder are the order of tables.
var (
	stageOrder  = []stage.Name{stage.JIT, stage.Queue, stage.SRS, stage.Synth, stage.GPU, stage.Verify}
	kernelOrder = []stage.Kernel{stage.Upload, stage.Evaluate, stage.PrepMSM, stage.NTTMSMH, stage.BatchAdd, stage.BG2MSM, stage.TailMSM, stage.GPUTotal}
)

func timesOf(r pipeline.Run) runTimes {
	t := runTimes{Kind: r.Kind, Total: milliseconds(r.Total), Stages: map[stage.Name]float64{}, Kernels: map[stage.Kernel]float64{}}
	for s, d := range r.Stages {
		t.Stages[s] = milliseconds(d)
	}
	for k, d := range r.Kernels {
		t.Kernels[k] = milliseconds(d)
	}
	return t
}

// milliseconds keeps microseconds.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// statistic sums up one stage over the runs, in milliseconds.
type statistic struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func statisticOf(values []float64) statistic {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return statistic{}
	}
	m := v[len(v)/2]
	if len(v)%2 == 0 {
		m = (m + v[len(v)/2-1]) / 2
	}
	return statistic{Median: m, Min: v[0], Max: v[len(v)-1]}
}
