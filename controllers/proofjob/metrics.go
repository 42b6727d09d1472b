package proofjob

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	api "github.com/cuzk-dev/cuzk/api/v1alpha1"
)

// Labels take their values from closed sets: states, reasons, stages and backends. No series names an object, so that
// none has to go with one.
var (
	finishedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cuzk_proofjobs_finished_total",
		Help: "ProofJobs that ended, by state (Succeeded, Failed) and reason.",
	}, []string{"state", "reason"})
	durationSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "cuzk_proofjob_duration_seconds",
		Help:    "Time from a ProofJob's creation to its end, by state.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 16),
	}, []string{"state"})
	stageSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "cuzk_partition_stage_seconds",
		Help:    "Time of a proved partition in a stage, by stage (queue, srs, synth, gpu, verify, total) and backend.",
		Buckets: prometheus.ExponentialBuckets(0.01, 2.5, 14),
	}, []string{"stage", "backend"})
	partitionsTotal = newPartitionCounter()
	statusWrites    = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "cuzk_proofjob_status_writes_total",
		Help: "Status writes of the operator.",
	})
	lostPods = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "cuzk_lost_pods_total",
		Help: "Pods given up because their node was not ready for too long.",
	})
	withdrawnDevices = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "cuzk_withdrawn_devices_total",
		Help: "GPUs that pods gave no more work because they failed or computed wrong proofs.",
	})
)

func init() {
	metrics.Registry.MustRegister(finishedTotal, durationSeconds, stageSeconds, partitionsTotal, statusWrites, lostPods, withdrawnDevices)
}

// measure counts a job whose end was just written.
func measure(job *api.ProofJob, status *api.ProofJobStatus) {
	state := string(status.State)
	finishedTotal.WithLabelValues(state, status.Summary.Reason).Inc()
	if status.CompletionTime != nil {
		durationSeconds.WithLabelValues(state).Observe(status.CompletionTime.Sub(job.CreationTimestamp.Time).Seconds())
	}
	for i := range status.Partitions {
		partitionsTotal.WithLabelValues(string(status.Partitions[i].State)).Inc()
		if status.Partitions[i].State == api.PartitionSucceeded && i < len(job.Status.Partitions) {
			measureStages(job.Status.Partitions[i].Report)
		}
	}
}

func measureStages(r *api.PartitionReport) {
	if r == nil || r.Timings == nil {
		return
	}
	backend := string(r.Backend)
	if backend == "" {
		backend = "unknown"
	}
	for stage, ms := range map[string]*int64{
		"queue": r.Timings.QueueMilliseconds, "srs": r.Timings.SRSMilliseconds, "synth": r.Timings.SynthMilliseconds,
		"gpu": r.Timings.GPUMilliseconds, "verify": r.Timings.VerifyMilliseconds, "total": r.Timings.TotalMilliseconds,
	} {
		if ms != nil {
			stageSeconds.WithLabelValues(stage, backend).Observe(float64(*ms) / 1000)
		}
	}
}

// newPartitionCounter counts both states from 0 on: one that appeared with its first partition would be no increase.
func newPartitionCounter() *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cuzk_partitions_total",
		Help: "Partitions of finished ProofJobs, by state (Succeeded, Failed).",
	}, []string{"state"})
	for _, state := range []api.PartitionState{api.PartitionSucceeded, api.PartitionFailed} {
		c.WithLabelValues(string(state))
	}
	return c
}
