package proofjob

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// Prometheus sees no increase in a counter that begins with its first event.
func TestPartitionsAreCountedFromZero(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newPartitionCounter())
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
	if diff := cmp.Diff(map[string]float64{"Succeeded": 0, "Failed": 0}, got); diff != "" {
		t.Errorf("before the first job (-want +got):\n%s", diff)
	}
}
