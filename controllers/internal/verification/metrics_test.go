package verification

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// The alert on refused proofs asks for an increase, which the first one is only if it was 0 before.
func TestResultsAreCountedFromZero(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newVerdictCounter())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			got[m.Label[0].GetValue()] = m.Counter.GetValue()
		}
	}
	if diff := cmp.Diff(map[string]float64{"valid": 0, "invalid": 0, "key_unavailable": 0}, got); diff != "" {
		t.Errorf("before the first check (-want +got):\n%s", diff)
	}
}
