package proofjob

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Prometheus sees no increase in a counter that begins with its first event.
func TestPartitionsAreCountedFromZero(t *testing.T) {
	want := `
# HELP cuzk_partitions_total Partitions of finished ProofJobs, by state (Succeeded, Failed).
# TYPE cuzk_partitions_total counter
cuzk_partitions_total{state="Failed"} 0
cuzk_partitions_total{state="Succeeded"} 0
`
	if err := testutil.CollectAndCompare(newPartitionCounter(), strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
