package proofjob

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// jobsByState counts the jobs in the cache when it is asked, so that no count can drift from what is there. Managers that
// stand by have the same cache: only the leader counts, so that a sum over managers counts each job once.
var jobsByState = &jobCounter{desc: prometheus.NewDesc("cuzk_proofjobs", "ProofJobs that are there now, by state.", []string{"state"}, nil)}

func init() { metrics.Registry.MustRegister(jobsByState) }

type jobCounter struct {
	desc   *prometheus.Desc
	reader atomic.Pointer[client.Reader]
}

// of counts the jobs that a reader knows, for as long as it runs; a manager runs it while it leads.
func (c *jobCounter) of(reader client.Reader) manager.RunnableFunc {
	return func(ctx context.Context) error {
		c.reader.Store(&reader)
		<-ctx.Done()
		c.reader.CompareAndSwap(&reader, nil)
		return nil
	}
}

func (c *jobCounter) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

func (c *jobCounter) Collect(ch chan<- prometheus.Metric) {
	reader := c.reader.Load()
	if reader == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var jobs api.ProofJobList
	if err := (*reader).List(ctx, &jobs, client.UnsafeDisableDeepCopy); err != nil {
		return // not the time for it: the cache is filling, or the manager stops
	}
	count := map[api.ProofJobState]int{
		api.ProofJobPending: 0, api.ProofJobSuspended: 0, api.ProofJobRunning: 0, api.ProofJobSucceeded: 0, api.ProofJobFailed: 0,
	}
	for i := range jobs.Items {
		state := jobs.Items[i].Status.State
		if state == "" {
			state = api.ProofJobPending
		}
		if _, known := count[state]; known {
			count[state]++
		}
	}
	for state, n := range count {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n), string(state))
	}
}
