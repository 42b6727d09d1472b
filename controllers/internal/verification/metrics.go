package verification

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	verdicts = newVerdictCounter()
	seconds  = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "cuzk_proof_verification_seconds",
		Help:    "Time that the check of one proof took.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	})
	pending = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cuzk_proof_verifications_pending",
		Help: "Proofs that wait to be checked or are being checked.",
	})
	keyBytes = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cuzk_verifying_key_cache_bytes",
		Help: "Estimated memory of the parsed verifying keys in the cache.",
	})
)

func init() { metrics.Registry.MustRegister(verdicts, seconds, pending, keyBytes) }

// newVerdictCounter counts every result from 0 on: one that appeared with its first proof would be no increase, and the
// alert on refused proofs would miss it.
func newVerdictCounter() *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cuzk_proof_verifications_total",
		Help: "Proofs checked by the operator, by result: valid, invalid or key_unavailable.",
	}, []string{"result"})
	for _, v := range []Verdict{{Valid: true}, {}, {KeyUnavailable: true}} {
		c.WithLabelValues(v.label())
	}
	return c
}
