package verification

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	verdicts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cuzk_proof_verifications_total",
		Help: "Proofs checked by the operator, by result: valid, invalid or key_unavailable.",
	}, []string{"result"})
	seconds = prometheus.NewHistogram(prometheus.HistogramOpts{
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
