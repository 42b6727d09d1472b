package proofjob

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/controllers/internal/text"
)

// timings sums up the times that the reports of the partitions with proofs tell: medians over partitions.
func (p *planner) timings() {
	s := p.status
	s.Timings, s.Runs = nil, nil
	s.Summary = &api.ProofJobSummary{}

	var all []*api.Timings
	var runs [][]*api.Timings
	var types []api.RunType
	cold, warm := []int64{}, []int64{}
	nodes := map[string]bool{}
	node := ""
	for i := range p.partitions {
		x := &p.partitions[i]
		if x.is.State != api.PartitionSucceeded || x.report == nil {
			continue
		}
		r := x.report
		if r.Node != "" {
			nodes[r.Node] = true
			node = r.Node
		}
		if r.Timings != nil {
			all = append(all, r.Timings)
		}
		for j := range r.Runs {
			run := &r.Runs[j]
			if j == len(runs) {
				runs, types = append(runs, nil), append(types, run.Type)
			}
			runs[j] = append(runs[j], &run.Timings)
			if run.TotalMilliseconds == nil {
				continue
			}
			switch run.Type {
			case api.RunCold:
				cold = append(cold, *run.TotalMilliseconds)
			case api.RunWarm:
				warm = append(warm, *run.TotalMilliseconds)
			}
		}
		if len(r.Runs) == 0 && r.Timings != nil && r.Timings.TotalMilliseconds != nil {
			cold = append(cold, *r.Timings.TotalMilliseconds) // a job of one run has only that
		}
	}
	if len(nodes) > 1 {
		node = fmt.Sprintf("%d nodes", len(nodes))
	}
	s.Summary.Node = text.Cut(node, 63)
	s.Timings = medians(all)
	for j := range runs {
		if m := medians(runs[j]); m != nil {
			s.Runs = append(s.Runs, api.RunTimings{Type: types[j], Timings: *m})
		}
	}
	if t := s.Timings; t != nil {
		s.Summary.Synth = duration(t.SynthMilliseconds)
		s.Summary.GPU = duration(t.GPUMilliseconds)
		s.Summary.Total = duration(t.TotalMilliseconds)
	}
	s.Summary.Cold, s.Summary.Warm = duration(median(cold)), duration(median(warm))
}

// timingFields are the members of Timings, for what is done to each of them.
var timingFields = []func(*api.Timings) **int64{
	func(t *api.Timings) **int64 { return &t.QueueMilliseconds },
	func(t *api.Timings) **int64 { return &t.SRSMilliseconds },
	func(t *api.Timings) **int64 { return &t.SynthMilliseconds },
	func(t *api.Timings) **int64 { return &t.GPUMilliseconds },
	func(t *api.Timings) **int64 { return &t.VerifyMilliseconds },
	func(t *api.Timings) **int64 { return &t.TotalMilliseconds },
	func(t *api.Timings) **int64 { return &t.PrepMSMMilliseconds },
	func(t *api.Timings) **int64 { return &t.NTTMSMHMilliseconds },
	func(t *api.Timings) **int64 { return &t.BatchAddMilliseconds },
	func(t *api.Timings) **int64 { return &t.BG2MSMMilliseconds },
	func(t *api.Timings) **int64 { return &t.TailMSMMilliseconds },
	func(t *api.Timings) **int64 { return &t.GPUTotalMilliseconds },
}

// medians takes the median of each member over those that have it, nil if none has any.
func medians(all []*api.Timings) *api.Timings {
	if len(all) == 0 {
		return nil
	}
	var m api.Timings
	found := false
	for _, field := range timingFields {
		var values []int64
		for _, t := range all {
			if v := *field(t); v != nil {
				values = append(values, *v)
			}
		}
		*field(&m) = median(values)
		found = found || len(values) > 0
	}
	if !found {
		return nil
	}
	return &m
}

// median is the middle value, the lower one of two; nil if there is none.
func median(values []int64) *int64 {
	if len(values) == 0 {
		return nil
	}
	values = slices.Clone(values)
	slices.Sort(values)
	return ptr.To(values[(len(values)-1)/2])
}

// duration writes milliseconds as people read them: 850ms, 1.2s, 3m20s.
func duration(ms *int64) string {
	if ms == nil {
		return ""
	}
	switch d := time.Duration(*ms) * time.Millisecond; {
	case d < time.Second:
		return strconv.FormatInt(*ms, 10) + "ms"
	case d < 100*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	default:
		return d.Round(time.Second).String()
	}
}
